/* The contract of src/runner/runner.h, over the runners that live through the agents of nodes, here
 * played by the test (docs/protocol.md, "Agent and daemon"); over the fake: runner_fake.c. */
#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/runner.h"

/* The live runners for which this build has everything. */
static const char *live[PLEAT_RUNNER_KIND_COUNT];
static size_t live_count;

static void find_live(void)
{
    for (size_t i = 0; i < PLEAT_RUNNER_KIND_COUNT; i++) {
#ifndef HAS_FOLD
        if (pleat_runner_kinds[i].starts & PLEAT_STARTS_FOLDED)
            continue;
#endif
        live[live_count++] = pleat_runner_kinds[i].name;
    }
}

static bool starts(const char *runner, enum pleat_runner_start how)
{
    return pleat_runner_kind_find(runner)->starts & how;
}

struct played_link {
    struct pleat_agent_link link;
    uint32_t site, node;
    char method[32];
    json_t *params;
    int count, result;
};

static int played_send(void *arg, uint32_t site, uint32_t node, const char *method, json_t *params,
                       struct pleat_error *err)
{
    struct played_link *played = arg;
    json_decref(played->params);
    played->params = params;
    played->site = site;
    played->node = node;
    snprintf(played->method, sizeof(played->method), "%s", method);
    played->count++;
    return played->result ? pleat_error_set(err, played->result, "no way to node %u", node) : 0;
}

struct bed {
    struct played_host host;
    struct played_link agent;
    struct pleat_runner *runner;
};

static void open_bed(struct bed *bed, const char *name)
{
    memset(bed, 0, sizeof(*bed));
    played_host_init(&bed->host);
    bed->agent.link = (struct pleat_agent_link){&bed->agent, played_send};
    assert_int_equal(pleat_runner_open(name, &bed->host.host, &bed->agent.link, &bed->runner, NULL),
                     0);
    assert_string_equal(bed->runner->ops->name, name);
}

static void close_bed(struct bed *bed)
{
    const struct pleat_runner_ops *ops = bed->runner->ops;
    ops->close(bed->runner);
    ops->close(NULL);
    json_decref(bed->agent.params);
    played_host_finish(&bed->host);
}

static char *const argv[] = {"/bin/prog", "x y", NULL};
static char *const env[] = {"A=b", "PATH=/usr/bin:/bin", NULL};

static struct pleat_run_order run_order(struct pleat_spec *spec)
{
    *spec = (struct pleat_spec){.name = "prog",
                                .argv = (char **)argv,
                                .env = (char **)env,
                                .cwd = "/tmp",
                                .runner = "plain",
                                .mpi = "openmpi"};
    struct pleat_run_order order = {.run = UINT64_C(1) << 40,
                                    .component = 3,
                                    .job = 17,
                                    .site = 1,
                                    .node = 2,
                                    .processes = 4,
                                    .most = 9,
                                    .spec = spec,
                                    .stdout_path = "/o",
                                    .stderr_path = "/e"};
    return order;
}

/* The text of docs/protocol.md about a method that the daemon calls: its row and, where there is
 * one, the section "Members of" it, whose table is longer than a row. Free it. */
static char *protocol_text(const char *method)
{
    FILE *file = fopen(SOURCE_DIR "/docs/protocol.md", "r");
    assert_non_null(file);
    char row[48], heading[64], *line = NULL, *text = NULL;
    size_t line_size = 0, text_size = 0;
    snprintf(row, sizeof(row), "| `%s` |", method);
    snprintf(heading, sizeof(heading), "### Members of %s\n", method);
    FILE *found = open_memstream(&text, &text_size);
    assert_non_null(found);
    bool inside = false;
    while (getline(&line, &line_size, file) > 0) {
        if (line[0] == '#')
            inside = !strcmp(line, heading);
        if (inside || !strncmp(line, row, strlen(row)))
            fputs(line, found);
    }
    free(line);
    fclose(file);
    fclose(found);
    if (text_size == 0)
        fail_msg("docs/protocol.md has no method '%s'", method);
    return text;
}

/* Checks a sent request against the protocol; `members` must be in it. */
static void check_sent(const struct bed *bed, const char *method, const char *const *members)
{
    assert_int_equal(bed->agent.count, 1);
    assert_string_equal(bed->agent.method, method);
    assert_int_equal(bed->agent.site, 1);
    assert_int_equal(bed->agent.node, 2);
    assert_int_equal(bed->host.events.count, 0); /* nothing from inside the call */
    for (; *members; members++)
        if (!json_object_get(bed->agent.params, *members))
            fail_msg("%s: no member '%s'", method, *members);
    char *text = protocol_text(method);
    const char *name;
    json_t *value;
    json_object_foreach(bed->agent.params, name, value)
    {
        char quoted[48];
        snprintf(quoted, sizeof(quoted), "`%s`", name);
        if (!strstr(text, quoted) && strcmp(method, "withdraw")) /* unknown ones are ignored */
            fail_msg("docs/protocol.md does not know '%s' of '%s'", name, method);
    }
    free(text);
}

static json_int_t number(const struct bed *bed, const char *name)
{
    const json_t *value = json_object_get(bed->agent.params, name);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static bool has_string(const json_t *list, const char *text)
{
    size_t index;
    json_t *item;
    json_array_foreach(list, index, item) if (!strcmp(json_string_value(item), text)) return true;
    return false;
}

static void test_starting(void **state)
{
    (void)state;
    static const char *const members[] = {"run",    "job",    "argv",          "env", "cwd",
                                          "stdout", "stderr", "mailbox_ranks", NULL};
    for (size_t i = 0; i < live_count; i++) {
        struct bed bed;
        struct pleat_spec spec;
        struct pleat_run_order order = run_order(&spec);
        open_bed(&bed, live[i]);
        struct pleat_error err = {0};
        if (bed.runner->ops->start(bed.runner, &order, &err))
            fail_msg("%s: %s", live[i], err.text);
        check_sent(&bed, "start", members);
        assert_int_equal(number(&bed, "run"), INT64_C(1) << 40);
        assert_string_equal(json_string_value(json_object_get(bed.agent.params, "job")), "17");
        assert_string_equal(json_string_value(json_object_get(bed.agent.params, "cwd")), "/tmp");
        const json_t *words = json_object_get(bed.agent.params, "argv");
        const json_t *variables = json_object_get(bed.agent.params, "env");
        size_t count = json_array_size(words); /* a launcher may stand before the program */
        assert_string_equal(json_string_value(json_array_get(words, count - 2)), "/bin/prog");
        assert_string_equal(json_string_value(json_array_get(words, count - 1)), "x y");
        assert_int_equal(count == 2, !starts(live[i], PLEAT_STARTS_LAUNCHED));
        assert_true(has_string(variables, "A=b"));
        assert_true(has_string(variables, "PLEAT_JOB=17"));
        assert_true(has_string(variables, "PLEAT_PROCESSORS=4"));
        assert_int_equal(number(&bed, "mailbox_ranks"),
                         starts(live[i], PLEAT_STARTS_MAILBOX) ? 9 : 0);
        close_bed(&bed);
    }
}

/* On this host it is named, on another one the agent makes it. */
static void test_a_terminal(void **state)
{
    (void)state;
    for (int far = 0; far < 2; far++) {
        static const char *const there[] = {"window", "output_sent", "stdin_sent", NULL};
        static const char *const here[] = {"terminal", NULL};
        struct bed bed;
        struct pleat_spec spec;
        struct pleat_run_order order = run_order(&spec);
        open_bed(&bed, "plain");
        spec.terminal = (char *)(uintptr_t) "/dev/pts/7";
        order.terminal_far = order.stdin_sent = far;
        order.rows = 24;
        order.columns = 80;
        assert_int_equal(bed.runner->ops->start(bed.runner, &order, NULL), 0);
        check_sent(&bed, "start", far ? there : here);
        const json_t *window = json_object_get(bed.agent.params, "window");
        assert_int_equal(json_object_get(bed.agent.params, "terminal") == NULL, far);
        assert_int_equal(window != NULL, far);
        if (far) {
            assert_int_equal(json_integer_value(json_object_get(window, "rows")), 24);
            assert_int_equal(json_integer_value(json_object_get(window, "columns")), 80);
            assert_true(json_is_false(json_object_get(window, "rank")));
        }
        close_bed(&bed);
    }
}

#ifdef HAS_FOLD
static void check_folded_words(const struct bed *bed)
{
    const json_t *words = json_object_get(bed->agent.params, "argv");
    size_t count = json_array_size(words);
    bool preloads = false;
    for (size_t i = 0; i + 1 < count; i++) {
        const char *word = json_string_value(json_array_get(words, i));
        preloads = preloads || (!strncmp(word, "LD_PRELOAD=/", 12) &&
                                strstr(word, "/libpleat-fold-openmpi.so"));
    }
    assert_true(preloads);
    assert_string_equal(json_string_value(json_array_get(words, count - 3)), "8");
    assert_string_equal(json_string_value(json_array_get(words, count - 2)), "/bin/cg.B.8");
    assert_string_equal(json_string_value(json_array_get(words, count - 1)), "--ranks=8");
}

/* Utrera 2010, 4.4.3, but for an MPI whose processes yield. */
static void test_the_first_queue_of_a_folded_one(void **state)
{
    static const char *const cases[][2] = {{"openmpi", "local"}, {"mpich", "global"}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct bed bed;
        struct pleat_spec spec;
        struct pleat_run_order order = run_order(&spec);
        open_bed(&bed, "folded");
        spec.mpi = (char *)(uintptr_t)cases[i][0];
        spec.folds = true;
        spec.fold = (struct pleat_spec_fold){.least = 2, .most = 8};
        order.processes = 8;
        order.processors = 2;
        assert_int_equal(bed.runner->ops->start(bed.runner, &order, NULL), 0);
        const json_t *fold = json_object_get(bed.agent.params, "fold");
        assert_string_equal(json_string_value(json_object_get(fold, "begin")), cases[i][1]);
        close_bed(&bed);
    }
}

/* Its processes are not its processors. */
static void test_a_folded_one(void **state)
{
    (void)state;
    static char *const words[] = {"/bin/cg.B.N", "--ranks=N", NULL};
    static const char *const starts[] = {"fold", "slots", NULL};
    static const char *const resizes[] = {"target", NULL};
    static const struct pleat_slot_range slots[] = {{2, 2}};
    struct bed bed;
    struct pleat_spec spec;
    struct pleat_run_order order = run_order(&spec);
    open_bed(&bed, "folded");
    spec.argv = (char **)words;
    spec.folds = true;
    spec.fold = (struct pleat_spec_fold){
        .least = 2, .most = 8, .settings = "wait=spin", .mapping = "balance", .count_word = "N"};
    order.processes = 8;
    order.processors = 2;
    order.slots = slots;
    order.slot_ranges = 1;
    assert_int_equal(bed.runner->ops->start(bed.runner, &order, NULL), 0);
    check_sent(&bed, "start", starts);
    check_folded_words(&bed);
    const json_t *fold = json_object_get(bed.agent.params, "fold");
    assert_int_equal(json_integer_value(json_object_get(fold, "processes")), 8);
    assert_string_equal(json_string_value(json_object_get(fold, "settings")), "wait=spin");
    assert_string_equal(json_string_value(json_object_get(fold, "mapping")), "balance");
    const json_t *variables = json_object_get(bed.agent.params, "env");
    assert_true(has_string(variables, "PLEAT_PROCESSORS=2"));
    assert_true(has_string(variables, "PLEAT_PROCESSES=8"));
    struct pleat_change_order change = {.run = 5,
                                        .resize = 6,
                                        .component = 3,
                                        .site = 1,
                                        .node = 2,
                                        .from = 2,
                                        .processes = 8,
                                        .processors = 1,
                                        .start = &order};
    bed.agent.count = 0;
    assert_int_equal(bed.runner->ops->resize(bed.runner, &change, NULL), 0);
    check_sent(&bed, "resize", resizes);
    assert_int_equal(number(&bed, "target"), 1);
    close_bed(&bed);
}
#endif

static void test_a_spec_that_cannot_be_started(void **state)
{
    (void)state;
    struct bed bed;
    struct pleat_spec spec;
    struct pleat_run_order order = run_order(&spec);
    spec.mpi = "lam";
    open_bed(&bed, "mpi");
    struct pleat_error err = {0};
    assert_true(bed.runner->ops->start(bed.runner, &order, &err) < 0);
    assert_non_null(strstr(err.text, "lam"));
    assert_int_equal(bed.agent.count, 0);
    assert_int_equal(bed.host.events.count, 0);
    close_bed(&bed);
}

static void test_changing_and_killing(void **state)
{
    (void)state;
    static const char *const asks[] = {"run", "resize", "offered", "mandatory", NULL};
    static const char *const resizes[] = {"run", "resize", "target", "mandatory", NULL};
    static const char *const withdraws[] = {"run", "resize", NULL};
    static const char *const kills[] = {"run", "grace_s", NULL};
    const struct pleat_change_order change = {.run = 5,
                                              .resize = 6,
                                              .component = 3,
                                              .site = 1,
                                              .node = 2,
                                              .from = 4,
                                              .processes = 7,
                                              .mandatory = true};
    for (size_t i = 0; i < live_count; i++) {
        struct bed bed;
        struct pleat_spec spec;
        struct pleat_run_order order = run_order(&spec);
        open_bed(&bed, live[i]);
        assert_int_equal(bed.runner->ops->ask(bed.runner, &change, NULL), 0);
        check_sent(&bed, "ask", asks);
        assert_int_equal(number(&bed, "offered"), 7);
        assert_true(json_is_true(json_object_get(bed.agent.params, "mandatory")));
        bed.agent.count = 0;
        assert_int_equal(bed.runner->ops->resize(bed.runner, &change, NULL), 0);
        check_sent(&bed, "resize", resizes);
        assert_int_equal(number(&bed, "run"), 5);
        assert_int_equal(number(&bed, "resize"), 6);
        assert_int_equal(number(&bed, "target"), 7);
        bed.agent.count = 0;
        assert_int_equal(bed.runner->ops->withdraw(bed.runner, &change, NULL), 0);
        check_sent(&bed, "withdraw", withdraws);
        bed.agent.count = 0;
        assert_int_equal(bed.runner->ops->kill(bed.runner, &order, NULL), 0);
        check_sent(&bed, "kill", kills);
        close_bed(&bed);
    }
}

static void check_words(const json_t *how, const char *size)
{
    const json_t *words = json_object_get(how, "argv");
    size_t count = json_array_size(words);
    assert_string_equal(json_string_value(json_array_get(words, count - 1)), "x y");
    assert_true(has_string(words, size));
    assert_true(has_string(json_object_get(how, "env"), "PLEAT_JOB=17"));
    assert_true(has_string(json_object_get(how, "env"), "A=b"));
}

static void test_ways_to_resize(void **state)
{
    (void)state;
    static const char *const resizes[] = {"run", "resize", "target", "mandatory", NULL};
    static const struct {
        const char *mpi;
        enum pleat_resize_way way;
        bool relaunched;
    } cases[] = {{"openmpi", PLEAT_WAY_AUTO, false},    {"mpich", PLEAT_WAY_AUTO, true},
                 {"none", PLEAT_WAY_AUTO, false},       {"openmpi", PLEAT_WAY_MERGE, false},
                 {"openmpi", PLEAT_WAY_RELAUNCH, true}, {"mpich", PLEAT_WAY_RELAUNCH, true},
                 {"none", PLEAT_WAY_RELAUNCH, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bed bed;
        struct pleat_spec spec;
        struct pleat_run_order start = run_order(&spec);
        spec.mpi = (char *)(uintptr_t)cases[i].mpi;
        spec.resize = cases[i].way;
        start.processes = 7;
        struct pleat_change_order change = {.run = 5,
                                            .resize = 6,
                                            .site = 1,
                                            .node = 2,
                                            .from = 4,
                                            .processes = 7,
                                            .start = &start};
        open_bed(&bed, "malleable");
        assert_int_equal(bed.runner->ops->resize(bed.runner, &change, NULL), 0);
        check_sent(&bed, "resize", resizes);
        const json_t *how = json_object_get(bed.agent.params, "relaunch");
        assert_int_equal(how != NULL, cases[i].relaunched);
        if (how && strcmp(cases[i].mpi, "none") != 0)
            check_words(how, "7");
        close_bed(&bed);
    }
}

static void check_slots(struct bed *bed, const char *method, const char *const *members)
{
    check_sent(bed, method, members);
    const json_t *slots = json_object_get(bed->agent.params, "slots");
    char *text = json_dumps(slots, JSON_COMPACT);
    assert_string_equal(text, "[{\"first\":6,\"count\":2},{\"first\":0,\"count\":1}]");
    free(text);
    bed->agent.count = 0;
}

static void test_slots_are_told(void **state)
{
    (void)state;
    static const char *const members[] = {"run", "slots", NULL};
    static const struct pleat_slot_range slots[] = {{6, 2}, {0, 1}};
    for (size_t i = 0; i < live_count; i++) {
        struct bed bed;
        struct pleat_spec spec;
        struct pleat_run_order start = run_order(&spec);
        start.processes = start.processors = 3;
        start.slots = slots;
        start.slot_ranges = 2;
        struct pleat_change_order change = {
            .run = 5, .resize = 6, .site = 1, .node = 2, .processes = 3, .start = &start};
        open_bed(&bed, live[i]);
        assert_int_equal(bed.runner->ops->start(bed.runner, &start, NULL), 0);
        check_slots(&bed, "start", members);
        assert_int_equal(bed.runner->ops->resize(bed.runner, &change, NULL), 0);
        check_slots(&bed, "resize", members);
        if (bed.runner->ops->relaunch) {
            assert_int_equal(bed.runner->ops->relaunch(bed.runner, &change, NULL), 0);
            check_slots(&bed, "relaunch", members);
        }
        start.slot_ranges = 0; /* it is not bound */
        assert_int_equal(bed.runner->ops->start(bed.runner, &start, NULL), 0);
        assert_null(json_object_get(bed.agent.params, "slots"));
        close_bed(&bed);
    }
}

static void test_relaunching(void **state)
{
    (void)state;
    static const char *const relaunches[] = {"run", "resize",  "processes", "argv",
                                             "env", "grace_s", NULL};
    for (size_t i = 0; i < live_count; i++) {
        struct bed bed;
        struct pleat_spec spec;
        struct pleat_run_order start = run_order(&spec);
        start.processes = 2;
        struct pleat_change_order change = {
            .run = 5, .resize = 6, .site = 1, .node = 2, .processes = 2, .start = &start};
        struct pleat_error err = {0};
        open_bed(&bed, live[i]);
        bool can = bed.runner->ops->capabilities & PLEAT_RUNNER_RELAUNCHES;
        assert_int_equal(bed.runner->ops->relaunch != NULL, can);
        if (can && bed.runner->ops->relaunch) {
            assert_int_equal(bed.runner->ops->relaunch(bed.runner, &change, NULL), 0);
            check_sent(&bed, "relaunch", relaunches);
            assert_int_equal(number(&bed, "run"), 5);
            assert_int_equal(number(&bed, "resize"), 6);
            assert_int_equal(number(&bed, "processes"), 2);
            check_words(bed.agent.params, "2");
            bed.agent.count = 0;
            spec.mpi = "lam";
            assert_true(bed.runner->ops->relaunch(bed.runner, &change, &err) < 0);
            assert_non_null(strstr(err.text, "lam"));
            assert_int_equal(bed.agent.count, 0);
        }
        close_bed(&bed);
    }
}

static void test_no_way_to_the_node(void **state)
{
    (void)state;
    for (size_t i = 0; i < live_count; i++) {
        struct bed bed;
        struct pleat_spec spec;
        struct pleat_run_order order = run_order(&spec);
        const struct pleat_change_order change = {.run = 5, .resize = 6, .node = 2};
        struct pleat_error err = {0};
        open_bed(&bed, live[i]);
        bed.agent.result = PLEAT_E_CLOSED;
        assert_int_equal(bed.runner->ops->start(bed.runner, &order, &err), PLEAT_E_CLOSED);
        assert_non_null(strstr(err.text, "node 2"));
        assert_int_equal(bed.runner->ops->resize(bed.runner, &change, &err), PLEAT_E_CLOSED);
        assert_int_equal(bed.host.events.count, 0);
        close_bed(&bed);
    }
}

static int notice(struct bed *bed, const char *method, const char *params, struct pleat_error *err)
{
    json_t *json = params ? json_loads(params, JSON_DECODE_ANY, NULL) : NULL;
    int rc = bed->runner->ops->notice(bed->runner, 3, method, json, err);
    json_decref(json);
    return rc;
}

static void test_notices_become_events(void **state)
{
    (void)state;
    static const struct {
        const char *method, *params;
        uint16_t kind;
        uint64_t id; /* run, resize */
        int32_t a, b;
    } cases[] = {
        {"started", "{\"run\":7,\"pid\":12}", PLEAT_EV_STARTED, 7, 0, 0},
        {"start_failed", "{\"run\":7,\"text\":\"no\",\"user_fault\":true}", PLEAT_EV_START_FAILED,
         7, PLEAT_REASON_START_USER, 0},
        {"start_failed", "{\"run\":7,\"user_fault\":false}", PLEAT_EV_START_FAILED, 7,
         PLEAT_REASON_START_SYSTEM, 0},
        {"exited", "{\"run\":7,\"code\":3,\"signal\":0,\"cpu_us\":9}", PLEAT_EV_EXITED, 7, 3, 0},
        {"exited", "{\"run\":7,\"code\":0,\"signal\":9}", PLEAT_EV_EXITED, 7, 0, 9},
        {"exited", "{\"run\":7,\"code\":0,\"signal\":9,\"broken\":true}", PLEAT_EV_EXITED, 7, 0, 9},
        {"answer", "{\"run\":7,\"resize\":8,\"accepted\":6}", PLEAT_EV_ANSWER, 8, 6, 6},
        {"answer", "{\"run\":7,\"resize\":8,\"accepted\":0}", PLEAT_EV_ANSWER, 8, 0, 0},
        {"applied", "{\"run\":7,\"resize\":8,\"processes\":6,\"wait_us\":1}", PLEAT_EV_APPLIED, 8,
         6, 6},
        {"vacated", "{\"run\":7,\"resize\":8,\"processes\":6}", PLEAT_EV_VACATED, 8, 0, 0},
        {"withdrawn", "{\"run\":7,\"resize\":8}", PLEAT_EV_WITHDRAWN, 8, 0, 0},
        {"resize_failed", "{\"run\":7,\"resize\":8,\"text\":\"no\"}", PLEAT_EV_RESIZE_FAILED, 8, 0,
         0},
        {"relaunched", "{\"run\":7,\"resize\":8,\"processes\":3}", PLEAT_EV_RELAUNCHED, 8, 3, 3},
        {"relaunched", "{\"run\":7,\"resize\":8,\"processes\":3,\"from_state\":true}",
         PLEAT_EV_RELAUNCHED, 8, 3, 3},
    };
    for (size_t r = 0; r < live_count; r++) {
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            struct bed bed;
            open_bed(&bed, live[r]);
            free(protocol_text(cases[i].method));
            assert_int_equal(notice(&bed, cases[i].method, cases[i].params, NULL), 0);
            assert_int_equal(bed.host.events.count, 1);
            const struct pleat_event *event = &bed.host.events.items[0];
            assert_int_equal(event->kind, cases[i].kind);
            assert_int_equal(event->component, 3);
            if (cases[i].kind == PLEAT_EV_START_FAILED) {
                assert_int_equal(event->u.exit.reason, cases[i].a);
                assert_int_equal(event->u.exit.run, cases[i].id);
            } else if (cases[i].kind == PLEAT_EV_STARTED || cases[i].kind == PLEAT_EV_EXITED) {
                assert_int_equal(event->u.exit.run, cases[i].id);
                assert_int_equal(event->u.exit.code, cases[i].a);
                assert_int_equal(event->u.exit.signal, cases[i].b);
                if (cases[i].kind == PLEAT_EV_EXITED)
                    assert_int_equal(event->u.exit.reason, strstr(cases[i].params, "true")
                                                               ? PLEAT_REASON_BROKEN
                                                               : PLEAT_REASON_EXIT);
            } else {
                assert_int_equal(event->flags,
                                 strstr(cases[i].params, "true") ? PLEAT_FROM_STATE : 0);
                assert_int_equal(event->u.change.resize, cases[i].id);
                assert_int_equal(event->u.change.processors, cases[i].a);
                assert_int_equal(event->u.change.processes, cases[i].b);
            }
            assert_int_equal(bed.agent.count, 0);
            close_bed(&bed);
        }
    }
}

static void test_nonsense_is_refused(void **state)
{
    (void)state;
    static const char *const methods[] = {"started",   "start_failed",  "exited",
                                          "answer",    "applied",       "vacated",
                                          "withdrawn", "resize_failed", "relaunched"};
    static const char *const params[] = {NULL,
                                         "{}",
                                         "[]",
                                         "7",
                                         "{\"run\":\"7\",\"resize\":\"8\"}",
                                         "{\"run\":-1,\"resize\":-1}",
                                         "{\"run\":1.5,\"resize\":1.5}",
                                         "{\"run\":null,\"resize\":null}"};
    static const char *const particular[][2] = {
        {"exited", "{\"run\":7,\"code\":\"0\"}"},
        {"exited", "{\"run\":7,\"code\":70000}"},
        {"exited", "{\"run\":7,\"signal\":-3}"},
        {"start_failed", "{\"run\":7,\"user_fault\":1}"},
        {"exited", "{\"run\":7,\"broken\":\"no\"}"},
        {"relaunched", "{\"resize\":8}"},
        {"relaunched", "{\"resize\":8,\"processes\":3,\"from_state\":1}"},
        {"answer", "{\"resize\":8}"},
        {"answer", "{\"resize\":8,\"accepted\":-1}"},
        {"answer", "{\"resize\":8,\"accepted\":16777217}"},
        {"applied", "{\"resize\":8,\"processes\":\"6\"}"},
        {"applied", "{\"resize\":8,\"processes\":99999999999999}"},
        {"", "{}"},
        {"Started", "{\"run\":7}"},
        {"resize", "{\"run\":7,\"resize\":8}"}};
    for (size_t r = 0; r < live_count; r++) {
        struct bed bed;
        struct pleat_error err;
        open_bed(&bed, live[r]);
        for (size_t m = 0; m < sizeof(methods) / sizeof(methods[0]); m++)
            for (size_t p = 0; p < sizeof(params) / sizeof(params[0]); p++)
                if (notice(&bed, methods[m], params[p], &err) >= 0)
                    fail_msg("%s %s is taken", methods[m], params[p] ? params[p] : "(nothing)");
        for (size_t p = 0; p < sizeof(particular) / sizeof(particular[0]); p++)
            if (notice(&bed, particular[p][0], particular[p][1], &err) >= 0)
                fail_msg("%s %s is taken", particular[p][0], particular[p][1]);
        assert_int_equal(bed.host.events.count, 0);
        assert_int_equal(bed.agent.count, 0);
        close_bed(&bed);
    }
}

static void test_names_and_capabilities(void **state)
{
    (void)state;
    struct pleat_runner *runner = NULL;
    struct pleat_error err = {0};
    assert_int_equal(pleat_runner_open("nobody", NULL, NULL, &runner, &err), PLEAT_E_NOTFOUND);
    assert_non_null(strstr(err.text, "nobody"));
    assert_null(pleat_runner_kind_find("nobody"));
    assert_int_equal(pleat_runner_kind_find("plain")->capabilities, 0);
    assert_int_equal(pleat_runner_kind_find("mpi")->capabilities, 0);
    assert_int_equal(pleat_runner_kind_find("malleable")->capabilities,
                     PLEAT_RUNNER_RESIZES | PLEAT_RUNNER_RELAUNCHES);
    for (size_t i = 0; i < live_count; i++) {
        struct bed bed;
        open_bed(&bed, live[i]);
        assert_int_equal(bed.runner->ops->capabilities,
                         pleat_runner_kind_find(live[i])->capabilities);
        close_bed(&bed);
    }
}

int main(void)
{
    find_live();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_starting),
        cmocka_unit_test(test_a_terminal),
        cmocka_unit_test(test_a_spec_that_cannot_be_started),
#ifdef HAS_FOLD
        cmocka_unit_test(test_a_folded_one),
        cmocka_unit_test(test_the_first_queue_of_a_folded_one),
#endif
        cmocka_unit_test(test_changing_and_killing),
        cmocka_unit_test(test_ways_to_resize),
        cmocka_unit_test(test_slots_are_told),
        cmocka_unit_test(test_relaunching),
        cmocka_unit_test(test_no_way_to_the_node),
        cmocka_unit_test(test_notices_become_events),
        cmocka_unit_test(test_nonsense_is_refused),
        cmocka_unit_test(test_names_and_capabilities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
