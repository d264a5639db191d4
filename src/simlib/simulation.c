/* simulation.c - making a simulation, and its workload. */
#include "simlib/simulation.h"

#include <math.h>
#include <string.h>

#include "figure/replace.h"
#include "scenario/models.h"
#include "scenario/oddities.h"
#include "scenario/read.h"
#include "workload/convert.h"
#include "workload/swf.h"

int pleat_simulation_interface(void)
{
    return PLEAT_SIMULATION_INTERFACE;
}

int pleat_simulation_create(struct pleat_simulation **simulation, struct pleat_error *err)
{
    struct pleat_simulation *fresh = calloc(1, sizeof(*fresh));
    if (!fresh || pleat_workload_init(&fresh->workload)) {
        free(fresh);
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    fresh->options.seed = 1;
    *simulation = fresh;
    return 0;
}

void simulation_forget_table(struct sim_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free((void *)(uintptr_t)table->columns[i].values);
    *table = (struct sim_table){0};
}

void simulation_forget(struct pleat_simulation *simulation)
{
    for (int t = 0; t < TABLES; t++)
        simulation_forget_table(&simulation->tables[t]);
    free(simulation->outcomes);
    simulation->outcomes = NULL;
    pleat_array_finish(&simulation->resizes);
    pleat_array_finish(&simulation->edges);
    free(simulation->site_names);
    simulation->site_names = NULL;
    simulation->ran = false;
}

void pleat_simulation_destroy(struct pleat_simulation *simulation)
{
    if (!simulation)
        return;
    simulation_forget(simulation);
    pleat_workload_finish(&simulation->workload);
    pleat_platform_finish(&simulation->platform);
    pleat_array_finish(&simulation->used.sites);
    pleat_string_finish(&simulation->notes);
    pleat_string_finish(&simulation->platform_notes);
    pleat_string_finish(&simulation->told_notes);
    pleat_string_finish(&simulation->app);
    free(simulation);
}

/* Takes over a workload that was read or drawn. */
static int take(struct pleat_simulation *simulation, struct pleat_workload *workload, int rc,
                struct pleat_error *err)
{
    if (!rc)
        rc = pleat_workload_check(workload, err);
    if (rc) {
        pleat_workload_finish(workload);
        return rc;
    }
    simulation_forget(simulation);
    pleat_string_finish(&simulation->notes);
    pleat_workload_finish(&simulation->workload);
    simulation->workload = *workload;
    return 0;
}

static int begin(struct pleat_workload *workload, struct pleat_error *err)
{
    memset(workload, 0, sizeof(*workload));
    return pleat_workload_init(workload) ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory") : 0;
}

/* What is odd about the file, and changed, goes to the notes. */
static void add_oddities(struct pleat_reading *reading)
{
    struct pleat_oddities oddities;
    size_t count = pleat_workload_oddities(&reading->report, &reading->swf, false, &oddities);
    for (size_t i = 0; i < count; i++)
        pleat_string_addf(&reading->notes, "%s\n", oddities.text[i]);
}

int pleat_simulation_read(struct pleat_simulation *simulation, const char *path, const char *format,
                          double flops, struct pleat_error *err)
{
    struct pleat_workload workload;
    /* SimGrid's platforms say how fast their hosts are */
    struct pleat_reading reading = {.flops = flops > 0 ? flops : simulation->platform.flops};
    int rc = begin(&workload, err);
    if (!rc)
        rc = pleat_format_parse(format, &reading.format, err);
    if (!rc)
        rc = pleat_workload_read(path, &reading, &workload, err);
    rc = take(simulation, &workload, rc, err);
    if (rc) {
        pleat_string_finish(&reading.notes);
        return rc;
    }
    add_oddities(&reading);
    simulation->notes = reading.notes;
    return 0;
}

int pleat_simulation_read_text(struct pleat_simulation *simulation, const char *text, size_t length,
                               const char *name, struct pleat_error *err)
{
    const struct pleat_swf_options options = {.zero = PLEAT_SWF_ZERO_KEEP};
    struct pleat_workload workload;
    int rc = begin(&workload, err);
    if (!rc)
        rc = pleat_swf_read_text(text, length, name, &options, &workload, NULL, err);
    return take(simulation, &workload, rc, err);
}

int pleat_simulation_generate(struct pleat_simulation *simulation, const char *model, uint64_t seed,
                              struct pleat_error *err)
{
    struct pleat_workload workload;
    struct pleat_generator generator;
    int rc = pleat_generator_init(&generator, model, err);
    if (rc)
        return rc;
    rc = begin(&workload, err);
    if (!rc)
        rc = pleat_generator_draw(&generator, seed, &workload, err);
    pleat_generator_finish(&generator);
    return take(simulation, &workload, rc, err);
}

/* Copies an array; the one that it is copied to is empty. */
#define COPY(to, from)                                                                             \
    ((from)->count == 0 ? 0                                                                        \
     : pleat_array_reserve((to), (from)->count)                                                    \
         ? PLEAT_E_NOMEM                                                                           \
         : (memcpy((to)->items, (from)->items, (from)->count * sizeof(*(from)->items)),            \
            (to)->count = (from)->count, 0))

int pleat_simulation_copy_workload(struct pleat_simulation *simulation,
                                   const struct pleat_simulation *from, struct pleat_error *err)
{
    const struct pleat_workload *source = &from->workload;
    struct pleat_workload copy = {.machine = source->machine, .origin_us = source->origin_us};
    struct pleat_string notes = {0};
    pleat_string_add(&notes, from->notes.text ? from->notes.text : "");
    if (COPY(&copy.jobs, &source->jobs) || COPY(&copy.apps, &source->apps) ||
        COPY(&copy.table, &source->table) || COPY(&copy.costs, &source->costs) ||
        COPY(&copy.phases, &source->phases) || COPY(&copy.asks, &source->asks) ||
        COPY(&copy.inputs, &source->inputs) || notes.failed) {
        pleat_workload_finish(&copy);
        pleat_string_finish(&notes);
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    simulation_forget(simulation);
    pleat_workload_finish(&simulation->workload);
    pleat_string_finish(&simulation->notes);
    simulation->workload = copy;
    simulation->notes = notes;
    return 0;
}

/* Fills in what is said of a conversion. */
static int describe(const char *kind, const char *sizes, int64_t machine, const char *app,
                    struct pleat_workload *workload, struct pleat_conversion *conversion,
                    struct pleat_error *err)
{
    struct pleat_sizes read = {0};
    if (strcmp(kind, "malleable") != 0 && strcmp(kind, "moldable") != 0)
        return pleat_error_set(err, PLEAT_E_INVALID, "jobs become malleable or moldable, not '%s'",
                               kind);
    if (machine < 0 || machine > PLEAT_SIZE_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID, "the machine has from 1 to %d processors",
                               PLEAT_SIZE_MAX);
    conversion->kind = strcmp(kind, "malleable") == 0 ? PLEAT_MALLEABLE : PLEAT_MOLDABLE;
    conversion->machine = machine > 0 ? (int32_t)machine : workload->machine;
    int rc = *app ? pleat_app_parse(app, workload, &conversion->app, err) : 0;
    if (!rc && *sizes)
        rc = pleat_conversion_sizes_parse(sizes, &read, err);
    conversion->sizes_kind = read.kind;
    conversion->sizes_parameter = read.step;
    if (!rc && read.kind == PLEAT_SIZES_LIST)
        rc = pleat_workload_check_list(&conversion->app, err);
    return rc;
}

int pleat_simulation_convert(struct pleat_simulation *simulation, const char *kind, double share,
                             double minimum, double maximum, double initial, const char *app,
                             const char *sizes, int64_t machine, uint64_t seed, int64_t *converted,
                             struct pleat_error *err)
{
    struct pleat_conversion conversion;
    size_t count = 0;
    if (!(share >= 0 && share <= 1) || !(minimum >= 0 && minimum <= 1) ||
        !(maximum >= 1 && maximum <= 1e6) || !(initial >= 0 && initial <= 1e6))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a share is from 0 to 1, and the factors of a job's size: minimum "
                               "from 0 to 1, maximum from 1 on, initial from 0 on");
    pleat_conversion_default(&conversion);
    conversion.share = share;
    conversion.minimum = minimum;
    conversion.maximum = maximum;
    conversion.initial = initial;
    conversion.seed = seed;
    simulation_forget(simulation);
    int rc = describe(kind, sizes, machine, app, &simulation->workload, &conversion, err);
    if (!rc)
        rc = pleat_workload_convert(&simulation->workload, &conversion, &count, err);
    if (!rc && converted)
        *converted = (int64_t)count;
    return rc;
}

int pleat_simulation_scale_load(struct pleat_simulation *simulation, double factor,
                                struct pleat_error *err)
{
    if (!(factor >= 1e-6 && factor <= 1e6))
        return pleat_error_set(err, PLEAT_E_INVALID, "the load is scaled by 1e-6 to 1e6, not by %g",
                               factor);
    simulation_forget(simulation);
    pleat_workload_scale_load(&simulation->workload, factor);
    return 0;
}

int pleat_simulation_write(const struct pleat_simulation *simulation, const char *path,
                           struct pleat_error *err)
{
    struct pleat_replacement file;
    int rc = pleat_replacement_open(&file, path, err);
    if (rc)
        return rc;
    rc = pleat_swf_write(&simulation->workload, NULL, file.file, "libpleat-sim", err);
    if (!rc)
        return pleat_replacement_commit(&file, err);
    pleat_replacement_abandon(&file);
    return pleat_error_prefix(err, rc, "%s", path);
}

const char *pleat_simulation_notes(struct pleat_simulation *simulation)
{
    struct pleat_string *told = &simulation->told_notes;
    pleat_string_finish(told);
    pleat_string_add(told, simulation->notes.text ? simulation->notes.text : "");
    pleat_string_add(told, simulation->platform_notes.text ? simulation->platform_notes.text : "");
    return told->text && !told->failed ? told->text : "";
}

const char *pleat_simulation_app(struct pleat_simulation *simulation, uint32_t index)
{
    if (index >= simulation->workload.apps.count)
        return NULL;
    pleat_string_finish(&simulation->app);
    pleat_app_format(&simulation->workload, &simulation->workload.apps.items[index],
                     &simulation->app);
    return simulation->app.failed ? NULL : simulation->app.text;
}

int64_t pleat_simulation_machine(const struct pleat_simulation *simulation)
{
    return simulation->workload.machine;
}
