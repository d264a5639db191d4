#include "grid_fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "must.h"
#include "workload/grid.h"

enum { JOBS = 50 };

unsigned long pleat_fuzz_grid_mixes, pleat_fuzz_grid_workloads;

/* What is drawn from it is a number. */
static void check_distribution(const struct pleat_distribution *distribution)
{
    const bool discrete = distribution->kind == PLEAT_DIST_DISCRETE;
    double weights = 0;
    must(distribution->kind < PLEAT_DIST_KIND_COUNT);
    must(isfinite(distribution->a) && isfinite(distribution->b));
    must(distribution->count <= PLEAT_DIST_VALUES && discrete == (distribution->count > 0));
    for (uint32_t i = 0; i < distribution->count; i++) {
        must(isfinite(distribution->values[i]) && distribution->weights[i] >= 0);
        weights += distribution->weights[i];
    }
    must(!discrete || (weights > 0 && isfinite(weights)));
    must(distribution->least >= 0 && isfinite(distribution->least));
    must(distribution->most == 0 || distribution->most >= distribution->least);
}

static void check_draw(const struct pleat_grid_mix *mix, const struct pleat_grid_draw *draw)
{
    int64_t total = 0, last = 0;
    must(draw->jobs == mix->jobs && draw->list.count >= draw->jobs && draw->capped <= draw->jobs);
    for (size_t i = 0; i < draw->list.count; i++) {
        const struct pleat_grid_component *c = &draw->list.items[i];
        total = c->component == 1 ? 0 : total;
        total += c->maximum;
        must(c->component >= 1 && c->component <= c->components);
        must(c->type < mix->types.count);
        must(c->site == PLEAT_NONE || c->site < mix->sites.count);
        must(c->minimum >= 1 && c->minimum <= c->size && c->size <= c->maximum);
        must(c->initial == 0 || (c->initial >= c->minimum && c->initial <= c->maximum));
        must(mix->total == 0 || total <= mix->total);
        must(c->submit_us >= last && c->run_us >= 1);
        must(mix->estimate == 0 || c->estimate_us >= c->run_us);
        last = c->submit_us;
        if (c->site != PLEAT_NONE && mix->sites.items[c->site].processors > 0)
            must(c->maximum <= mix->sites.items[c->site].processors);
    }
}

static void make_workload(const struct pleat_grid_mix *mix, const struct pleat_grid_draw *draw)
{
    struct pleat_workload workload = {0};
    struct pleat_error err = {0};
    must(pleat_workload_init(&workload) == 0);
    if (pleat_grid_workload(mix, draw, &workload, &err)) {
        must(err.text[0] && workload.jobs.count == 0 && workload.apps.count == 1);
        must(workload.table.count == 0 && workload.costs.count == 0 && workload.phases.count == 0);
    } else {
        must(workload.jobs.count == draw->list.count);
        must(pleat_workload_check(&workload, NULL) == 0);
        pleat_fuzz_grid_workloads++;
    }
    pleat_workload_finish(&workload);
}

static void make_text(const struct pleat_grid_mix *mix, const struct pleat_grid_draw *draw,
                      struct pleat_string *text)
{
    struct pleat_error err = {0};
    size_t lines = 0;
    if (pleat_grid_text(mix, draw, text, &err)) {
        /* all else was found when the description was read */
        must(text->length == 0 && strstr(err.text, "no command is given"));
        return;
    }
    for (const char *at = text->text; *at; at++)
        lines += *at == '\n';
    must(lines == draw->list.count + (draw->list.count > draw->jobs ? 2 : 1));
}

static void use(struct pleat_grid_mix *mix)
{
    struct pleat_grid_draw draws[2] = {{{0}, 0, 0, 0}};
    struct pleat_string texts[2] = {{0}};
    struct pleat_error err = {0};
    check_distribution(&mix->gap);
    for (size_t i = 0; i < mix->types.count; i++) {
        check_distribution(&mix->types.items[i].components);
        check_distribution(&mix->types.items[i].size);
        check_distribution(&mix->types.items[i].run);
    }
    mix->jobs = mix->jobs < JOBS ? mix->jobs : JOBS;
    for (int i = 0; i < 2; i++) {
        if (pleat_grid_draw(mix, 7, &draws[i], &err)) {
            must(err.text[0] && !draws[i].list.items && draws[i].jobs == 0);
            return;
        }
        make_text(mix, &draws[i], &texts[i]);
    }
    check_draw(mix, &draws[0]);
    make_workload(mix, &draws[0]);
    must(draws[0].list.count == draws[1].list.count && texts[0].length == texts[1].length);
    must(texts[0].length == 0 || memcmp(texts[0].text, texts[1].text, texts[0].length) == 0);
    for (int i = 0; i < 2; i++) {
        pleat_string_finish(&texts[i]);
        pleat_grid_draw_finish(&draws[i]);
    }
}

void pleat_fuzz_grid(const uint8_t *bytes, size_t size)
{
    static const struct pleat_grid_mix zero;
    struct pleat_grid_mix mix = {0};
    struct pleat_error err = {0};
    /* a copy of its own, so that reading beyond it is seen */
    char *text = malloc(size + 1);
    must(text);
    if (size)
        memcpy(text, bytes, size);
    text[size] = 0;
    int status = pleat_grid_mix_read_text(text, "fuzz", &mix, &err);
    if (status) {
        must(err.code == status && !strncmp(err.text, "fuzz:", 5));
        must(memcmp(&mix, &zero, sizeof(mix)) == 0);
    } else {
        pleat_fuzz_grid_mixes++;
        use(&mix);
    }
    pleat_grid_mix_finish(&mix);
    free(text);
}
