/* Grid mixes: the file and its errors, what is drawn, the workload and the job mix made of it. */
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workload/grid.h"

static void read_mix(const char *text, struct pleat_grid_mix *mix)
{
    struct pleat_error err = {0};
    memset(mix, 0, sizeof(*mix));
    if (pleat_grid_mix_read_text(text, "the mix", mix, &err))
        fail_msg("%s", err.text);
}

/* Draws, and checks what holds for every draw. */
static void draw_mix(const struct pleat_grid_mix *mix, uint64_t seed, struct pleat_grid_draw *draw)
{
    struct pleat_error err = {0};
    memset(draw, 0, sizeof(*draw));
    if (pleat_grid_draw(mix, seed, draw, &err))
        fail_msg("%s", err.text);
    assert_int_equal(draw->jobs, mix->jobs);
    assert_true(draw->list.count >= draw->jobs);
    uint32_t job = 0, component = 0, components = 0;
    int64_t size = 0, maximum = 0, last = 0;
    for (size_t i = 0; i < draw->list.count; i++) {
        const struct pleat_grid_component *c = &draw->list.items[i];
        if (c->job != job) {
            assert_int_equal(component, components);
            assert_int_equal(c->job, job + 1);
            job = c->job;
            component = 0;
            components = c->components;
            size = maximum = 0;
        }
        assert_int_equal(c->component, ++component);
        assert_int_equal(c->components, components);
        assert_true(c->submit_us >= last && c->run_us >= 1);
        assert_true(c->minimum >= 1 && c->minimum <= c->size && c->size <= c->maximum);
        assert_true(c->initial == 0 || (c->initial >= c->minimum && c->initial <= c->maximum));
        last = c->submit_us;
        size += c->size;
        maximum += c->maximum;
        assert_true(mix->total == 0 || (size <= mix->total && maximum <= mix->total));
    }
    assert_int_equal(component, components);
}

static void finish(struct pleat_grid_mix *mix, struct pleat_grid_draw *draw)
{
    pleat_grid_draw_finish(draw);
    pleat_grid_mix_finish(mix);
}

/* ---- the file ---- */

static void test_all_keys(void **state)
{
    (void)state;
    struct pleat_grid_mix mix;
    read_mix("jobs = 7\n"
             "gap = \"uniform:1,3\" # seconds\n"
             "total = 64\n"
             "estimate = 2.5\n"
             "sites = {\"delft\", \"leiden:32\"}\n"
             "type \"bt\" {\n"
             "  weight = 2\n"
             "  command = \"./bt {size}\"\n"
             "  options = \"--runner mpi\"\n"
             "  model = \"amdahl:0.1\"\n"
             "  placement = semi-fixed\n"
             "  components = \"discrete:1=1,3=1\"\n"
             "  size = \"uniform:2,20\"\n"
             "  run = \"normal:60,10\"\n"
             "  step = 20\n"
             "  kind = malleable\n"
             "  minimum = 0.5\n"
             "  maximum = 3\n"
             "  initial = 1\n"
             "  accepts = \"multiples:2\"\n"
             "}\n"
             "type sum { run = 5 }\n",
             &mix);
    assert_int_equal(mix.jobs, 7);
    assert_true(mix.gap.kind == PLEAT_DIST_UNIFORM && mix.gap.b == 3);
    assert_int_equal(mix.total, 64);
    assert_true(mix.estimate == 2.5);
    assert_int_equal(mix.sites.count, 2);
    assert_string_equal(mix.sites.items[0].name, "delft");
    assert_int_equal(mix.sites.items[0].processors, 0);
    assert_int_equal(mix.sites.items[1].processors, 32);
    assert_int_equal(mix.types.count, 2);
    const struct pleat_grid_type *bt = &mix.types.items[0], *sum = &mix.types.items[1];
    assert_string_equal(bt->name, "bt");
    assert_string_equal(bt->command, "./bt {size}");
    assert_string_equal(bt->options, "--runner mpi");
    assert_string_equal(bt->model, "amdahl:0.1");
    assert_true(bt->weight == 2 && bt->step_ms == 20);
    assert_true(bt->minimum == 0.5 && bt->maximum == 3 && bt->initial == 1);
    assert_int_equal(bt->placement, PLEAT_GRID_SEMI_FIXED);
    assert_int_equal(bt->kind, PLEAT_MALLEABLE);
    assert_true(bt->sizes_kind == PLEAT_SIZES_MULTIPLES && bt->sizes_step == 2);
    assert_int_equal(bt->components.kind, PLEAT_DIST_DISCRETE);
    assert_true(bt->size.b == 20 && bt->run.a == 60);
    assert_true(sum->command == NULL && sum->model == NULL && sum->weight == 1);
    assert_true(sum->kind == PLEAT_RIGID && sum->placement == PLEAT_GRID_NON_FIXED);
    assert_true(sum->size.a == 1 && sum->components.a == 1 && sum->run.a == 5);
    pleat_grid_mix_finish(&mix);
    assert_null(mix.types.items);
}

static void test_errors_name_the_line(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"jobs = 0\ntype a { run = 1 }", "the mix:1: jobs = 0: must be from 1"},
        {"\n\ngap = \"normal:60\"\ntype a { run = 1 }",
         "the mix:3: gap: normal needs two numbers, mean and standard deviation, as in "
         "normal:60,10"},
        {"estimate = 0.5", "the mix:1: estimate = 0.5"},
        {"estimate = popularity", "the mix:1: estimate = popularity: must be from 1 to"},
        {"estimate = \"popular:60\"", "the mix:1: estimate = popular:60"},
        {"estimate = \"popular:\"", "the mix:1: estimate = popular:"},
        {"estimate = \"popular:8000x\"", "the mix:1: estimate = popular:8000x"},
        {"total = -1", "the mix:1: total = -1"},
        {"sites = {\"a b\"}", "the mix:1: sites: 'a b' is not a site"},
        {"sites = {\"a\",\n\"b:0\"}", "the mix:2: sites: 'b:0' is not a site"},
        {"speed = 3", "the mix:1: no such option 'speed'"},
        {"jobs = 3", "the mix: no type of jobs has a weight above 0"},
        {"type a { weight = 0\n run = 1 }", "the mix: no type of jobs"},
        {"type a {\n size = 1\n}", "the mix:3: type a: 'run' is missing"},
        {"type a {\n run = 1\n kind = folding\n}", "the mix:3: kind = folding: must be rigid"},
        {"type a {\n placement = far\n}", "the mix:2: placement = far: must be non-fixed"},
        {"type a {\n run = 1\n placement = fixed\n}", "the mix:4: type a: fixed components need"},
        {"type a {\n accepts = \"2,4\"\n}",
         "the mix:2: accepts: accepted sizes '2,4': expected any"},
        {"type a {\n run = 1\n accepts = table\n}",
         "the mix:4: type a: accepts = table, model: the accepted sizes are those of"},
        {"type a {\n run = 1\n accepts = table\n model = \"amdahl:0.1\"\n}",
         "the mix:5: type a: accepts = table, model: the accepted sizes are those of"},
        {"type a {\n model = \"amdahl:7\"\n}", "the mix:2: model: "},
        {"type a {\n command = \"x {siz}\"\n}", "the mix:2: command: {siz} is nothing that is"},
        {"type a {\n command = \"x {size\"\n}", "the mix:2: command: 'x {size': a lone {"},
        {"type a {\n options = \"x }\"\n}", "the mix:2: options: 'x }': a lone }"},
        {"type a {\n run = 1\n command = \"x {steps}\"\n}",
         "the mix:4: type a: {steps} needs 'step'"},
        {"type a {\n run = 1\n kind = malleable\n minimum = 2\n}",
         "the mix:5: type a: minimum (0 to 1)"},
        {"type a {\n run = 1\n kind = malleable\n initial = 9\n}",
         "the mix:5: type a: initial must be"},
        {"type \"a b\" { run = 1 }", "the mix:1: type \"a b\": a name is of letters"},
        {"type a { run = 1 }\ntype a { run = 2 }", "the mix:2: "},
        {"# x\ntype a {\n run = 1\n", "the mix:2: the section that begins here does not end"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct pleat_grid_mix mix = {0}, zero = {0};
        struct pleat_error err = {0};
        assert_int_equal(pleat_grid_mix_read_text(bad[i][0], "the mix", &mix, &err),
                         PLEAT_E_INVALID);
        if (strncmp(err.text, bad[i][1], strlen(bad[i][1])) != 0)
            fail_msg("'%s': %s", bad[i][0], err.text);
        assert_memory_equal(&mix, &zero, sizeof(mix));
    }
}

static void test_file(void **state)
{
    (void)state;
    char path[] = "/tmp/pleat-grid-XXXXXX";
    struct pleat_grid_mix mix = {0};
    struct pleat_error err = {0};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_true(write(fd, "type a { run = 1 }", 18) == 18);
    close(fd);
    int status = pleat_grid_mix_read(path, &mix, &err);
    unlink(path);
    assert_int_equal(status, 0);
    assert_int_equal(mix.types.count, 1);
    pleat_grid_mix_finish(&mix);
    assert_int_equal(pleat_grid_mix_read(path, &mix, &err), PLEAT_E_NOTFOUND);
    assert_non_null(strstr(err.text, path));
}

/* ---- drawing ---- */

/* Lammers 2005, 3.9.1 to 3.9.3: 100 jobs, half of them fixed, 1 to 4 components of 2 to 20
 * processors, a Poisson process of one job a second; here more of them, to measure. */
static const char experiment[] =
    "jobs = 20000\n"
    "gap = \"poisson:1\"\n"
    "sites = {\"vu:144\", \"leiden:64\", \"nikhef:64\", \"delft:64\", \"utrecht:64\"}\n"
    "type pi-fixed { placement = fixed components = \"uniform:1,4\" size = \"uniform:2,20\" "
    "run = \"normal:40,5\" command = \"pi {size}\" }\n"
    "type pi-free { components = \"uniform:1,4\" size = \"uniform:2,20\" run = \"normal:40,5\" "
    "command = \"pi {size}\" }\n";

static void test_shares(void **state)
{
    (void)state;
    struct pleat_grid_mix mix;
    struct pleat_grid_draw draw;
    size_t fixed = 0, components[5] = {0}, sizes[21] = {0}, sites[5] = {0}, placed = 0;
    read_mix(experiment, &mix);
    draw_mix(&mix, 1, &draw);
    for (size_t i = 0; i < draw.list.count; i++) {
        const struct pleat_grid_component *c = &draw.list.items[i];
        assert_in_range(c->size, 2, 20);
        assert_true((c->site != PLEAT_NONE) == (c->type == 0));
        sizes[c->size]++;
        if (c->component == 1) {
            assert_in_range(c->components, 1, 4);
            components[c->components]++;
            fixed += c->type == 0;
        }
        if (c->site != PLEAT_NONE) {
            sites[c->site]++;
            placed++;
        }
    }
    /* shares within 4 sigma */
    double n = 20000;
    assert_true(fabs((double)fixed - n / 2) < 4 * sqrt(n / 4));
    for (int i = 1; i <= 4; i++)
        assert_true(fabs((double)components[i] - n / 4) < 4 * sqrt(n * 3 / 16));
    double all = (double)draw.list.count;
    for (int i = 2; i <= 20; i++)
        assert_true(fabs((double)sizes[i] - all / 19) < 4 * sqrt(all * 18 / 361));
    for (int i = 0; i < 5; i++)
        assert_true(fabs((double)sites[i] - (double)placed / 5) <
                    4 * sqrt((double)placed * 4 / 25));
    assert_int_equal(draw.capped, 0);
    double last = (double)draw.list.items[draw.list.count - 1].submit_us / 1e6;
    assert_true(fabs(last / (n - 1) - 1) < 4 / sqrt(n));
    assert_int_equal(draw.list.items[0].submit_us, 0);
    finish(&mix, &draw);
}

static void test_semi_fixed(void **state)
{
    (void)state;
    struct pleat_grid_mix mix;
    struct pleat_grid_draw draw;
    read_mix("jobs = 3000\nsites = {\"a\", \"b\"}\n"
             "type x { placement = semi-fixed components = \"uniform:1,4\" run = 1 }",
             &mix);
    draw_mix(&mix, 2, &draw);
    uint32_t fixed = 0, most = 0;
    for (size_t i = 0; i < draw.list.count; i++) {
        const struct pleat_grid_component *c = &draw.list.items[i];
        fixed = c->component == 1 ? 0 : fixed;
        fixed += c->site != PLEAT_NONE;
        if (c->component < c->components)
            continue;
        if (c->components == 1)
            assert_int_equal(fixed, 0);
        else
            assert_in_range(fixed, 1, c->components - 1);
        most = fixed > most ? fixed : most;
    }
    assert_int_equal(most, 3);
    finish(&mix, &draw);
}

/* Lammers 2005, 3.9.4: jobs of up to 4 x 20 processors for a site of 64. */
static void test_total(void **state)
{
    (void)state;
    struct pleat_grid_mix mix;
    struct pleat_grid_draw draw;
    read_mix(experiment, &mix);
    mix.total = 64;
    mix.jobs = 5000;
    draw_mix(&mix, 3, &draw);
    assert_true(draw.capped > 10 && draw.capped < 1000);
    finish(&mix, &draw);
    read_mix("jobs = 1000\ntotal = 20\ntype x { components = 4 size = \"uniform:1,20\" "
             "kind = malleable accepts = squares run = 1 }",
             &mix);
    draw_mix(&mix, 4, &draw);
    bool fewer = false;
    for (size_t i = 0; i < draw.list.count; i++) {
        int32_t root = (int32_t)lround(sqrt(draw.list.items[i].size));
        assert_int_equal(root * root, draw.list.items[i].size);
        fewer = fewer || draw.list.items[i].components < 4;
    }
    assert_true(fewer);
    finish(&mix, &draw);
}

static void test_sites_hold(void **state)
{
    (void)state;
    struct pleat_grid_mix mix;
    struct pleat_grid_draw draw;
    read_mix("jobs = 500\nsites = {\"small:4\", \"large:9\"}\n"
             "type x { placement = fixed size = \"uniform:1,20\" kind = malleable run = 1 }\n"
             "type y { size = \"uniform:1,20\" run = 1 }",
             &mix);
    draw_mix(&mix, 5, &draw);
    int32_t most[3] = {0};
    for (size_t i = 0; i < draw.list.count; i++) {
        const struct pleat_grid_component *c = &draw.list.items[i];
        int32_t *here = &most[c->site == PLEAT_NONE ? 2 : c->site];
        *here = c->maximum > *here ? c->maximum : *here;
    }
    assert_true(most[0] == 4 && most[1] == 9 && most[2] == 9);
    assert_true(draw.capped > 100);
    finish(&mix, &draw);
}

static void test_limits(void **state)
{
    (void)state;
    struct pleat_grid_mix mix;
    struct pleat_grid_draw draw;
    read_mix("jobs = 10\nestimate = 3\ntype x { size = 10 kind = malleable minimum = 0.25 "
             "maximum = 2.5 initial = 0.5 run = 8 }",
             &mix);
    draw_mix(&mix, 6, &draw);
    for (size_t i = 0; i < draw.list.count; i++) {
        const struct pleat_grid_component *c = &draw.list.items[i];
        assert_true(c->minimum == 3 && c->maximum == 25 && c->initial == 5);
        assert_true(c->run_us == 8000000);
        assert_true(c->estimate_us >= 8000000 && c->estimate_us <= 24000000);
    }
    finish(&mix, &draw);
    read_mix("jobs = 10\ntype x { size = 9 kind = malleable initial = 0.3 accepts = squares "
             "run = 8 }",
             &mix);
    draw_mix(&mix, 6, &draw);
    /* from 3 to 18; 0.3 x 9 = 2.7 is no square, and the largest below it is less than 3 */
    assert_true(draw.list.items[0].minimum == 3 && draw.list.items[0].initial == 4);
    finish(&mix, &draw);
}

static void test_nothing_fits(void **state)
{
    (void)state;
    struct pleat_grid_mix mix;
    struct pleat_grid_draw draw = {0}, zero = {0};
    struct pleat_error err = {0};
    read_mix("total = 3\ntype x { accepts = \"multiples:4\" run = 1 }", &mix);
    assert_int_equal(pleat_grid_draw(&mix, 1, &draw, &err), PLEAT_E_INVALID);
    assert_non_null(strstr(err.text, "type x: a job of it has no component that fits"));
    assert_memory_equal(&draw, &zero, sizeof(draw));
    mix.jobs = 0;
    assert_int_equal(pleat_grid_draw(&mix, 1, &draw, &err), PLEAT_E_INVALID);
    mix.jobs = 1;
    mix.total = -1;
    assert_int_equal(pleat_grid_draw(&mix, 1, &draw, &err), PLEAT_E_INVALID);
    pleat_grid_mix_finish(&mix);
}

/* ---- the workload ---- */

static void test_workload(void **state)
{
    (void)state;
    struct pleat_grid_mix mix;
    struct pleat_grid_draw draw;
    struct pleat_workload w = {0};
    struct pleat_error err = {0};
    read_mix("jobs = 300\nsites = {\"a:32\", \"b:16\"}\nestimate = 2\n"
             "type x { placement = fixed components = 2 size = \"uniform:1,8\" run = 10 "
             "kind = malleable accepts = powers model = \"table:1=80,2=50,8=20;adapt=5s\" }\n"
             "type y { size = \"uniform:1,8\" run = \"poisson:10\" }",
             &mix);
    draw_mix(&mix, 7, &draw);
    assert_int_equal(pleat_workload_init(&w), 0);
    if (pleat_grid_workload(&mix, &draw, &w, &err) || pleat_workload_check(&w, &err))
        fail_msg("%s", err.text);
    assert_int_equal(w.machine, 48);
    assert_int_equal(w.apps.count, 3);
    assert_string_equal(w.apps.items[1].name, "x");
    assert_int_equal(w.apps.items[1].speedup.count, 3);
    assert_int_equal(w.jobs.count, draw.list.count);
    for (size_t i = 0; i < w.jobs.count; i++) {
        const struct pleat_workload_job *job = &w.jobs.items[i];
        const struct pleat_grid_component *c = &draw.list.items[i];
        assert_int_equal(job->number, i + 1);
        assert_int_equal(job->app, c->type + 1);
        assert_int_equal(job->processors, c->size);
        assert_true(job->minimum == c->minimum && job->maximum == c->maximum);
        assert_true(job->submit_us == c->submit_us && job->run_us == c->run_us);
        assert_true(job->estimate_us == c->estimate_us && job->site == c->site);
        assert_int_equal(job->kind, c->type ? PLEAT_RIGID : PLEAT_MALLEABLE);
        assert_int_equal(job->sizes_kind, c->type ? PLEAT_SIZES_ANY : PLEAT_SIZES_POWERS);
        if (c->component == 2) /* the components of a job come together */
            assert_true(job->submit_us == job[-1].submit_us);
    }
    pleat_workload_finish(&w);
    finish(&mix, &draw);
}

/* Sizes drawn, and those that a real run may take, are the table's. */
static void test_sizes_of_the_table(void **state)
{
    (void)state;
    struct pleat_grid_mix mix;
    struct pleat_grid_draw draw;
    struct pleat_workload w = {0};
    struct pleat_string text = {0};
    struct pleat_error err = {0};
    read_mix("jobs = 200\n"
             "type x { size = \"uniform:1,30\" run = 10 kind = malleable initial = 1 "
             "command = \"./x\" accepts = table model = \"table:4=80,9=50,25=20\" }",
             &mix);
    draw_mix(&mix, 7, &draw);
    assert_int_equal(pleat_workload_init(&w), 0);
    if (pleat_grid_workload(&mix, &draw, &w, &err) || pleat_workload_check(&w, &err) ||
        pleat_grid_text(&mix, &draw, &text, &err))
        fail_msg("%s", err.text);
    size_t seen[26] = {0};
    for (size_t i = 0; i < w.jobs.count; i++) {
        const struct pleat_workload_job *job = &w.jobs.items[i];
        assert_in_range(job->processors, 4, 25);
        assert_int_equal(job->sizes_kind, PLEAT_SIZES_LIST);
        assert_int_equal(job->initial, job->processors);
        seen[job->processors]++;
    }
    assert_true(seen[4] > 0 && seen[9] > 0 && seen[25] > 0);
    assert_int_equal(seen[4] + seen[9] + seen[25], 200);
    assert_non_null(strstr(text.text, " --sizes 4,9,25 "));
    pleat_string_finish(&text);
    pleat_workload_finish(&w);
    finish(&mix, &draw);
}

static void test_workload_unchanged_on_failure(void **state)
{
    (void)state;
    struct pleat_grid_mix mix;
    struct pleat_grid_draw draw;
    struct pleat_workload w = {0};
    struct pleat_error err = {0};
    read_mix("jobs = 3\ntype x { run = 1 model = \"table:1=2\" }\ntype y { run = 1 }", &mix);
    draw_mix(&mix, 7, &draw);
    mix.types.items[1].model = strdup("nonsense");
    assert_int_equal(pleat_workload_init(&w), 0);
    assert_int_equal(pleat_grid_workload(&mix, &draw, &w, &err), PLEAT_E_INVALID);
    assert_non_null(strstr(err.text, "type y: "));
    assert_true(w.apps.count == 1 && w.table.count == 0 && w.jobs.count == 0);
    finish(&mix, &draw);
    /* 1e9 s on a million processors are more than can be counted on one */
    read_mix("jobs = 1\ntype x { size = 1000000 kind = malleable minimum = 0 run = 1e9 }", &mix);
    draw_mix(&mix, 7, &draw);
    assert_int_equal(pleat_grid_workload(&mix, &draw, &w, &err), PLEAT_E_INVALID);
    assert_non_null(strstr(err.text, "job 1: "));
    assert_true(w.apps.count == 1 && w.jobs.count == 0 && w.machine == 0);
    pleat_workload_finish(&w);
    finish(&mix, &draw);
}

/* ---- the job mix ---- */

static void test_text(void **state)
{
    (void)state;
    struct pleat_grid_mix mix;
    struct pleat_grid_draw draw;
    struct pleat_string text = {0};
    struct pleat_error err = {0};
    read_mix("jobs = 2\ngap = 1.5\nsites = {\"here\"}\nestimate = 1\n"
             "type x { components = 2 placement = fixed size = 4 run = 3 kind = malleable "
             "initial = 1 accepts = powers step = 20 options = \"--asks\" "
             "command = \"./x {size} {min}-{max} {run} {step} {steps} {turns} {job}.{component} "
             "{{}}\" }",
             &mix);
    draw_mix(&mix, 9, &draw);
    assert_int_equal(pleat_grid_text(&mix, &draw, &text, &err), 0);
    assert_string_equal(
        text.text,
        "# 2 jobs drawn with seed 9, 4 components: NAME-JOB.COMPONENT; those of a job come at the "
        "same time,\n"
        "# each as a job of its own\n"
        "0 x-1.1 --min 1 --max 8 --initial 4 --sizes powers --site here --estimate 3s --asks -- "
        "./x 4 1-8 3 20 600 150 1.1 {}\n"
        "0 x-1.2 --min 1 --max 8 --initial 4 --sizes powers --site here --estimate 3s --asks -- "
        "./x 4 1-8 3 20 600 150 1.2 {}\n"
        "1.5 x-2.1 --min 1 --max 8 --initial 4 --sizes powers --site here --estimate 3s --asks -- "
        "./x 4 1-8 3 20 600 150 2.1 {}\n"
        "1.5 x-2.2 --min 1 --max 8 --initial 4 --sizes powers --site here --estimate 3s --asks -- "
        "./x 4 1-8 3 20 600 150 2.2 {}\n");
    pleat_string_finish(&text);
    finish(&mix, &draw);
    read_mix("jobs = 2\ngap = 1\ntype y { size = 2 run = 3 kind = moldable command = y }", &mix);
    draw_mix(&mix, 9, &draw);
    assert_int_equal(pleat_grid_text(&mix, &draw, &text, &err), 0);
    assert_string_equal(text.text, "# 2 jobs drawn with seed 9\n"
                                   "0 y-1 --min 1 --max 4 --moldable -- y\n"
                                   "1 y-2 --min 1 --max 4 --moldable -- y\n");
    pleat_string_finish(&text);
    free(mix.types.items[0].command);
    mix.types.items[0].command = NULL;
    assert_int_equal(pleat_grid_text(&mix, &draw, &text, &err), PLEAT_E_INVALID);
    assert_non_null(strstr(err.text, "type y: no command is given"));
    assert_int_equal(text.length, 0);
    finish(&mix, &draw);
}

/* ---- the same again ---- */

static void test_reproducible(void **state)
{
    (void)state;
    struct pleat_grid_mix mix;
    struct pleat_grid_draw draws[3];
    struct pleat_string texts[3] = {{0}};
    read_mix(experiment, &mix);
    mix.jobs = 500;
    for (int i = 0; i < 3; i++) {
        draw_mix(&mix, i < 2 ? 1 : 2, &draws[i]);
        assert_int_equal(pleat_grid_text(&mix, &draws[i], &texts[i], NULL), 0);
    }
    assert_string_equal(texts[0].text, texts[1].text);
    assert_string_not_equal(texts[0].text, texts[2].text);
    assert_memory_equal(draws[0].list.items, draws[1].list.items,
                        draws[0].list.count * sizeof(draws[0].list.items[0]));
    for (int i = 0; i < 3; i++) {
        pleat_grid_draw_finish(&draws[i]);
        pleat_string_finish(&texts[i]);
    }
    pleat_grid_mix_finish(&mix);
}

static void test_default(void **state)
{
    (void)state;
    struct pleat_grid_mix mix;
    struct pleat_grid_draw draw;
    struct pleat_string text = {0};
    struct pleat_workload w = {0};
    struct pleat_error err = {0};
    read_mix(pleat_grid_default_text(), &mix);
    mix.jobs = 200;
    draw_mix(&mix, 1, &draw);
    assert_int_equal(pleat_workload_init(&w), 0);
    if (pleat_grid_text(&mix, &draw, &text, &err) || pleat_grid_workload(&mix, &draw, &w, &err) ||
        pleat_workload_check(&w, &err))
        fail_msg("%s", err.text);
    assert_int_equal(w.machine, 4);
    assert_non_null(strstr(text.text, "-- build/apps/heat --n 100 --iterations "));
    assert_non_null(strstr(text.text, "-- build/apps/matmul "));
    assert_non_null(strstr(text.text, "-- build/apps/loop "));
    pleat_string_finish(&text);
    pleat_workload_finish(&w);
    finish(&mix, &draw);
}

/* The same jobs, with other estimates: few values, the longest among them, the same for all
 * components of a job. */
static void test_popular_estimates(void **state)
{
    (void)state;
    static const char text[] = "jobs = 400\nestimate = %s\ntype a { run = \"exponential:300\" "
                               "components = \"uniform:1,3\" }";
    struct pleat_grid_mix mixes[3];
    struct pleat_grid_draw draws[3];
    static const char *const estimates[] = {"3", "\"popular:36000\"", "popular"};
    int64_t values[40];
    size_t count = 0, longest = 0;
    for (int i = 0; i < 3; i++) {
        char own[200];
        snprintf(own, sizeof(own), text, estimates[i]);
        read_mix(own, &mixes[i]);
        draw_mix(&mixes[i], 5, &draws[i]);
    }
    assert_int_equal(draws[0].list.count, draws[1].list.count);
    for (size_t i = 0; i < draws[0].list.count; i++) {
        struct pleat_grid_component one = draws[0].list.items[i], *other = &draws[1].list.items[i];
        assert_true(other->estimate_us >= other->run_us && other->estimate_us <= 36000000000);
        longest += other->estimate_us == 36000000000;
        assert_true(other->component == 1 || other->estimate_us == other[-1].estimate_us);
        one.estimate_us = other->estimate_us;
        assert_memory_equal(&one, other, sizeof(one));
        size_t at = 0;
        while (at < count && values[at] != other->estimate_us)
            at++;
        assert_true(at < 40);
        values[at] = other->estimate_us;
        count += at == count;
        /* without MAX it is 2 h, since nothing runs longer */
        assert_true(draws[2].list.items[i].estimate_us <= INT64_C(7200) * 1000000);
    }
    assert_true(count > 10 && longest > 20);
    for (int i = 0; i < 3; i++)
        finish(&mixes[i], &draws[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_keys),
        cmocka_unit_test(test_errors_name_the_line),
        cmocka_unit_test(test_popular_estimates),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_semi_fixed),
        cmocka_unit_test(test_total),
        cmocka_unit_test(test_sites_hold),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_nothing_fits),
        cmocka_unit_test(test_workload),
        cmocka_unit_test(test_sizes_of_the_table),
        cmocka_unit_test(test_workload_unchanged_on_failure),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_reproducible),
        cmocka_unit_test(test_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
