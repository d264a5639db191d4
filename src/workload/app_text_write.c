/* app_text_write.c - applications as text, which app_text.c reads. */
#include "workload/convert.h"
#include "workload/decimal.h"

static void add_real(struct pleat_string *out, const char *name, double value)
{
    if (value > 0) {
        pleat_string_add(out, name);
        pleat_decimal_add_real(out, value);
    }
}

static void add_time(struct pleat_string *out, const char *name, int64_t us)
{
    if (us > 0) {
        pleat_string_add(out, name);
        pleat_decimal_add_seconds(out, us);
        pleat_string_add(out, "s");
    }
}

static void add_count(struct pleat_string *out, const char *name, int32_t count)
{
    if (count > 0)
        pleat_string_addf(out, "%s%d", name, count);
}

static void add_speedup(const struct pleat_workload *workload, const struct pleat_speedup *speedup,
                        struct pleat_string *out)
{
    switch (speedup->kind) {
    case PLEAT_SPEEDUP_AMDAHL:
        pleat_string_add(out, "amdahl:");
        pleat_decimal_add_real(out, speedup->serial);
        break;
    case PLEAT_SPEEDUP_DOWNEY:
        pleat_string_add(out, "downey:");
        pleat_decimal_add_real(out, speedup->parallelism);
        pleat_string_add(out, ",");
        pleat_decimal_add_real(out, speedup->sigma);
        break;
    case PLEAT_SPEEDUP_TABLE:
        for (uint32_t i = 0; i < speedup->count; i++) {
            const struct pleat_table_row *row = &workload->table.items[speedup->first + i];
            pleat_string_addf(out, "%s%d=", i ? "," : "table:", row->processors);
            pleat_decimal_add_seconds(out, row->run_us);
        }
        break;
    default:
        pleat_string_add(out, "linear");
        break;
    }
}

static void add_cost(const struct pleat_workload *workload, const struct pleat_resize_cost *cost,
                     struct pleat_string *out)
{
    add_time(out, " resize=", cost->fixed_us);
    add_real(out, " volume=", cost->bytes);
    add_real(out, " bandwidth=", cost->bandwidth);
    for (uint32_t i = 0; i < cost->count; i++) {
        const struct pleat_cost_row *row = &workload->costs.items[cost->first + i];
        pleat_string_addf(out, "%s%d-%d=", i ? "," : " measured=", row->from, row->to);
        pleat_decimal_add_seconds(out, row->us);
        pleat_string_add(out, "s");
    }
}

void pleat_app_format(const struct pleat_workload *workload, const struct pleat_app *app,
                      struct pleat_string *out)
{
    add_speedup(workload, &app->speedup, out);
    add_time(out, " adapt=", app->adapt_us);
    add_count(out, " iterations=", app->iterations);
    add_cost(workload, &app->cost, out);
    add_real(out, " mpl-overhead=", app->mpl_overhead);
    add_real(out, " imbalance=", app->imbalance);
    if (app->local_queues)
        pleat_string_add(out, " local-queues");
    for (uint32_t i = 0; i < app->phase_count; i++) {
        const struct pleat_phase *phase = &workload->phases.items[app->first_phase + i];
        pleat_string_add(out, i ? "," : " phases=");
        pleat_decimal_add_real(out, phase->at);
        pleat_string_addf(out, ":%d-%d", phase->minimum, phase->maximum);
    }
    for (uint32_t i = 0; i < app->ask_count; i++) {
        const struct pleat_workload_ask *ask = &workload->asks.items[app->first_ask + i];
        pleat_string_add(out, i ? "," : " asks=");
        pleat_decimal_add_real(out, ask->at);
        pleat_string_addf(out, ":%s%+d", ask->must ? "must" : "", ask->change);
    }
    if (app->sections > 0) {
        pleat_string_addf(out, " sections=%dx", app->sections);
        pleat_decimal_add_real(out, app->section_share);
    }
    add_count(out, " component=", app->component);
    add_count(out, " work=", app->work);
    if (app->gives_back)
        pleat_string_add(out, " gives-back");
    for (uint32_t i = 0; i < app->input_count; i++) {
        const struct pleat_input_file *file = &workload->inputs.items[app->first_input + i];
        pleat_string_addf(out, "%s%u@%u:", i ? "," : " inputs=", file->file, file->site);
        pleat_decimal_add_real(out, file->bytes);
    }
    add_count(out, " objects=", app->objects);
    if (app->gain > 0)
        pleat_string_addf(out, " gain=%d/%d", app->gain, app->gain_every);
    add_real(out, " spread=", app->speed_spread);
    if (app->varies != PLEAT_VARIES_RUN)
        pleat_string_addf(out, " varies=%s", pleat_varies_name((enum pleat_varies)app->varies));
    add_count(out, " notices=", app->notices);
    add_count(out, " loses=", app->loses_every);
    add_count(out, "/", app->announces);
    if (app->balances)
        pleat_string_add(out, " balanced");
    if (app->name[0])
        pleat_string_addf(out, " name=%s", app->name);
}
