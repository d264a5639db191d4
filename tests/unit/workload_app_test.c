/* Applications as users write them: every word, there and back, and what is refused. */
#include "test.h"

#include <string.h>

#include "workload/convert.h"

#define S INT64_C(1000000)

static void begin(struct pleat_workload *workload)
{
    memset(workload, 0, sizeof(*workload));
    assert_int_equal(pleat_workload_init(workload), 0);
}

static struct pleat_app parse(struct pleat_workload *workload, const char *text)
{
    struct pleat_app app;
    struct pleat_error err;
    if (pleat_app_parse(text, workload, &app, &err))
        fail_msg("%s", err.text);
    return app;
}

static void test_speedups(void **state)
{
    (void)state;
    struct pleat_workload workload;
    begin(&workload);
    struct pleat_app app = parse(&workload, "linear");
    assert_int_equal(app.speedup.kind, PLEAT_SPEEDUP_LINEAR);
    app = parse(&workload, " amdahl:0.02 ");
    assert_int_equal(app.speedup.kind, PLEAT_SPEEDUP_AMDAHL);
    assert_true(app.speedup.serial == 0.02);
    app = parse(&workload, "downey:32,0.5");
    assert_int_equal(app.speedup.kind, PLEAT_SPEEDUP_DOWNEY);
    assert_true(app.speedup.parallelism == 32 && app.speedup.sigma == 0.5);
    (void)parse(&workload, "table:7=1");
    app = parse(&workload, "table:1=600,2=5.5min,4=200s");
    assert_int_equal(app.speedup.kind, PLEAT_SPEEDUP_TABLE);
    assert_int_equal(app.speedup.first, 1);
    assert_int_equal(app.speedup.count, 3);
    assert_int_equal(workload.table.items[1].processors, 1);
    assert_int_equal(workload.table.items[1].run_us, 600 * S);
    assert_int_equal(workload.table.items[2].run_us, 330 * S);
    assert_int_equal(workload.table.items[3].processors, 4);
    pleat_workload_finish(&workload);
}

static void test_options(void **state)
{
    (void)state;
    struct pleat_workload workload;
    begin(&workload);
    struct pleat_app app = parse(
        &workload, "amdahl:0.02; adapt=30s iterations=100;resize=2s volume=1e9\tbandwidth=5e8 "
                   "measured=2-4=1.5s,4-2=700ms mpl-overhead=0.1 imbalance=.2 local-queues "
                   "phases=0:1-8,0.8:1-2 component=4 work=20 name=cg.A;");
    assert_int_equal(app.adapt_us, 30 * S);
    assert_int_equal(app.iterations, 100);
    assert_int_equal(app.cost.fixed_us, 2 * S);
    assert_true(app.cost.bytes == 1e9 && app.cost.bandwidth == 5e8);
    assert_int_equal(app.cost.count, 2);
    assert_int_equal(workload.costs.items[0].from, 2);
    assert_int_equal(workload.costs.items[0].to, 4);
    assert_int_equal(workload.costs.items[0].us, 1500000);
    assert_int_equal(workload.costs.items[1].us, 700000);
    assert_true(app.mpl_overhead == 0.1 && app.imbalance == 0.2 && app.local_queues);
    assert_int_equal(app.phase_count, 2);
    assert_true(workload.phases.items[1].at == 0.8);
    assert_int_equal(workload.phases.items[0].maximum, 8);
    assert_int_equal(app.component, 4);
    assert_int_equal(app.work, 20);
    assert_string_equal(app.name, "cg.A");
    pleat_workload_finish(&workload);
}

static void test_times(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t us;
    } rows[] = {{"linear adapt=1", S},          {"linear adapt=1s", S},
                {"linear adapt=1ms", 1000},     {"linear adapt=1us", 1},
                {"linear adapt=1m", 60 * S},    {"linear adapt=1min", 60 * S},
                {"linear adapt=2h", 7200 * S},  {"linear adapt=0.25h", 900 * S},
                {"linear adapt=1e3", 1000 * S}, {"linear adapt=0.000001s", 1}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct pleat_workload workload;
        begin(&workload);
        assert_int_equal(parse(&workload, rows[i].text).adapt_us, rows[i].us);
        pleat_workload_finish(&workload);
    }
}

/* What is written reads as the same, and is written the same again. */
static void test_there_and_back(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "linear",
        "amdahl:0.02",
        "amdahl:0.10000000000000002 adapt=0.000001s",
        "downey:32.5,1.25 iterations=7",
        "table:1=600,2=330.5,4=200 resize=2s volume=1000000000 bandwidth=12345678.9",
        "linear measured=1-2=1s,2-1=0.5s mpl-overhead=0.1 imbalance=0.2 local-queues",
        "linear phases=0.5:1-8,0.80000000000000004:1-2 component=4 work=20 name=a-b_c.d/e",
        "linear component=4 work=20 gives-back inputs=1@0:5000000000,1@2:5000000000,7@1:0.5",
        "linear iterations=3000 objects=10 gain=10/100 spread=0.09 notices=10 balanced name=cfd",
        "linear iterations=3000 objects=10 gain=10/100 loses=150/20 name=cfd",
        "linear iterations=3000 objects=10 gain=10/100 loses=150 name=cfd",
        "linear iterations=9 objects=1 gain=1/3 spread=0.09 varies=iteration name=uneven",
        "linear iterations=9 asks=0:+4,0.5:must+8,0.75:-2 name=evolving",
        "linear adapt=5s asks=0.75:must+8 sections=20x0.0125 name=careful",
    };
    struct pleat_workload workload;
    begin(&workload);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct pleat_string out = {0}, again = {0};
        struct pleat_app app = parse(&workload, texts[i]);
        pleat_app_format(&workload, &app, &out);
        struct pleat_app other = parse(&workload, out.text);
        pleat_app_format(&workload, &other, &again);
        assert_string_equal(out.text, again.text);
        assert_string_equal(out.text, i == 6 ? "linear phases=0.5:1-8,0.8:1-2 component=4 work=20 "
                                               "name=a-b_c.d/e"
                                             : texts[i]);
        assert_true(app.speedup.serial == other.speedup.serial);
        pleat_string_finish(&out);
        pleat_string_finish(&again);
    }
    pleat_workload_finish(&workload);
}

static void test_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"", "begins with linear"},
        {"; ", "begins with linear"},
        {"fast", "'fast': an application begins with linear"},
        {"linear2", "'linear2': expected something like linear"},
        {"amdahl", "begins with linear"},
        {"amdahl:", "'amdahl:': expected something like amdahl:0.02"},
        {"amdahl:2%", "'amdahl:2%'"},
        {"amdahl:-0.1", "'amdahl:-0.1'"},
        {"amdahl: 0.1", "'amdahl:'"},
        {"amdahl:nan", "'amdahl:nan'"},
        {"amdahl:1e999", "'amdahl:1e999'"},
        {"amdahl:1.5", "the serial fraction is not from 0 to 1"},
        {"downey:3", "'downey:3': expected something like downey:32,0.5"},
        {"downey:0.5,1", "average parallelism"},
        {"table:", "'table:'"},
        {"table:1=600,", "'table:1=600,'"},
        {"table:2=1,1=2", "do not increase"},
        {"table:1=0", "not above 0"},
        {"table:99999999999=1", "'table:99999999999=1'"},
        {"linear adapt", "'adapt': there are adapt="},
        {"linear adapt=", "'adapt=': expected something like adapt=30s"},
        {"linear adapt=-1s", "'adapt=-1s'"},
        {"linear adapt=1d", "'adapt=1d'"},
        {"linear adapt=1sec", "'adapt=1sec'"},
        {"linear adapt=1e11s", "'adapt=1e11s'"},
        {"linear adapt=99999999h", "'adapt=99999999h'"},
        {"linear adapt=1s adapt=2s", "adapt= is there twice"},
        {"linear iterations=1.5", "'iterations=1.5'"},
        {"linear volume=1e9", "bandwidth is not above 0"},
        {"linear measured=2=1s", "'measured=2=1s'"},
        {"linear local-queues=yes", "'local-queues=yes'"},
        {"linear phases=1:1-8", "increasing shares"},
        {"linear phases=0.5:8-1", "limits"},
        {"linear asks=0.5:4", "'asks=0.5:4'"},
        {"linear asks=0.5:must-4", "'asks=0.5:must-4'"},
        {"linear asks=0.5:must4", "'asks=0.5:must4'"},
        {"linear asks=1:+4", "increasing shares"},
        {"linear asks=0.5:+4,0.5:-4", "increasing shares"},
        {"linear asks=0.5:+0", "no processors"},
        {"linear component=4 work=20 asks=0.5:+4", "does not ask"},
        {"linear sections=20", "'sections=20'"},
        {"linear sections=0x0.1", "'sections=0x0.1'"},
        {"linear sections=2000000x1e-9", "not from 1 to 1000000"},
        {"linear sections=4x0.25", "or all of it"},
        {"linear sections=4x0", "none of its work"},
        {"linear component=4 work=20 sections=4x0.1", "has no sections"},
        {"linear asks=0.5:must+4 sections=1x0.1", "at 0.5 of its work it cannot go on"},
        {"linear gives-back", "what gives back"},
        {"linear inputs=1@0", "inputs=1@0:5e9"},
        {"linear inputs=1@5000:1", "input file"},
        {"linear component=4", "component and work"},
        {"linear iterations=9 objects=10", "objects, gain and iterations"},
        {"linear objects=10 gain=10/100", "objects, gain and iterations"},
        {"linear iterations=9 objects=10 gain=10", "'gain=10'"},
        {"linear balanced", "objects, gain and iterations"},
        {"linear iterations=9 objects=1 gain=1/1 spread=0.3", "from 0 to 0.25"},
        {"amdahl:0.1 iterations=9 objects=1 gain=1/1", "is linear"},
        {"linear name=", "'name='"},
        {"linear name=abcdefghijklmnopqrstuvwxyz012345", "up to 31 characters"},
    };
    struct pleat_workload workload;
    begin(&workload);
    parse(&workload, "table:1=2,2=1 measured=1-2=1 phases=0.5:1-2");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct pleat_app app = {.iterations = 12345};
        struct pleat_error err = {0};
        assert_int_equal(pleat_app_parse(rows[i].text, &workload, &app, &err), PLEAT_E_INVALID);
        if (!strstr(err.text, rows[i].says) || strncmp(err.text, "application '", 13) != 0)
            fail_msg("'%s' gave: %s", rows[i].text, err.text);
        assert_int_equal(app.iterations, 12345);
        assert_int_equal(workload.table.count, 2);
        assert_int_equal(workload.costs.count, 1);
        assert_int_equal(workload.phases.count, 1);
    }
    pleat_workload_finish(&workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_speedups), cmocka_unit_test(test_options),
        cmocka_unit_test(test_times),    cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
