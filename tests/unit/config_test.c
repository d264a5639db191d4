/* pleat.conf: every key, its default and its mistakes; and that the administrator's guide lists
 * exactly the keys that exist, with the defaults that they have. */
#include "test.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cpus.h"
#include "daemon/config.h"
#include "site/local.h"

struct key {
    char name[40];
    char fallback[40];
    const char *kind; /* of the sites that have it; NULL: all */
    bool of_site, listed;
};

PLEAT_ARRAY(key_array, struct key);

/* A kind more than there are: the options of all kinds are told apart. The table below replaces
 * src/site/kinds.c here. */
struct lake {
    int64_t nodes, patience_us;
    char *shore;
    int depth;
};

static const struct pleat_site_option lake_rows[] = {{.name = "nodes",
                                                      .type = PLEAT_OPTION_NUMBER,
                                                      .offset = offsetof(struct lake, nodes),
                                                      .usual = "5000",
                                                      .low = 2000,
                                                      .high = 9000,
                                                      .help = "how many it has"},
                                                     {.name = "patience_s",
                                                      .type = PLEAT_OPTION_SECONDS,
                                                      .offset = offsetof(struct lake, patience_us),
                                                      .usual = "1.5",
                                                      .high = 100,
                                                      .help = "how long it waits"},
                                                     {.name = "shore",
                                                      .type = PLEAT_OPTION_TEXT,
                                                      .offset = offsetof(struct lake, shore),
                                                      .usual = "",
                                                      .help = "where it ends"},
                                                     {.name = "depth",
                                                      .type = PLEAT_OPTION_CHOICE,
                                                      .offset = offsetof(struct lake, depth),
                                                      .usual = "deep",
                                                      .choices = "flat deep",
                                                      .help = "how deep it is"},
                                                     {0}};

static const struct pleat_site_ops lake = {
    .name = "lake", .options = lake_rows, .own_size = sizeof(struct lake)};

static const struct pleat_site_ops *const kinds[] = {
#define SITE(kind) &pleat_site_##kind,
#include "site/kinds.def"
#undef SITE
    &lake};

const struct pleat_site_ops *pleat_site_kind_at(size_t index)
{
    return index < sizeof(kinds) / sizeof(kinds[0]) ? kinds[index] : NULL;
}

const struct pleat_site_ops *pleat_site_find(const char *kind)
{
    const struct pleat_site_ops *one;
    for (size_t i = 0; (one = pleat_site_kind_at(i)); i++)
        if (!strcmp(kind, one->name))
            return one;
    return NULL;
}

void pleat_site_kinds_add(struct pleat_string *text)
{
    pleat_string_add(text, "local or lake");
}

/* Of the core, but where users are asked instead. */
static int64_t usual(uint32_t parameter)
{
    if (parameter == PLEAT_PARAM_PAUSE_US)
        return 1000000;
    if (parameter == PLEAT_PARAM_ERRORS_FADE_US)
        return 3600000000;
    if (parameter == PLEAT_PARAM_SHRINK_OFF_US || parameter == PLEAT_PARAM_KEEP_LEFT_US)
        return 30000000;
    if (parameter == PLEAT_PARAM_MOVE_US)
        return 60000000;
    if (parameter == PLEAT_PARAM_REPLACE_US)
        return 300000000;
    if (parameter == PLEAT_PARAM_REPLACE_SHORT || parameter == PLEAT_PARAM_LEAVE_PROCESSES)
        return 1;
    return parameter == PLEAT_PARAM_MPL_MAX ? UINT8_MAX : pleat_parameter_default(parameter);
}

static void add_key(struct key_array *keys, const char *name, const char *fallback, bool of_site)
{
    struct key key = {.of_site = of_site};
    snprintf(key.name, sizeof(key.name), "%s", name);
    snprintf(key.fallback, sizeof(key.fallback), "%s", fallback);
    assert_int_equal(pleat_array_push(keys, key), 0);
}

/* All there is, from the tables of policies and parameters. */
static struct key_array known_keys(void)
{
    struct key_array keys = {0};
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++)
        add_key(&keys, pleat_question_name((enum pleat_question)q),
                pleat_policy_default((enum pleat_question)q)->name, false);
    for (uint32_t p = pleat_parameter_next(0); p; p = pleat_parameter_next(p)) {
        char name[40], fallback[40];
        if (!pleat_config_parameter_is_live(p))
            continue;
        snprintf(name, sizeof(name), "%s", pleat_parameter_name(p));
        char *unit = strstr(name, "_us");
        double value = (double)usual(p);
        if (unit) {
            strcpy(unit, "_s");
            value /= 1e6;
        }
        snprintf(fallback, sizeof(fallback), "%g", value);
        add_key(&keys, name, fallback, false);
    }
    add_key(&keys, "notify_limit_s", "60", false);
    add_key(&keys, "agent_answer_s", "120", false);
    add_key(&keys, "agent_listen", "auto", false);
    add_key(&keys, "agent_port", "0", false);
    add_key(&keys, "agent_host", "auto", false);
    add_key(&keys, "agent_orphan_s", "600", false);
    add_key(&keys, "idle_exit_s", "600", false);
    add_key(&keys, "keep_ended_s", "604800", false);
    add_key(&keys, "checkpoint_records", "20000", false);
    add_key(&keys, "kind", "local", true);
    add_key(&keys, "processors", "0", true);
    add_key(&keys, "threshold", "0", true);
    add_key(&keys, "sharing", "space", true);
    add_key(&keys, "cpuset", "auto", true);
    add_key(&keys, "memory_groups", "auto", true);
    add_key(&keys, "poll_s", "1", true);
    add_key(&keys, "interface", "auto", true);
    const struct pleat_site_ops *kind;
    for (size_t k = 0; (kind = pleat_site_kind_at(k)); k++) {
        for (const struct pleat_site_option *o = kind->options; kind != &lake && o->name; o++) {
            add_key(&keys, o->name, o->usual, true);
            keys.items[keys.count - 1].kind = kind->name;
        }
    }
    return keys;
}

static char path[] = "/tmp/pleat-config-XXXXXX";

static int make_file(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    return fd < 0 || close(fd);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static int load(const char *text, struct pleat_config *config, struct pleat_error *err)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return pleat_config_load(path, config, err);
}

static void loads(const char *text, struct pleat_config *config)
{
    struct pleat_error err = {0};
    if (load(text, config, &err))
        fail_msg("refused: %s", err.text);
}

/* Line `line` is refused, with words that contain `words`. */
static void refuses(const char *text, int line, const char *words)
{
    struct pleat_config config;
    struct pleat_error err = {0};
    char place[80];
    int rc = load(text, &config, &err);
    if (rc == 0)
        fail_msg("taken, although it should not be: %s", text);
    assert_int_equal(rc, err.code);
    snprintf(place, sizeof(place), "%s:%d: ", path, line);
    if (strncmp(err.text, place, strlen(place)))
        fail_msg("'%s' does not begin with '%s'", err.text, place);
    if (!strstr(err.text, words))
        fail_msg("'%s' does not say '%s'", err.text, words);
    assert_null(config.sites);
}

/* Options of a site of the kind local. */
static const struct pleat_local_options *own_of(const struct pleat_config *config, size_t site)
{
    assert_ptr_equal(config->sites[site].ops, &pleat_site_local);
    return config->sites[site].own;
}

static void check_defaults(const struct pleat_config *config)
{
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++)
        assert_ptr_equal(config->policies[q], pleat_policy_default((enum pleat_question)q));
    for (uint32_t p = pleat_parameter_next(0); p; p = pleat_parameter_next(p))
        assert_int_equal(config->parameters[p], usual(p));
    assert_int_equal(config->idle_exit_us, 600000000);
    assert_int_equal(config->keep_ended_us, INT64_C(604800000000));
    assert_int_equal(config->checkpoint_records, 20000);
    assert_int_equal(config->site_count, 1);
    assert_string_equal(config->sites[0].name, "local");
    assert_ptr_equal(config->sites[0].ops, &pleat_site_local);
    assert_int_equal(config->sites[0].processors, 0);
    assert_int_equal(config->sites[0].threshold, 0);
    assert_int_equal(own_of(config, 0)->background, PLEAT_LOCAL_AUTO);
    assert_int_equal(own_of(config, 0)->nodes, 1);
    assert_int_equal(config->sites[0].here.nodes, 1);
    assert_null(config->sites[0].here.cpus);
    assert_false(config->sites[0].shares_time);
    assert_true(config->sites[0].cpusets);
    assert_true(config->sites[0].memory_groups);
    assert_int_equal(config->sites[0].poll_us, 1000000);
}

static void test_defaults(void **state)
{
    (void)state;
    struct pleat_config config;
    assert_int_equal(pleat_config_load(NULL, &config, NULL), 0);
    assert_null(config.path);
    check_defaults(&config);
    pleat_config_finish(&config);
    loads("", &config);
    assert_string_equal(config.path, path);
    check_defaults(&config);
    pleat_config_finish(&config);
    loads("# nothing\nsite \"local\" {}\n", &config);
    check_defaults(&config);
    pleat_config_finish(&config);
}

static void test_every_policy(void **state)
{
    (void)state;
    const struct pleat_policy *policy;
    for (size_t i = 0; (policy = pleat_policy_at(i)); i++) {
        struct pleat_config config;
        char text[100];
        snprintf(text, sizeof(text), "%s = %s\n", pleat_question_name(policy->question),
                 policy->name);
        loads(text, &config);
        assert_ptr_equal(config.policies[policy->question], policy);
        pleat_config_finish(&config);
        snprintf(text, sizeof(text), "\n%s = nonsense\n", pleat_question_name(policy->question));
        refuses(text, 2, policy->name); /* what is allowed is named */
    }
}

static void test_every_parameter(void **state)
{
    (void)state;
    struct key_array keys = known_keys();
    const struct key *key = &keys.items[PLEAT_QUESTION_COUNT];
    for (uint32_t p = pleat_parameter_next(0); p; p = pleat_parameter_next(p)) {
        if (!pleat_config_parameter_is_live(p))
            continue;
        struct pleat_config config;
        bool seconds = strcmp(pleat_parameter_name(p), key->name) != 0;
        char text[100];
        snprintf(text, sizeof(text), "%s = %s\n", key->name, seconds ? "0.25" : "7");
        loads(text, &config);
        assert_int_equal(config.parameters[p], seconds ? 250000 : 7);
        pleat_config_finish(&config);
        snprintf(text, sizeof(text), "%s = -1\n", key->name);
        refuses(text, 1,
                p == PLEAT_PARAM_MPL_MAX ? "must be from 1 to 255" : "must be from 0 to 1");
        snprintf(text, sizeof(text), "%s = 2000000000\n", key->name);
        refuses(text, 1,
                p == PLEAT_PARAM_MPL_MAX ? "must be from 1 to 255" : "must be from 0 to 1");
        snprintf(text, sizeof(text), "\n\n%s = soon\n", key->name);
        refuses(text, 3, key->name);
        key++;
    }
    pleat_array_finish(&keys);
}

/* They would do nothing: who sets one is told so, with where it does something. */
static void test_parameters_of_the_simulator(void **state)
{
    (void)state;
    refuses("site \"caf\xe9\" {}\n", 1, "a name has letters, digits");
    refuses("site \"a b\" {}\n", 1, "site \"a b\": a name has letters, digits");
    refuses("barrier_s = 5\n", 1, "pleat sim --parameter barrier_s=VALUE");
    refuses("claim_earlier_s = 60\n", 1, "pleatd has no use for it");
}

static void test_sites(void **state)
{
    (void)state;
    struct pleat_config config;
    loads("site \"one\" {\n  processors = 8\n  threshold = 2\n  background = measure\n}\n"
          "site two { kind = local background = ignore }\nidle_exit_s = 1.5\n",
          &config);
    assert_int_equal(config.site_count, 2);
    assert_string_equal(config.sites[0].name, "one");
    assert_int_equal(config.sites[0].processors, 8);
    assert_int_equal(config.sites[0].threshold, 2);
    assert_int_equal(own_of(&config, 0)->background, PLEAT_LOCAL_MEASURE);
    assert_string_equal(config.sites[1].name, "two");
    assert_int_equal(own_of(&config, 1)->background, PLEAT_LOCAL_IGNORE);
    assert_int_equal(config.idle_exit_us, 1500000);
    pleat_config_finish(&config);
}

/* One that may be used here. */
static unsigned a_cpu(void)
{
    struct pleat_cpu_set here;
    unsigned cpu = 0;
    assert_int_equal(pleat_cpu_set_get(0, &here), 0);
    while (!pleat_cpu_set_has(&here, cpu))
        cpu++;
    return cpu;
}

static void test_cpus(void **state)
{
    (void)state;
    struct pleat_config config;
    char text[200];
    snprintf(text, sizeof(text),
             "site \"a\" {\n  cpus = \"%u,%u,%u\"\n  sharing = time\n  cpuset = off\n"
             "  memory_groups = off\n}\n"
             "site b { processors = 2 cpus = \"%u, %u\" }",
             a_cpu(), a_cpu(), a_cpu(), a_cpu(), a_cpu());
    loads(text, &config);
    assert_int_equal(config.sites[0].processors, 3);
    assert_non_null(config.sites[0].here.cpus);
    assert_true(config.sites[0].shares_time);
    assert_false(config.sites[0].cpusets);
    assert_false(config.sites[0].memory_groups);
    assert_int_equal(config.sites[1].processors, 2);
    assert_false(config.sites[1].shares_time);
    pleat_config_finish(&config);
    snprintf(text, sizeof(text), "site \"a\" {\n  processors = 3\n  cpus = %u\n}\n", a_cpu());
    refuses(text, 4, "processors = 3, but cpus = ");
}

static void test_mistakes(void **state)
{
    (void)state;
    refuses("\nno_such_key = 3\n", 2, "no_such_key");
    refuses("site \"a\" {\n  colour = 3\n}\n", 2, "colour");
    refuses("site \"a\" {\n  kind = sea\n}\n", 2, "must be local or lake");
    refuses("site \"a\" {\n  processors = 65537\n}\n", 2, "0 to 65536");
    refuses("site \"a\" {\n  processors = many\n}\n", 2, "processors");
    refuses("site \"a\" {\n\n  threshold = -1\n}\n", 3, "0 to 65536");
    refuses("site \"a\" {\n  background = maybe\n}\n", 2, "auto, measure or ignore");
    refuses("site \"a\" {\n  nodes = 0\n}\n", 2, "nodes = 0: must be from 1 to 1024");
    refuses("site \"a\" {\n  nodes = two\n\n}\n", 2, "from 1 to 1024");
    refuses("site \"a\" {\n  nodes = 2x\n\n}\n", 2, "from 1 to 1024");
    refuses("site \"a\" {\n  cpus = \"0-\"\n}\n", 2, "0-3,8");
    refuses("site \"a\" {\n  cpus = \"\"\n}\n", 2, "0-3,8");
    refuses("site \"a\" {\n  cpus = 8000\n}\n", 2, "CPU 8000 is not there");
    refuses("site \"a\" {\n  sharing = both\n}\n", 2, "space or time");
    refuses("site \"a\" {\n  cpuset = on\n}\n", 2, "auto or off");
    refuses("site \"a\" {\n  memory_groups = 1\n}\n", 2, "auto or off");
    refuses("site \"a\" {\n  poll_s = 0.5\n}\n", 2, "from 1 to 1e6 seconds");
    refuses("site \"a\" {\n  interface = -x\n}\n", 2, "the name of a network interface");
    refuses("site \"a\" {\n  interface = \"eth0 -x\"\n}\n", 2, "the name of a network interface");
    refuses("site \"a\" {\n  interface = a234567890123456\n}\n", 2, "1 to 15 letters");
    refuses("site \"a\" {\n  poll_s = nan\n}\n", 2, "from 1 to 1e6 seconds");
    refuses("idle_exit_s = -1\n", 1, "0 to 1e9 seconds");
    refuses("claim_s = nan\n", 1, "0 to 1e9 seconds");
    refuses("site \"a\" {}\nsite \"a\" {}\n", 2, "a");
    refuses("approach pwa\n", 1, "");
    refuses("approach = \n", 2, "");
    refuses("approach = pwa\n}\n", 2, "");
    refuses("\nsite \"a\" {\n", 2, "");
    refuses("/* one\ntwo */\nno_such_key = 1\n", 3, "no_such_key");
}

static void test_options_of_a_kind(void **state)
{
    (void)state;
    struct pleat_config config;
    loads("site \"a\" {\n  nodes = 3\n}\n"
          "site b {\n  patience_s = 0.25\n  kind = lake\n  nodes = 2001\n  shore = \"here, "
          "there\"\n}\n"
          "site c { kind = lake depth = flat depth = deep }\n"
          "site d { kind = slurm }",
          &config);
    assert_int_equal(own_of(&config, 0)->nodes, 3);
    const struct lake *b = config.sites[1].own, *c = config.sites[2].own;
    assert_ptr_equal(config.sites[1].ops, &lake);
    /* a kind that says nothing of nodes has this machine, unless it brings its agents */
    assert_int_equal(config.sites[1].here.nodes, 1);
    assert_int_equal(config.sites[3].here.nodes, 0);
    assert_int_equal(b->nodes, 2001);
    assert_int_equal(b->patience_us, 250000);
    assert_string_equal(b->shore, "here, there");
    assert_int_equal(c->nodes, 5000);
    assert_int_equal(c->patience_us, 1500000);
    assert_string_equal(c->shore, "");
    assert_int_equal(c->depth, 1);
    pleat_config_finish(&config);
    refuses("site \"a\" {\n  shore = x\n  threshold = 1\n}\n", 2,
            "shore: sites of the kind lake have it (where it ends), but site \"a\" is of the kind "
            "local");
    refuses("site \"a\" {\n  kind = lake\n  cpus = 0\n\n}\n", 3, "sites of the kind local have it");
    /* right for the other kind: at its own line, though the kind is known only later */
    refuses("site \"a\" {\n  nodes = 7\n\n  kind = lake\n}\n", 2, "must be from 2000 to 9000");
    refuses("site \"a\" {\n  nodes = 2001\n}\n", 2, "must be from 1 to 1024");
    refuses("site \"a\" {\n  nodes = 1999\n}\n", 2, "must be from");
    refuses("site \"a\" {\n  kind = lake\n  patience_s = 101\n}\n", 3, "from 0 to 100 seconds");
    refuses("site \"a\" {\n  kind = lake\n  patience_s = nan\n}\n", 3, "from 0 to 100 seconds");
    refuses("site \"a\" {\n  kind = lake\n  depth = deeper\n}\n", 3, "must be flat or deep");
    refuses("site \"a\" {\n  kind = lake\n  shore = \"a\\x07\"\n}\n", 3, "control characters");
}

static void test_no_file(void **state)
{
    (void)state;
    struct pleat_config config;
    struct pleat_error err = {0};
    assert_int_equal(pleat_config_load("/nonexistent/pleat.conf", &config, &err), PLEAT_E_NOTFOUND);
    assert_non_null(strstr(err.text, "/nonexistent/pleat.conf"));
    assert_int_equal(pleat_config_load("/nonexistent/pleat.conf", &config, NULL), PLEAT_E_NOTFOUND);
}

/* Bytes of all kinds: refused or not, never worse. */
static void test_garbage(void **state)
{
    (void)state;
    static const char pieces[] = "site{}\"=\\ \n#approach\xff\x01(),+1e9$'/*";
    unsigned seed = 1;
    for (int round = 0; round < 3000; round++) {
        char text[60];
        size_t length = (seed = seed * 1664525u + 1013904223u) >> 8;
        length %= sizeof(text) - 1;
        for (size_t i = 0; i < length; i++)
            text[i] = pieces[((seed = seed * 1664525u + 1013904223u) >> 8) % (sizeof(pieces) - 1)];
        text[length] = '\0';
        struct pleat_config config;
        struct pleat_error err = {0};
        if (load(text, &config, &err) == 0)
            pleat_config_finish(&config);
        else
            assert_true(err.text[0] != '\0');
    }
}

/* ---- the guide ---- */

static char *read_whole(const char *name)
{
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    struct pleat_string text = {0};
    char buffer[4096];
    size_t count;
    while ((count = fread(buffer, 1, sizeof(buffer), file)) > 0)
        pleat_string_add_bytes(&text, buffer, count);
    fclose(file);
    return text.text;
}

/* kind: of the sites that the page is about; "": all. */
static struct key *find_key(struct key_array *keys, const char *name, const char *kind)
{
    for (size_t i = 0; i < keys->count; i++)
        if (!strcmp(keys->items[i].name, name) &&
            !strcmp(keys->items[i].kind ? keys->items[i].kind : "", kind))
            return &keys->items[i];
    return NULL;
}

static void test_the_guide_lists_every_key_with_its_default(void **state)
{
    (void)state;
    struct key_array keys = known_keys();
    char *guide = read_whole(SOURCE_DIR "/docs/admin-guide.md");
    bool in_table = false;
    char kind[40] = "";
    for (char *rest, *line = strtok_r(guide, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        char name[40], fallback[40];
        if (line[0] == '#' && sscanf(line, "#%*[^`]`%39[^`]`", kind) != 1)
            kind[0] = '\0';
        if (!strncmp(line, "| key | default |", 17))
            in_table = true;
        else if (line[0] != '|')
            in_table = false;
        if (!in_table || sscanf(line, "| `%39[^`]` | `%39[^`]` |", name, fallback) != 2)
            continue;
        struct key *key = find_key(&keys, name, kind);
        if (!key)
            fail_msg("the guide lists '%s', which does not exist", name);
        if (strcmp(key->fallback, fallback))
            fail_msg("the guide says that %s is %s by default; it is %s", name, fallback,
                     key->fallback);
        key->listed = true;
        struct pleat_config config; /* and the default, written out, changes nothing */
        char text[160];
        if (key->of_site)
            snprintf(text, sizeof(text), "site \"local\" { kind = %s %s = \"%s\" }\n",
                     kind[0] ? kind : "local", name, fallback);
        else
            snprintf(text, sizeof(text), "%s = %s\n", name, fallback);
        loads(text, &config);
        if (!kind[0] || !strcmp(kind, "local"))
            check_defaults(&config);
        pleat_config_finish(&config);
    }
    for (size_t i = 0; i < keys.count; i++)
        if (!keys.items[i].listed)
            fail_msg("the guide does not list '%s'", keys.items[i].name);
    free(guide);
    pleat_array_finish(&keys);
}

/* Keys that config.c spells out are those that this test knows. */
static int check_source(struct key_array *keys, const char *name)
{
    static const char *const macros[] = {"CFG_STR(\"", "CFG_INT(\"", "CFG_FLOAT(\"", "CFG_BOOL(\""};
    char *source = read_whole(name);
    int found = 0;
    for (size_t m = 0; m < sizeof(macros) / sizeof(macros[0]); m++) {
        for (const char *at = strstr(source, macros[m]); at; at = strstr(at + 1, macros[m])) {
            char key[40] = "";
            sscanf(at + strlen(macros[m]), "%39[^\"]", key);
            found++;
            if (!find_key(keys, key, ""))
                fail_msg("%s has a key '%s' that this test does not know", name, key);
        }
    }
    free(source);
    return found;
}

static void test_this_test_knows_all_keys(void **state)
{
    (void)state;
    struct key_array keys = known_keys();
    assert_true(check_source(&keys, SOURCE_DIR "/src/daemon/config.c") >= 5);
    assert_true(check_source(&keys, SOURCE_DIR "/src/daemon/config_site.c") >= 6);
    pleat_array_finish(&keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_every_policy),
        cmocka_unit_test(test_every_parameter),
        cmocka_unit_test(test_parameters_of_the_simulator),
        cmocka_unit_test(test_sites),
        cmocka_unit_test(test_cpus),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_options_of_a_kind),
        cmocka_unit_test(test_no_file),
        cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_the_guide_lists_every_key_with_its_default),
        cmocka_unit_test(test_this_test_knows_all_keys),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
