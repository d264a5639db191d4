/* Generators out of memory, at every allocation of their own in turn: said, and nothing is left
 * half-done. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "workload/generate.h"
#include "workload/grid.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);

static int until_failure; /* allocations that are still granted; < 0: all */
static int refused;

static int is_refused(void)
{
    if (until_failure < 0)
        return 0;
    refused += until_failure == 0;
    return until_failure-- == 0;
}

void *__wrap_malloc(size_t size)
{
    return is_refused() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return is_refused() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return is_refused() ? NULL : __real_realloc(old, size);
}

char *__wrap_strdup(const char *text)
{
    return is_refused() ? NULL : __real_strdup(text);
}

static const char description[] =
    "jobs = 40\nsites = {\"a:9\", \"b\"}\nestimate = 2\n"
    "type x { placement = fixed components = 2 size = \"uniform:1,8\" run = 10 kind = malleable\n"
    " accepts = table model = \"table:1=80,2=50,8=20 phases=0.5:1-8\" command = \"x {size}\" "
    "options = \"--asks\" "
    "}\n"
    "type y { run = 5 command = y accepts = powers }\n";

struct world {
    struct pleat_workload workload;
    struct pleat_grid_mix mix;
    struct pleat_grid_draw draw;
    struct pleat_string text;
};

typedef int step(struct world *world, struct pleat_error *err);

static int simple(struct world *world, struct pleat_error *err)
{
    struct pleat_simple_model model = {.jobs = 100, .machine = 8, .estimate = 2};
    model.gap = model.run = model.size =
        (struct pleat_distribution){.kind = PLEAT_DIST_UNIFORM, .a = 1, .b = 8};
    return pleat_generate_simple(&model, &world->workload, err);
}

static int lublin(struct world *world, struct pleat_error *err)
{
    const struct pleat_lublin_model model = {
        .jobs = 100, .machine = 64, .kind = PLEAT_LUBLIN_BOTH, .load = 0.5};
    return pleat_generate_lublin(&model, &world->workload, err);
}

static int utrera(struct world *world, struct pleat_error *err)
{
    const struct pleat_utrera_model model = {.jobs = 100, .machine = 60, .mix = "w5"};
    return pleat_generate_utrera(&model, &world->workload, err);
}

static int read_mix(struct world *world, struct pleat_error *err)
{
    return pleat_grid_mix_read_text(description, "mix", &world->mix, err);
}

static int draw(struct world *world, struct pleat_error *err)
{
    return pleat_grid_draw(&world->mix, 1, &world->draw, err);
}

static int grid_workload(struct world *world, struct pleat_error *err)
{
    return pleat_grid_workload(&world->mix, &world->draw, &world->workload, err);
}

static int grid_text(struct world *world, struct pleat_error *err)
{
    pleat_string_finish(&world->text); /* a string that failed once stays so */
    return pleat_grid_text(&world->mix, &world->draw, &world->text, err);
}

/* Fails at the first, second, ... allocation, until there is none left to fail. */
static void at_every_allocation(struct world *world, step *run)
{
    int status = PLEAT_E_NOMEM, granted = 0;
    for (; status; granted++) {
        struct pleat_error err = {0};
        const struct pleat_workload before = world->workload;
        refused = 0;
        until_failure = granted;
        status = run(world, &err);
        until_failure = -1;
        if (!status)
            break;
        assert_int_equal(status, PLEAT_E_NOMEM);
        assert_int_equal(refused, 1);
        assert_int_equal(err.code, PLEAT_E_NOMEM);
        assert_non_null(strstr(err.text, "out of memory"));
        assert_int_equal(world->workload.jobs.count, before.jobs.count);
        assert_int_equal(world->workload.table.count, before.table.count);
        assert_int_equal(world->workload.phases.count, before.phases.count);
        assert_int_equal(world->workload.apps.count, before.apps.count);
        assert_int_equal(world->workload.machine, before.machine);
        assert_true(run != read_mix || !world->mix.types.items);
        assert_true(run != draw || !world->draw.list.items);
        assert_int_equal(world->text.length, 0);
    }
    assert_int_equal(refused, 0);
    assert_true(granted > 1);
}

static void finish(struct world *world)
{
    pleat_workload_finish(&world->workload);
    pleat_grid_draw_finish(&world->draw);
    pleat_grid_mix_finish(&world->mix);
    pleat_string_finish(&world->text);
}

static void test_models(void **state)
{
    (void)state;
    static step *const steps[] = {simple, lublin, utrera};
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct world world = {0};
        assert_int_equal(pleat_workload_init(&world.workload), 0);
        at_every_allocation(&world, steps[i]);
        assert_int_equal(world.workload.jobs.count, 100);
        finish(&world);
    }
}

static void test_grid(void **state)
{
    (void)state;
    struct world world = {0};
    assert_int_equal(pleat_workload_init(&world.workload), 0);
    at_every_allocation(&world, read_mix);
    at_every_allocation(&world, draw);
    at_every_allocation(&world, grid_workload);
    at_every_allocation(&world, grid_text);
    assert_int_equal(world.workload.jobs.count, world.draw.list.count);
    assert_true(world.text.length > 100);
    finish(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_grid),
    };
    until_failure = -1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
