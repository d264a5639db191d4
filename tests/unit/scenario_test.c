/* Workloads and platforms of other simulators, and the formulas in them. All samples are our own.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "scenario/expression.h"
#include "scenario/read.h"
#include "scenario/simgrid.h"

/* ---- formulas ---- */

static bool variable(void *context, const char *name, size_t length, double *value)
{
    (void)context;
    *value = 4;
    return length == 1 && *name == 'n';
}

static void test_formulas(void **state)
{
    static const struct {
        const char *text;
        double value;
    } right[] = {{"1 + 2 * 3", 7},    {"(1 + 2) * 3", 9}, {"2^3^2", 512},
                 {"-2^2", -4},        {"8 / n / 2", 1},   {"7 % n", 3},
                 {"1e3 - .5", 999.5}, {"sqrt(n) + 1", 3}, {"max(n, 9) - min(n,9)", 5},
                 {"pow(2, n)", 16},   {"log2(n)", 2},     {"ceil(1.2)+floor(1.8)", 3},
                 {" n ", 4},          {"2 - -n", 6},      {"abs(-3)*round(2.4)", 6}};
    (void)state;
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
        double value = 0;
        struct pleat_error err = {0};
        assert_int_equal(pleat_expression(right[i].text, variable, NULL, &value, &err), 0);
        assert_true(fabs(value - right[i].value) < 1e-9);
    }
}

static void test_wrong_formulas(void **state)
{
    static const char *const wrong[][2] = {{"", "character 1: it ends too early"},
                                           {"1 +", "character 4: it ends too early"},
                                           {"m", "character 1: there is no such variable"},
                                           {"2 * tan(n)", "there is no such function"},
                                           {"(1", "')' is missing"},
                                           {"min(1)", "',' is missing"},
                                           {"1 2", "character 3: an operator is expected"},
                                           {"0x10", "this is no number"},
                                           {"$", "a number or a name is expected"}};
    char deep[200];
    double value = 1;
    struct pleat_error err;
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(pleat_expression(wrong[i][0], variable, NULL, &value, &err),
                         PLEAT_E_INVALID);
        assert_non_null(strstr(err.text, wrong[i][1]));
    }
    memset(deep, '(', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = '\0';
    assert_int_equal(pleat_expression(deep, variable, NULL, &value, &err), PLEAT_E_INVALID);
    assert_non_null(strstr(err.text, "too deep"));
}

/* ---- jobs ---- */

struct read {
    struct pleat_workload workload;
    struct pleat_reading reading;
    struct pleat_error err;
    int rc;
};

static void read_text(struct read *read, const char *text, double flops)
{
    *read = (struct read){.reading = {.flops = flops}};
    assert_int_equal(pleat_workload_init(&read->workload), 0);
    read->rc = pleat_workload_read_json(text, strlen(text), "file.json", &read->reading,
                                        &read->workload, &read->err);
}

static void drop(struct read *read)
{
    pleat_workload_finish(&read->workload);
    pleat_string_finish(&read->reading.notes);
}

#define PROFILES                                                                                   \
    "\"profiles\":{\"wait\":{\"type\":\"delay\",\"delay\":20.25},"                                 \
    "\"each\":{\"type\":\"parallel_homogeneous\",\"cpu\":4e9,\"com\":1e6},"                        \
    "\"all\":{\"type\":\"ParallelTaskHomogeneousProfile\",\"cpu\":4e9,\"com\":0,"                  \
    "\"generation_strategy\":\"DefinedAmountsSpreadUniformly\"},"                                  \
    "\"list\":{\"type\":\"parallel\",\"cpu\":[1e9,3e9],\"com\":[]},"                               \
    "\"twice\":{\"type\":\"composed\",\"nb\":2,\"seq\":[\"wait\",\"each\"]},"                      \
    "\"replay\":{\"type\":\"smpi\",\"trace\":\"t\"},"                                              \
    "\"loop\":{\"type\":\"composed\",\"seq\":[\"loop\"]}}"

static void test_batsim(void **state)
{
    struct read read;
    (void)state;
    read_text(&read,
              "{\"nb_res\":8,\"jobs\":["
              "{\"id\":\"w!7\",\"subtime\":5,\"res\":2,\"walltime\":30,\"profile\":\"wait\"},"
              "{\"id\":2,\"subtime\":1.5,\"res\":4,\"walltime\":-1,\"profile\":\"each\"},"
              "{\"id\":\"3\",\"subtime\":5,\"res\":4,\"profile\":\"all\"},"
              "{\"id\":\"4\",\"subtime\":6,\"res\":2,\"profile\":\"list\"},"
              "{\"id\":\"5\",\"subtime\":7,\"res\":2,\"profile\":\"twice\"},"
              "{\"id\":\"6\",\"subtime\":7,\"res\":2,\"profile\":\"replay\"}]," PROFILES "}",
              1e9);
    assert_int_equal(read.rc, 0);
    static const struct {
        int64_t number, submit_us, run_us, estimate_us;
        int32_t processors;
    } wanted[] = {{2, 1500000, 4000000, 0, 4},
                  {7, 5000000, 20250000, 30000000, 2},
                  {3, 5000000, 1000000, 0, 4},
                  {4, 6000000, 3000000, 0, 2},
                  {5, 7000000, 48500000, 0, 2}};
    assert_int_equal(read.workload.jobs.count, 5);
    for (size_t i = 0; i < 5; i++) {
        const struct pleat_workload_job *job = &read.workload.jobs.items[i];
        assert_int_equal(job->number, wanted[i].number);
        assert_int_equal(job->submit_us, wanted[i].submit_us);
        assert_int_equal(job->run_us, wanted[i].run_us);
        assert_int_equal(job->estimate_us, wanted[i].estimate_us);
        assert_int_equal(job->processors, wanted[i].processors);
    }
    assert_int_equal(read.workload.machine, 8);
    assert_int_equal(read.reading.format, PLEAT_FORMAT_BATSIM);
    assert_int_equal(read.reading.report.unsorted, 1);
    assert_string_equal(
        read.reading.notes.text,
        "1 job left out (the first is jobs[5]): nothing tells how long a profile of "
        "type smpi takes\n"
        "2 jobs have messages or files: these take no time here\n"
        "1 job has a time limit: read as their user's estimate (--kill-at-estimate "
        "ends jobs at it)\n");
    assert_int_equal(pleat_workload_check(&read.workload, &read.err), 0);
    drop(&read);
}

#define JOB(rest) "{\"jobs\":[{\"id\":\"1\"," rest "}]," PROFILES "}"

static void test_wrong_batsim(void **state)
{
    static const char *const wrong[][2] = {
        {"{\"jobs\":[", "file.json:1:9: this is no JSON"},
        {"[1]", "file.json:1:1: a JSON object is expected"},
        {"{\"nb_res\":0,\"jobs\":[],\"profiles\":{}}",
         "file.json: nb_res: must be a number from 1"},
        {"{\"nb_res\":1,\"profiles\":{}}", "file.json: jobs: a list of jobs"},
        {"{\"nb_res\":1,\"jobs\":[]}", "file.json: profiles: an object"},
        {JOB("\"res\":1,\"profile\":\"wait\""), "jobs[0].subtime: is missing"},
        {JOB("\"subtime\":1,\"res\":1.5,\"profile\":\"wait\""), "jobs[0].res: must be a whole"},
        {JOB("\"subtime\":-1,\"res\":1,\"profile\":\"wait\""), "jobs[0].subtime: must be a number"},
        {JOB("\"subtime\":1,\"res\":1,\"profile\":\"no\""),
         "profiles['no']: there is no such profile; 'jobs[0]' names it"},
        {JOB("\"subtime\":1,\"res\":1,\"profile\":\"loop\""), "contain one another"},
        {JOB("\"subtime\":1,\"res\":1,\"profile\":\"each\""),
         "profiles['each'].cpu: operations are counted: say how many"},
        {"{\"jobs\":[{\"subtime\":1}],\"profiles\":{}}", "jobs[0].id: must be a text"},
        {"{\"jobs\":[{\"id\":1,\"subtime\":1,\"res\":1,\"profile\":\"wait\"},"
         "{\"id\":\"x!1\",\"subtime\":1,\"res\":1,\"profile\":\"wait\"}]," PROFILES "}",
         "two jobs have the id 1"}};
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct read read;
        read_text(&read, wrong[i][0], 0);
        assert_int_equal(read.rc, PLEAT_E_INVALID);
        if (!strstr(read.err.text, wrong[i][1]))
            fail_msg("%s: %s", wrong[i][1], read.err.text);
        assert_int_equal(read.workload.jobs.count, 0);
        drop(&read);
    }
}

#define MODEL                                                                                      \
    "\"application_model\":{\"on_init\":[{\"type\":\"pfs_read\",\"bytes\":1e9,"                    \
    "\"pattern\":\"total\"}],\"on_reconfiguration\":{\"tasks\":[{\"type\":\"idle\","               \
    "\"delay\":\"2\",\"pattern\":\"uniform\"}]},\"phases\":[{\"iterations\":\"rounds\",\"tasks\":" \
    "[{\"type\":\"cpu\",\"flops\":\"work/num_nodes^0.5\",\"computation_pattern\":\"uniform\"},"    \
    "{\"type\":\"sequence\",\"iterations\":2,\"tasks\":[{\"type\":\"busy_wait\",\"delay\":1}]}]}," \
    "{\"scheduling_point\":false,\"tasks\":[{\"type\":\"cpu\",\"flops\":8e9,"                      \
    "\"computation_pattern\":\"total\"}]}]}"

static void test_elastisim(void **state)
{
    struct read read;
    (void)state;
    read_text(&read,
              "{\"jobs\":[{\"type\":\"rigid\",\"submit_time\":0,\"num_nodes\":4,\"walltime\":60,"
              "\"arguments\":{\"rounds\":3,\"work\":4e9},\"attributes\":{\"priority\":7}," MODEL
              "},{\"type\":\"Malleable\",\"submit_time\":10,\"num_nodes_min\":1,"
              "\"num_nodes_max\":4,\"arguments\":{\"rounds\":\"1+2\",\"work\":4e9}," MODEL
              "},{\"type\":\"evolving\",\"submit_time\":10}]}",
              1e9);
    if (read.rc)
        fail_msg("%s", read.err.text);
    assert_int_equal(read.workload.jobs.count, 2);
    const struct pleat_workload_job *jobs = read.workload.jobs.items;
    /* 3 x (4e9 / 2 operations + 2 s), then 8e9 / 4 */
    assert_int_equal(jobs[0].run_us, 14000000);
    assert_int_equal(jobs[0].estimate_us, 60000000);
    assert_int_equal(jobs[0].priority, 7);
    assert_int_equal(jobs[0].kind, PLEAT_RIGID);
    assert_int_equal(jobs[1].kind, PLEAT_MALLEABLE);
    assert_int_equal(jobs[1].minimum, 1);
    assert_int_equal(jobs[1].maximum, 4);
    const struct pleat_app *app = &read.workload.apps.items[jobs[1].app];
    assert_int_equal(app->speedup.kind, PLEAT_SPEEDUP_TABLE);
    assert_int_equal(app->speedup.count, 4);
    const struct pleat_table_row *rows = &read.workload.table.items[app->speedup.first];
    assert_int_equal(rows[0].processors, 1);
    assert_int_equal(rows[0].run_us, 26000000); /* 3 x (4 + 2) + 8 */
    assert_int_equal(rows[3].run_us, 14000000);
    assert_int_equal(app->iterations, 3);
    assert_int_equal(app->cost.fixed_us, 2000000);
    assert_string_equal(app->name, "file");
    assert_non_null(strstr(read.reading.notes.text, "1 job left out (the first is jobs[2])"));
    assert_non_null(strstr(read.reading.notes.text, "2 jobs have messages or files"));
    assert_int_equal(pleat_workload_check(&read.workload, &read.err), 0);
    drop(&read);
}

/* A job of up to 1000 nodes has a table of no more rows than are needed. */
static void test_many_sizes(void **state)
{
    struct read read;
    (void)state;
    read_text(&read,
              "{\"jobs\":[{\"type\":\"moldable\",\"submit_time\":0,\"num_nodes_min\":2,"
              "\"num_nodes_max\":1000,\"application_model\":{\"phases\":[{\"tasks\":[{\"type\":"
              "\"idle\",\"delay\":\"1000/num_nodes\"}]}]}}]}",
              0);
    assert_int_equal(read.rc, 0);
    const struct pleat_speedup *speedup = &read.workload.apps.items[1].speedup;
    const struct pleat_table_row *rows = &read.workload.table.items[speedup->first];
    assert_true(speedup->count > 40 && speedup->count < 80);
    assert_int_equal(rows[0].processors, 2);
    assert_int_equal(rows[speedup->count - 1].processors, 1000);
    assert_int_equal(rows[speedup->count - 1].run_us, 1000000);
    drop(&read);
}

#define ELASTIC(rest) "{\"jobs\":[{\"type\":\"rigid\",\"submit_time\":0,\"num_nodes\":1," rest "}]}"

static void test_wrong_elastisim(void **state)
{
    static const char *const wrong[][2] = {
        {"{\"jobs\":[{\"submit_time\":0}]}", "jobs[0].type: is missing"},
        {"{\"jobs\":[{\"type\":\"soft\"}]}", "jobs[0].type: 'soft' is none of"},
        {"{\"jobs\":[{\"type\":\"moldable\",\"num_nodes_min\":4,\"num_nodes_max\":2}]}",
         "jobs[0].num_nodes_max: is less"},
        {ELASTIC("\"walltime\":0"), "jobs[0].application_model: must be the path"},
        {ELASTIC("\"application_model\":\"/no/such.json\""), "cannot open /no/such.json"},
        {ELASTIC("\"application_model\":\"/dev/zero\""), "no plain file"},
        {ELASTIC("\"application_model\":{}"), "phases: a list of phases"},
        {ELASTIC("\"application_model\":{\"phases\":[{\"tasks\":[{\"type\":\"nap\"}]}]}"),
         "phases[0].tasks[0].type: 'nap' is none of"},
        {ELASTIC("\"application_model\":{\"phases\":[{\"tasks\":[{\"type\":\"idle\",\"delay\":"
                 "\"3*x\"}]}]}"),
         "phases[0].tasks[0].delay: '3*x', character 3: there is no such variable"},
        {ELASTIC(
             "\"application_model\":{\"phases\":[{\"tasks\":[{\"type\":\"cpu\",\"flops\":1}]}]}"),
         "tasks[0].flops: operations are counted"},
        {ELASTIC("\"application_model\":{\"phases\":[{\"tasks\":[{\"type\":\"idle\",\"delay\":"
                 "\"1-num_nodes*2\"}]}]}"),
         "is -1 with num_nodes = 1"}};
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct read read;
        read_text(&read, wrong[i][0], 0);
        assert_int_equal(read.rc, PLEAT_E_INVALID);
        if (!strstr(read.err.text, wrong[i][1]))
            fail_msg("%s: %s", wrong[i][1], read.err.text);
        drop(&read);
    }
}

/* ---- platforms ---- */

static void test_simgrid(void **state)
{
    static const char text[] =
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
        "<platform version=\"4.1\"><zone id=\"town\" routing=\"Full\">\n"
        "<cluster id=\"red\" prefix=\"r\" suffix=\"\" radical=\"0-9,20,30-31\" speed=\"2Gf\" "
        "core=\"4\" "
        "bw=\"1GBps\" lat=\"1us\"/>\n"
        "<zone id=\"hall\" routing=\"Full\">\n"
        "<host id=\"master_host0\" speed=\"1Gf\"/>\n"
        "<host id=\"a\" speed=\"1Gf,500Mf\"/><host id=\"b\" speed=\"1e9\"/><host id=\"c\" "
        "speed=\"4Gf\"/>\n"
        "<host id=\"disk\" speed=\"1Gf\"><prop id=\"pfs_host\" value=\"true\"/></host>\n"
        "<link id=\"l\" bandwidth=\"1GBps\" latency=\"1us\"/></zone></zone></platform>\n";
    struct pleat_platform platform = {0};
    struct pleat_string notes = {0};
    struct pleat_error err = {0};
    (void)state;
    int rc = pleat_simgrid_read_text(text, strlen(text), "p.xml", &platform, &notes, &err);
    if (rc)
        fail_msg("%s", err.text);
    static const struct {
        const char *name;
        int32_t nodes;
        double speed;
    } wanted[] = {{"red", 13, 1}, {"hall", 2, 0.5}, {"hall-2", 1, 2}};
    assert_int_equal(platform.sites.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(platform.sites.items[i].name, wanted[i].name);
        assert_int_equal(platform.sites.items[i].nodes, wanted[i].nodes);
        assert_true(fabs(platform.sites.items[i].speed - wanted[i].speed) < 1e-12);
    }
    assert_true(fabs(platform.flops - 2e9) < 1);
    assert_string_equal(notes.text, "2 hosts left out: a master, a storage, or of speed 0\n"
                                    "1 link not read: moving data takes no time here\n");
    pleat_platform_finish(&platform);
    pleat_string_finish(&notes);
}

static void test_wrong_simgrid(void **state)
{
    static const char *const wrong[][2] = {
        {"<platform>", "p.xml:1: this is no XML"},
        {"<platform/>", "no host that computes"},
        {"<p>\n<host id='a'/></p>", "p.xml:2: <host>: needs id and speed"},
        {"<p><host id='a' speed='fast'/></p>", "<host>: speed is a number"},
        {"<p><cluster id='a' speed='1Gf'/></p>", "<cluster>: radical must list"},
        {"<p><cluster id='a' speed='1Gf' radical='5-2'/></p>", "<cluster>: radical must list"},
        {"<p><cluster id='a' speed='1Gf' radical='0-999999999'/></p>", "too many hosts"},
        {"<p><host id='a' speed='1Gf'/><host id='b' speed='9Tf'/></p>", "not from 0.001 to 1000"},
        {"<!DOCTYPE p [<!ENTITY e 'x'>]><p/>", "declares entities"}};
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct pleat_platform platform = {0};
        struct pleat_error err = {0};
        int rc = pleat_simgrid_read_text(wrong[i][0], strlen(wrong[i][0]), "p.xml", &platform, NULL,
                                         &err);
        assert_int_equal(rc, PLEAT_E_INVALID);
        if (!strstr(err.text, wrong[i][1]))
            fail_msg("%s: %s", wrong[i][1], err.text);
        assert_int_equal(platform.sites.count, 0);
        pleat_platform_finish(&platform);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formulas),        cmocka_unit_test(test_wrong_formulas),
        cmocka_unit_test(test_batsim),          cmocka_unit_test(test_wrong_batsim),
        cmocka_unit_test(test_elastisim),       cmocka_unit_test(test_many_sizes),
        cmocka_unit_test(test_wrong_elastisim), cmocka_unit_test(test_simgrid),
        cmocka_unit_test(test_wrong_simgrid)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
