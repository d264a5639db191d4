/* Load of others on a machine that is only files: proc/stat and proc/PID/stat under a directory. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "model/event.h"
#include "site/local.h"
#include "site/local_load.h"
#include "site/site.h"

struct machine {
    char root[64];
    struct pleat_local_load *load;
    int64_t now_us;
    unsigned long long busy; /* ticks */
    long ticks_per_s;
};

static void write_file(const struct machine *machine, const char *name, const char *text)
{
    char path[192];
    snprintf(path, sizeof(path), "%s/%s", machine->root, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void write_busy(const struct machine *machine)
{
    char text[200];
    snprintf(text, sizeof(text),
             "cpu  %llu 0 0 900000 7 0 0 0 0 0\ncpu0 1 2 3 4 5 6 7 0 0 0\nintr 12345\n",
             machine->busy);
    write_file(machine, "proc/stat", text);
}

/* A process that has used `ticks`, a quarter of them in children that it has reaped. */
static void write_process(const struct machine *machine, int pid, int parent, const char *name,
                          unsigned long long ticks)
{
    char path[100], text[400];
    snprintf(path, sizeof(path), "%s/proc/%d", machine->root, pid);
    (void)mkdir(path, 0700);
    unsigned long long quarter = ticks / 4;
    snprintf(text, sizeof(text),
             "%d (%s) S %d 1 1 0 -1 4194304 10 20 30 40 %llu %llu %llu %llu 20 0 1 0 5 1 1\n", pid,
             name, parent, ticks - 3 * quarter, quarter, quarter, quarter);
    snprintf(path, sizeof(path), "proc/%d/stat", pid);
    write_file(machine, path, text);
}

static int set_up(void **state)
{
    struct machine *machine = calloc(1, sizeof(*machine));
    snprintf(machine->root, sizeof(machine->root), "/tmp/pleat-load-XXXXXX");
    assert_non_null(mkdtemp(machine->root));
    char path[100];
    snprintf(path, sizeof(path), "%s/proc", machine->root);
    assert_int_equal(mkdir(path, 0700), 0);
    machine->now_us = 1000000;
    machine->ticks_per_s = sysconf(_SC_CLK_TCK);
    write_busy(machine);
    assert_int_equal(pleat_local_load_create(machine->root, &machine->load, NULL), 0);
    *state = machine;
    return 0;
}

static int tear_down(void **state)
{
    struct machine *machine = *state;
    char command[100];
    snprintf(command, sizeof(command), "rm -r '%s'", machine->root);
    assert_int_equal(system(command), 0);
    pleat_local_load_destroy(machine->load);
    free(machine);
    return 0;
}

static int32_t sample(struct machine *machine)
{
    int32_t background = -1;
    struct pleat_error err;
    write_busy(machine);
    if (pleat_local_load_sample(machine->load, machine->now_us, &background, &err))
        fail_msg("%s", err.text);
    return background;
}

/* So many seconds pass in which others, and a process of ours, keep processors busy. */
static int32_t pass(struct machine *machine, int seconds, double others, double ours)
{
    static unsigned long long used; /* by process 12 */
    int32_t background = 0;
    for (int i = 0; i < seconds; i++) {
        double ticks = (double)machine->ticks_per_s;
        machine->now_us += 1000000;
        machine->busy += (unsigned long long)((others + ours) * ticks);
        used += (unsigned long long)(ours * ticks);
        write_process(machine, 12, 11, "solver", used);
        background = sample(machine);
    }
    return background;
}

static void add_agent(const struct machine *machine)
{
    write_process(machine, 1, 0, "init", 5000);
    write_process(machine, 10, 1, "pleat-agent", 40);
    write_process(machine, 11, 10, "sh", 8);
}

static void test_load_of_others_is_seen(void **state)
{
    struct machine *machine = *state;
    add_agent(machine);
    assert_int_equal(sample(machine), 0); /* nothing to compare with yet */
    assert_int_equal(pass(machine, 60, 3, 0), 3);
    assert_int_equal(pass(machine, 60, 0, 0), 0);
}

static void test_own_load_is_not(void **state)
{
    struct machine *machine = *state;
    add_agent(machine);
    pass(machine, 1, 0, 0);
    assert_int_equal(pass(machine, 60, 0, 4), 0);
    assert_int_equal(pass(machine, 60, 2, 4), 2);
}

static void test_descendants_count_wherever_they_are_listed(void **state)
{
    struct machine *machine = *state;
    /* a child with a lower number than its parent, deep below the agent */
    write_process(machine, 900, 1, "pleat-agent", 0);
    write_process(machine, 11, 300, "a) S 1 (b", 0); /* names may contain anything */
    write_process(machine, 300, 200, "c", 0);
    write_process(machine, 200, 900, "d", 0);
    pass(machine, 1, 0, 0);
    assert_int_equal(pass(machine, 40, 0, 4), 0);
}

static void test_one_who_only_looks_like_ours_is_not(void **state)
{
    struct machine *machine = *state;
    write_process(machine, 11, 1, "pleat-agent2", 0);
    pass(machine, 1, 0, 0);
    assert_int_equal(pass(machine, 60, 0, 4), 4);
}

/* Around a half nothing flickers: a change takes more than three quarters of a processor. */
static void test_hysteresis(void **state)
{
    struct machine *machine = *state;
    pass(machine, 1, 0, 0);
    assert_int_equal(pass(machine, 120, 0.6, 0), 0);
    assert_int_equal(pass(machine, 120, 1.0, 0), 1);
    assert_int_equal(pass(machine, 120, 0.4, 0), 1);
    assert_int_equal(pass(machine, 120, 1.6, 0), 1);
    assert_int_equal(pass(machine, 120, 0.1, 0), 0);
    /* one busy second is not load */
    assert_int_equal(pass(machine, 1, 6, 0), 0);
}

static void test_processes_that_make_no_sense(void **state)
{
    struct machine *machine = *state;
    static const char *const texts[] = {
        "", "(", "12 pleat-agent S 1", "5 )x( S 1 2 3", "6 (pleatd) S 1 1\n", "7 (a) S x y z\n"};
    add_agent(machine);
    for (int i = 0; i < 6; i++) {
        char name[40];
        write_process(machine, 50 + i, 1, "x", 0);
        snprintf(name, sizeof(name), "proc/%d/stat", 50 + i);
        write_file(machine, name, texts[i]);
    }
    char path[100];
    snprintf(path, sizeof(path), "%s/proc/77", machine->root); /* gone while we look */
    assert_int_equal(mkdir(path, 0700), 0);
    write_file(machine, "proc/42", "a file\n");
    pass(machine, 1, 0, 0);
    assert_int_equal(pass(machine, 60, 2, 3), 2);
}

static void test_a_stat_that_makes_no_sense(void **state)
{
    struct machine *machine = *state;
    static const char *const texts[] = {"", "cpu", "cpu  1 2 3", "gpu 1 2 3 4 5 6 7 8\n"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        int32_t background = 77;
        struct pleat_error err = {0};
        write_file(machine, "proc/stat", texts[i]);
        assert_int_equal(pleat_local_load_sample(machine->load, machine->now_us, &background, &err),
                         PLEAT_E_INVALID);
        assert_non_null(strstr(err.text, machine->root));
        assert_int_equal(background, 77);
    }
    assert_int_equal(sample(machine), 0); /* and it goes on once it can be read again */
}

static void test_no_machine_there(void **state)
{
    (void)state;
    struct pleat_local_load *load;
    struct pleat_error err = {0};
    int32_t background;
    assert_int_equal(pleat_local_load_create("/nonexistent", &load, &err), 0);
    assert_int_equal(pleat_local_load_sample(load, 1, &background, &err), PLEAT_E_SYSTEM);
    assert_non_null(strstr(err.text, "/nonexistent/proc/stat"));
    pleat_local_load_destroy(load);
    char longest[300];
    memset(longest, 'a', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    assert_int_equal(pleat_local_load_create(longest, &load, &err), PLEAT_E_TOOBIG);
    assert_true(pleat_local_cpus() >= 1);
}

/* ---- the local site over it ---- */

struct seen {
    struct machine *machine;
    struct pleat_event last;
    int backgrounds;
};

static int64_t seen_now(void *arg)
{
    return ((struct seen *)arg)->machine->now_us;
}

static void seen_emit(void *arg, const struct pleat_event *event)
{
    struct seen *seen = arg;
    seen->last = *event;
    seen->backgrounds += event->kind == PLEAT_EV_BACKGROUND;
}

static struct pleat_site_instance *open_site(struct pleat_host *host, const char *root,
                                             int32_t processors, int background)
{
    const struct pleat_local_options own = {.background = background, .root = root};
    struct pleat_site_options options = {
        .name = "local", .index = 3, .processors = processors, .threshold = 1, .own = &own};
    struct pleat_site_instance *site = NULL;
    assert_int_equal(pleat_site_local.open(&options, host, &site, NULL), 0);
    return site;
}

static void test_the_local_site_says_so(void **state)
{
    struct machine *machine = *state;
    struct seen seen = {.machine = machine};
    struct pleat_host host = {.arg = &seen, .now_us = seen_now, .emit = seen_emit};
    struct pleat_site_instance *site = open_site(&host, machine->root, 8, PLEAT_LOCAL_MEASURE);
    assert_int_equal(seen.last.kind, PLEAT_EV_SITE);
    assert_int_equal(seen.last.u.site.capacity, 8);
    assert_int_equal(seen.last.u.site.threshold, 1);
    for (int i = 0; i < 60; i++) {
        machine->now_us += 1000000;
        machine->busy += 2 * (unsigned long long)machine->ticks_per_s;
        write_busy(machine);
        assert_int_equal(site->ops->probe(site, NULL), 0);
    }
    assert_int_equal(seen.last.kind, PLEAT_EV_BACKGROUND);
    assert_int_equal(seen.last.component, 3);
    assert_int_equal(seen.last.u.site.background, 2);
    assert_int_equal(seen.backgrounds, 2); /* 1, then 2: told only when it changes */
    write_file(machine, "proc/stat", "nothing");
    struct pleat_error err = {0};
    assert_int_equal(site->ops->probe(site, &err), PLEAT_E_INVALID);
    assert_int_equal(seen.backgrounds, 2);
    site->ops->close(site);
}

static void test_where_load_is_not_measured(void **state)
{
    struct machine *machine = *state;
    struct seen seen = {.machine = machine};
    struct pleat_host host = {.arg = &seen, .now_us = seen_now, .emit = seen_emit};
    write_file(machine, "proc/stat", "nothing"); /* reading it would fail */
    struct pleat_site_instance *ignores = open_site(&host, machine->root, 1, PLEAT_LOCAL_IGNORE);
    assert_int_equal(ignores->ops->probe(ignores, NULL), 0);
    ignores->ops->close(ignores);
    /* "measure unless oversubscribed", and it is */
    struct pleat_site_instance *over =
        open_site(&host, machine->root, pleat_local_cpus() + 1, PLEAT_LOCAL_AUTO);
    assert_int_equal(over->ops->probe(over, NULL), 0);
    over->ops->close(over);
    struct pleat_site_instance *measures = open_site(&host, machine->root, 1, PLEAT_LOCAL_AUTO);
    struct pleat_error err = {0};
    assert_int_equal(measures->ops->probe(measures, &err), PLEAT_E_INVALID);
    measures->ops->close(measures);
    assert_int_equal(seen.backgrounds, 0);
}

#define ON_A_MACHINE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_A_MACHINE(test_load_of_others_is_seen),
        ON_A_MACHINE(test_own_load_is_not),
        ON_A_MACHINE(test_descendants_count_wherever_they_are_listed),
        ON_A_MACHINE(test_one_who_only_looks_like_ours_is_not),
        ON_A_MACHINE(test_hysteresis),
        ON_A_MACHINE(test_processes_that_make_no_sense),
        ON_A_MACHINE(test_a_stat_that_makes_no_sense),
        cmocka_unit_test(test_no_machine_there),
        ON_A_MACHINE(test_the_local_site_says_so),
        ON_A_MACHINE(test_where_load_is_not_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
