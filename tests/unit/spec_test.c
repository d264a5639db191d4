/* Specs as JSON: the good ones, every member of a wrong type, of a wrong value, or missing. */
#include "test.h"

#include <string.h>

#include "wire/spec.h"

static const char good[] = "{\"argv\":[\"/bin/prog\",\"x\"],\"env\":[\"A=b\"],\"cwd\":\"/tmp\","
                           "\"min\":2,\"max\":8}";

/* The good one with one member set to `value` (JSON), or taken out (NULL). */
static json_t *changed(const char *member, const char *value)
{
    json_t *object = json_loads(good, 0, NULL);
    assert_non_null(object);
    if (!value) {
        json_object_del(object, member);
        return object;
    }
    json_t *json = json_loads(value, JSON_DECODE_ANY, NULL);
    if (!json)
        fail_msg("the test's own JSON is wrong: %s", value);
    json_object_set_new(object, member, json);
    return object;
}

static int read_changed(const char *member, const char *value, struct pleat_spec *spec,
                        struct pleat_error *err)
{
    json_t *object = changed(member, value);
    int rc = pleat_spec_from_json(object, spec, err);
    json_decref(object);
    return rc;
}

static void test_defaults(void **state)
{
    (void)state;
    struct pleat_spec spec;
    json_t *object = json_loads(good, 0, NULL);
    assert_int_equal(pleat_spec_from_json(object, &spec, NULL), 0);
    json_decref(object); /* the spec owns what it has */
    assert_string_equal(spec.name, "prog");
    assert_string_equal(spec.argv[0], "/bin/prog");
    assert_string_equal(spec.argv[1], "x");
    assert_null(spec.argv[2]);
    assert_string_equal(spec.env[0], "A=b");
    assert_null(spec.env[1]);
    assert_string_equal(spec.cwd, "/tmp");
    assert_string_equal(spec.runner, "plain");
    assert_string_equal(spec.mpi, "none");
    assert_null(spec.site);
    assert_int_equal(spec.kind, PLEAT_RIGID);
    assert_int_equal(spec.minimum, 2);
    assert_int_equal(spec.maximum, 8);
    assert_int_equal(spec.initial, 0);
    assert_int_equal(spec.sizes.kind, PLEAT_SIZES_ANY);
    assert_int_equal(spec.estimate_us, 0);
    assert_int_equal(spec.deadline_us, 0);
    assert_int_equal(spec.begin_us, 0);
    assert_int_equal(spec.priority, 0);
    assert_false(spec.asks);
    assert_null(spec.output);
    assert_null(spec.error);
    assert_null(spec.input);
    assert_false(spec.append);
    assert_int_equal(spec.umask, 077);
    assert_null(spec.limits);
    assert_int_equal(spec.nice, PLEAT_SPEC_NICE_HERE);
    assert_null(spec.script);
    assert_null(spec.notify);
    assert_int_equal(spec.notify_on, PLEAT_NOTIFY_END | PLEAT_NOTIFY_FAIL);
    assert_int_equal(spec.limit_us, 0);
    assert_int_equal(spec.notice_us, -1);
    assert_int_equal(spec.lifetime_us, -1);
    assert_int_equal(spec.resize, PLEAT_WAY_AUTO);
    pleat_spec_finish(&spec);
    assert_null(spec.argv);
}

static void test_everything_given(void **state)
{
    (void)state;
    json_t *object = json_loads(
        "{\"name\":\"n\",\"argv\":[\"a\"],\"env\":[],\"cwd\":\"/\",\"runner\":\"malleable\","
        "\"mpi\":\"openmpi\",\"kind\":\"malleable\",\"min\":0,\"max\":16777216,\"initial\":4,"
        "\"sizes\":\"2,4,6\",\"asks\":true,\"site\":\"here\",\"estimate_s\":1.5,"
        "\"priority\":-3,\"deadline_in_s\":60,\"begin_in_s\":0.25,"
        "\"output\":\"o-%j\",\"error\":\"/"
        "e\",\"input\":\"i\",\"append\":true,\"umask\":18,\"limits\":\"core=0:*\",\"nice\":-3,"
        "\"script\":\"#!/bin/sh\\n\",\"notify\":\"mail me\",\"notify_on\":[\"start\",\"resize\"],"
        "\"limit_s\":90,\"notice_s\":0,\"lifetime_s\":2.5,\"resize\":\"relaunch\","
        "\"later\":[1]}",
        0, NULL);
    struct pleat_spec spec;
    assert_int_equal(pleat_spec_from_json(object, &spec, NULL), 0);
    json_decref(object);
    assert_string_equal(spec.name, "n");
    assert_string_equal(spec.runner, "malleable");
    assert_string_equal(spec.mpi, "openmpi");
    assert_string_equal(spec.site, "here");
    assert_int_equal(spec.kind, PLEAT_MALLEABLE);
    assert_int_equal(spec.minimum, 0);
    assert_int_equal(spec.maximum, PLEAT_SIZE_MAX);
    assert_int_equal(spec.initial, 4);
    assert_int_equal(spec.sizes.count, 3);
    assert_int_equal(spec.sizes.list[2], 6);
    assert_ptr_equal(spec.sizes.list, spec.size_list.items);
    assert_int_equal(spec.estimate_us, 1500000);
    assert_int_equal(spec.deadline_us, 60000000);
    assert_int_equal(spec.begin_us, 250000);
    assert_int_equal(spec.priority, -3);
    assert_true(spec.asks);
    assert_string_equal(spec.output, "o-%j");
    assert_string_equal(spec.error, "/e");
    assert_string_equal(spec.input, "i");
    assert_true(spec.append);
    assert_int_equal(spec.umask, 022);
    assert_string_equal(spec.limits, "core=0:*");
    assert_int_equal(spec.nice, -3);
    assert_string_equal(spec.script, "#!/bin/sh\n");
    assert_string_equal(spec.notify, "mail me");
    assert_int_equal(spec.notify_on, PLEAT_NOTIFY_START | PLEAT_NOTIFY_RESIZE);
    assert_int_equal(spec.limit_us, 90000000);
    assert_int_equal(spec.notice_us, 0);
    assert_int_equal(spec.lifetime_us, 2500000);
    assert_int_equal(spec.resize, PLEAT_WAY_RELAUNCH);
    pleat_spec_finish(&spec);
}

/* Whether sizes and processors of each process fit together. */
static int read_tasks(const char *change, struct pleat_spec *spec, struct pleat_error *err)
{
    json_t *object = json_loads(good, 0, NULL);
    json_t *members = json_loads(change, 0, NULL);
    assert_true(object && members);
    json_object_update(object, members);
    int code = pleat_spec_from_json(object, spec, err);
    json_decref(members);
    json_decref(object);
    return code;
}

static void test_several_processors_for_each_process(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "{\"cpus_per_task\":2,\"min\":1,\"max\":4,\"initial\":0,\"sizes\":\"multiples:2\"}",
        "{\"cpus_per_task\":2,\"min\":2,\"max\":5,\"initial\":0,\"sizes\":\"multiples:2\"}",
        "{\"cpus_per_task\":2,\"min\":2,\"max\":4,\"initial\":3,\"sizes\":\"multiples:2\"}",
        "{\"cpus_per_task\":2,\"min\":2,\"max\":4,\"initial\":0,\"sizes\":\"multiples:3\"}",
        "{\"cpus_per_task\":2,\"min\":2,\"max\":4,\"initial\":0,\"sizes\":\"2,3\"}",
        "{\"cpus_per_task\":2,\"min\":2,\"max\":4,\"initial\":0,\"sizes\":\"any\"}",
        "{\"cpus_per_task\":0}"};
    struct pleat_spec spec;
    struct pleat_error err;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        assert_int_equal(read_tasks(bad[i], &spec, &err), PLEAT_E_INVALID);
        assert_non_null(strstr(err.text, "cpus_per_task"));
    }
    assert_int_equal(read_tasks("{\"cpus_per_task\":3,\"min\":6,\"max\":6,\"initial\":0,"
                                "\"sizes\":\"any\"}",
                                &spec, &err),
                     0);
    assert_int_equal(spec.cpus_per_task, 3);
    assert_int_equal(pleat_spec_tasks(&spec, 6), 2);
    pleat_spec_finish(&spec);
    assert_int_equal(read_tasks("{\"runner\":\"folded\",\"mpi\":\"mpich\",\"kind\":\"malleable\","
                                "\"fold\":{\"min\":4,\"max\":16},\"cpus_per_task\":2}",
                                &spec, &err),
                     PLEAT_E_UNSUPPORTED);
}

/* `good` but for what makes it fold; `more` may change that. */
static json_t *folding(const char *more)
{
    json_t *object = json_loads(good, 0, NULL);
    json_t *fold = json_loads("{\"runner\":\"folded\",\"mpi\":\"mpich\",\"kind\":\"malleable\","
                              "\"fold\":{\"min\":4,\"max\":16}}",
                              0, NULL);
    json_t *change = json_loads(more, 0, NULL);
    assert_true(object && fold && change);
    json_object_update(object, fold);
    json_object_update(object, change);
    json_decref(fold);
    json_decref(change);
    return object;
}

static void test_folding(void **state)
{
    (void)state;
    struct pleat_spec spec;
    json_t *object =
        folding("{\"class\":\"long\",\"fold\":{\"min\":4,\"max\":16,\"mpl\":3,\"boost\":true,"
                "\"settings\":\"wait=spin\",\"mapping\":\"balance\",\"count_word\":\"N\"}}");
    assert_int_equal(pleat_spec_from_json(object, &spec, NULL), 0);
    json_decref(object);
    assert_true(spec.folds);
    assert_int_equal(spec.minimum, 2); /* processors */
    assert_int_equal(spec.fold.least, 4);
    assert_int_equal(spec.fold.most, 16);
    assert_int_equal(spec.fold.mpl, 3);
    assert_true(spec.fold.boost);
    assert_string_equal(spec.fold.settings, "wait=spin");
    assert_string_equal(spec.fold.mapping, "balance");
    assert_string_equal(spec.fold.count_word, "N");
    assert_int_equal(spec.job_class, PLEAT_CLASS_LONG);
    pleat_spec_finish(&spec);
    object = folding("{}");
    assert_int_equal(pleat_spec_from_json(object, &spec, NULL), 0);
    json_decref(object);
    assert_null(spec.fold.settings);
    assert_int_equal(spec.job_class, PLEAT_CLASS_UNKNOWN);
    pleat_spec_finish(&spec);
}

static void test_folding_that_makes_no_sense(void **state)
{
    (void)state;
    static const char *const cases[] = {"{\"fold\":null}",
                                        "{\"fold\":7}",
                                        "{\"fold\":{\"min\":4}}",
                                        "{\"fold\":{\"min\":0,\"max\":4}}",
                                        "{\"fold\":{\"min\":5,\"max\":4}}",
                                        "{\"fold\":{\"min\":1,\"max\":4,\"mpl\":256}}",
                                        "{\"fold\":{\"min\":1,\"max\":4,\"mapping\":\"x\"}}",
                                        "{\"fold\":{\"min\":1,\"max\":4,\"count_word\":\"\"}}",
                                        "{\"runner\":\"mpi\"}",
                                        "{\"kind\":\"moldable\"}",
                                        "{\"mpi\":\"none\"}",
                                        "{\"class\":\"tiny\"}"};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pleat_spec spec;
        struct pleat_error err = {0};
        json_t *object = folding(cases[i]);
        if (!pleat_spec_from_json(object, &spec, &err) || !*err.text)
            fail_msg("%s was taken", cases[i]);
        json_decref(object);
    }
}

static void test_a_word_for_a_number(void **state)
{
    (void)state;
    static const struct {
        const char *text, *word, *with;
    } cases[] = {{"cg.B.N", "N", "cg.B.16"},           {"N", "N", "16"},
                 {"NN N_ aN N1", "N", "NN N_ aN N1"},  {"N.N/N", "N", "16.16/16"},
                 {"--np=NP,NPX", "NP", "--np=16,NPX"}, {"", "N", ""},
                 {"a NN N", "N", "a NN 16"},           {"aba.ab", "ab", "aba.16"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *put = pleat_spec_put_number(cases[i].text, cases[i].word, 16);
        assert_string_equal(put, cases[i].with);
        assert_int_equal(pleat_spec_has_word(cases[i].text, cases[i].word),
                         strcmp(cases[i].text, cases[i].with) != 0);
        free(put);
    }
}

static void test_null_stands_for_absent(void **state)
{
    (void)state;
    static const char *const members[] = {
        "name",          "site",       "sizes",   "runner",   "mpi",        "kind",   "estimate_s",
        "deadline_in_s", "begin_in_s", "output",  "error",    "input",      "script", "notify",
        "program",       "notify_on",  "limit_s", "notice_s", "lifetime_s", "resize"};
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        struct pleat_spec spec;
        struct pleat_error err = {0};
        if (read_changed(members[i], "null", &spec, &err))
            fail_msg("%s: null: %s", members[i], err.text);
        pleat_spec_finish(&spec);
    }
}

static void refused(const char *member, const char *value)
{
    struct pleat_spec spec;
    struct pleat_error err = {0};
    int rc = read_changed(member, value, &spec, &err);
    if (rc >= 0)
        fail_msg("%s: %s is taken", member, value ? value : "(missing)");
    assert_int_equal(err.code, rc);
    /* the text names the member (sizes have their own words) */
    if (!strstr(err.text, member) && strcmp(member, "sizes"))
        fail_msg("%s: %s: the error does not name it: %s", member, value ? value : "(missing)",
                 err.text);
    struct pleat_spec empty;
    memset(&empty, 0, sizeof(empty));
    assert_memory_equal(&spec, &empty, sizeof(spec)); /* nothing left to free */
}

/* Only a program that asks for processes itself has some at other sites. */
static void test_other_sites(void **state)
{
    (void)state;
    struct pleat_spec spec;
    struct pleat_error err = {0};
    refused("sites", "\"there\"");
    refused("sites", "3");
    json_t *object = changed("sites", "\"there,far\"");
    json_object_set_new(object, "runner", json_string("evolving"));
    json_object_set_new(object, "kind", json_string("moldable"));
    assert_int_equal(pleat_spec_from_json(object, &spec, &err), 0);
    assert_string_equal(spec.sites, "there,far");
    assert_false(spec.any_site);
    pleat_spec_finish(&spec);
    json_object_set_new(object, "any_site", json_true());
    assert_int_equal(pleat_spec_from_json(object, &spec, &err), 0);
    assert_true(spec.any_site);
    pleat_spec_finish(&spec);
    json_object_set_new(object, "one_node", json_true());
    assert_int_equal(pleat_spec_from_json(object, &spec, &err), PLEAT_E_INVALID);
    assert_non_null(strstr(err.text, "one_node"));
    json_decref(object);
}

static void test_members_that_must_be_there(void **state)
{
    (void)state;
    static const char *const members[] = {"argv", "env", "cwd", "min", "max"};
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        refused(members[i], NULL);
        refused(members[i], "null");
    }
}

static void test_wrong_types(void **state)
{
    (void)state;
    static const char *const values[] = {"1",  "1.5", "true", "\"text\"",
                                         "[]", "[1]", "{}",   "[null]"};
    static const struct {
        const char *member, *good; /* the values (by number) that are of the right type */
    } members[] = {
        {"name", "3"},        {"argv", ""},         {"env", "4"},      {"cwd", "3"},
        {"runner", ""},       {"mpi", ""},          {"kind", ""},      {"min", "0"},
        {"max", "0"},         {"initial", "0"},     {"sizes", ""},     {"asks", "2"},
        {"site", "3"},        {"estimate_s", "01"}, {"priority", "0"}, {"deadline_in_s", "01"},
        {"begin_in_s", "01"}, {"output", "3"},      {"error", "3"},    {"input", "3"},
        {"append", "2"},      {"script", "3"},      {"notify", "3"},   {"notify_on", "4"},
        {"limit_s", "01"},    {"notice_s", "01"},   {"resize", ""},    {"lifetime_s", "01"},
        {"umask", "0"},       {"requeue", "2"},     {"one_node", "2"}, {"program", "3"},
        {"any_site", ""}};
    for (size_t m = 0; m < sizeof(members) / sizeof(members[0]); m++)
        for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++)
            if (!strchr(members[m].good, (char)('0' + v)))
                refused(members[m].member, values[v]);
}

static void test_wrong_values(void **state)
{
    (void)state;
    static const struct {
        const char *member, *value;
    } cases[] = {{"argv", "[]"},
                 {"argv", "[\"a\",1]"},
                 {"env", "[\"A=b\",null]"},
                 {"runner", "\"fake\""},
                 {"runner", "\"Plain\""},
                 {"mpi", "\"lam\""},
                 {"kind", "\"evolving\""},
                 {"min", "-1"},
                 {"min", "16777217"},
                 {"max", "0"},
                 {"max", "16777217"},
                 {"max", "9223372036854775807"},
                 {"initial", "-1"},
                 {"sizes", "\"4,2\""},
                 {"sizes", "\"\""},
                 {"estimate_s", "-1"},
                 {"estimate_s", "1.1e9"},
                 {"priority", "32768"},
                 {"priority", "-32769"},
                 {"priority", "0.5"},
                 {"deadline_in_s", "-1"},
                 {"begin_in_s", "1.1e9"},
                 {"output", "\"\""},
                 {"output", "\"%\""},
                 {"error", "\"a%q\""},
                 {"input", "\"%%%\""},
                 {"script", "\"\""},
                 {"notify", "\"\""},
                 {"notify_on", "[\"end\",\"ends\"]"},
                 {"limit_s", "-1"},
                 {"limit_s", "2e9"},
                 {"notice_s", "-0.5"},
                 {"lifetime_s", "2e9"},
                 {"resize", "\"spawn\""},
                 {"begin_in_s", "5"}}; /* without an estimate */
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        refused(cases[i].member, cases[i].value);
}

static void test_not_an_object(void **state)
{
    (void)state;
    static const char *const texts[] = {"[]", "1", "\"x\"", "null", "true"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct pleat_spec spec;
        struct pleat_error err = {0};
        json_t *json = json_loads(texts[i], JSON_DECODE_ANY, NULL);
        assert_int_equal(pleat_spec_from_json(json, &spec, &err), PLEAT_E_INVALID);
        json_decref(json);
    }
    struct pleat_spec spec;
    assert_int_equal(pleat_spec_from_json(NULL, &spec, NULL), PLEAT_E_INVALID);
}

/* Strings with bytes that are no UTF-8, or with a zero inside, never get as far as a spec. */
static void test_strings_that_json_cannot_carry(void **state)
{
    (void)state;
    assert_null(json_loads("{\"cwd\":\"\xff\xfe\"}", 0, NULL));
    assert_null(json_loads("{\"cwd\":\"\xc3\"}", 0, NULL));
    assert_null(json_loads("{\"cwd\":\"a\\u0000b\"}", 0, NULL));
    struct pleat_spec spec; /* while what is UTF-8 is kept byte by byte */
    assert_int_equal(read_changed("cwd", "\"/tmp/\xc3\xa4\xe2\x82\xac\"", &spec, NULL), 0);
    assert_string_equal(spec.cwd, "/tmp/\xc3\xa4\xe2\x82\xac");
    pleat_spec_finish(&spec);
}

static void test_too_many_strings(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        json_t *object = changed("cwd", "\"/\"");
        json_t *list = json_array();
        for (int i = 0; i < PLEAT_SPEC_STRINGS_MAX + more; i++)
            json_array_append_new(list, json_string("a"));
        json_object_set_new(object, "argv", list);
        struct pleat_spec spec;
        struct pleat_error err = {0};
        int rc = pleat_spec_from_json(object, &spec, &err);
        json_decref(object);
        assert_int_equal(rc, more ? PLEAT_E_TOOBIG : 0);
        if (!rc)
            pleat_spec_finish(&spec);
    }
}

/* Strings of exactly the size allowed, and one byte more. */
static void test_sizes_of_texts(void **state)
{
    (void)state;
    static const struct {
        const char *member;
        size_t most;
    } texts[] = {{"output", PLEAT_SPEC_PATH_MAX},
                 {"input", PLEAT_SPEC_PATH_MAX},
                 {"script", PLEAT_SPEC_SCRIPT_MAX},
                 {"notify", PLEAT_SPEC_NOTIFY_MAX},
                 {"program", PLEAT_SPEC_PROGRAM_MAX}};
    for (size_t i = 0; i < 2 * sizeof(texts) / sizeof(texts[0]); i++) {
        size_t size = texts[i / 2].most + i % 2;
        char *text = malloc(size + 1);
        assert_non_null(text);
        memset(text, 'x', size);
        text[size] = '\0';
        json_t *object = changed("cwd", "\"/\"");
        json_object_set_new(object, texts[i / 2].member, json_string(text));
        free(text);
        struct pleat_spec spec;
        int rc = pleat_spec_from_json(object, &spec, NULL);
        json_decref(object);
        assert_int_equal(rc, i % 2 ? PLEAT_E_TOOBIG : 0);
        if (!rc)
            pleat_spec_finish(&spec);
    }
}

static void test_a_limit_is_an_estimate(void **state)
{
    (void)state;
    static const struct {
        const char *estimate, *limit;
        int64_t us;
    } cases[] = {{"0", "60", 60000000}, {"20", "60", 20000000}, {"20", "0", 20000000}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pleat_spec spec;
        json_t *object = changed("estimate_s", cases[i].estimate);
        json_object_set_new(object, "limit_s", json_loads(cases[i].limit, JSON_DECODE_ANY, NULL));
        assert_int_equal(pleat_spec_from_json(object, &spec, NULL), 0);
        json_decref(object);
        assert_int_equal(spec.estimate_us, cases[i].us);
        pleat_spec_finish(&spec);
    }
}

static void test_paths(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *path;
    } cases[] = {{"out", "/home/me/out"},
                 {"/var/%u/%x.%j", "/var/user_1/a_b.42"},
                 {"%j%%%j", "/home/me/42%42"},
                 {"../%x", "/home/me/../a_b"}};
    struct pleat_spec spec = {.cwd = (char[]){"/home/me"}, .name = (char[]){"a/b"}};
    char path[64];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(pleat_spec_check_pattern("x", cases[i].pattern, NULL), 0);
        assert_int_equal(
            pleat_spec_path(&spec, cases[i].pattern, 42, "user/1", path, sizeof(path), NULL), 0);
        assert_string_equal(path, cases[i].path);
        /* exactly enough room, and one byte less */
        size_t size = strlen(path) + 1;
        char *exact = malloc(size);
        assert_non_null(exact);
        assert_int_equal(pleat_spec_path(&spec, cases[i].pattern, 42, "user/1", exact, size, NULL),
                         0);
        assert_string_equal(exact, cases[i].path);
        assert_int_equal(
            pleat_spec_path(&spec, cases[i].pattern, 42, "user/1", exact, size - 1, NULL),
            PLEAT_E_TOOBIG);
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_everything_given),
        cmocka_unit_test(test_several_processors_for_each_process),
        cmocka_unit_test(test_folding),
        cmocka_unit_test(test_folding_that_makes_no_sense),
        cmocka_unit_test(test_a_word_for_a_number),
        cmocka_unit_test(test_null_stands_for_absent),
        cmocka_unit_test(test_other_sites),
        cmocka_unit_test(test_members_that_must_be_there),
        cmocka_unit_test(test_wrong_types),
        cmocka_unit_test(test_wrong_values),
        cmocka_unit_test(test_not_an_object),
        cmocka_unit_test(test_strings_that_json_cannot_carry),
        cmocka_unit_test(test_too_many_strings),
        cmocka_unit_test(test_sizes_of_texts),
        cmocka_unit_test(test_a_limit_is_an_estimate),
        cmocka_unit_test(test_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
