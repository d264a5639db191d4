/* grid_text.c - writes the text of a job mix for `pleat mix`. */
#include <math.h>
#include <string.h>

#include "workload/decimal.h"
#include "workload/grid-internal.h"

/* ---- placeholders ---- */

static void add_count(struct pleat_string *out, double count)
{
    pleat_string_addf(out, "%.0f", fmin(fmax(round(count), 1), 9e15));
}

static bool needs_step(const char *name, size_t length)
{
    static const char *const names[] = {"step", "steps", "turns"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strlen(names[i]) == length && !memcmp(names[i], name, length))
            return true;
    return false;
}

/* Appends the value of a placeholder. False: there is no placeholder of this name. */
static bool add_value(const char *name, size_t length, const struct pleat_grid_type *type,
                      const struct pleat_grid_component *c, struct pleat_string *out)
{
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {{"size", c->size},
                   {"min", c->minimum},
                   {"max", c->maximum},
                   {"job", c->job},
                   {"component", c->component}};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (strlen(numbers[i].name) == length && !memcmp(numbers[i].name, name, length)) {
            pleat_string_addf(out, "%lld", (long long)numbers[i].value);
            return true;
        }
    }
    double turns = type->step_ms > 0 ? (double)c->run_us / 1e3 / type->step_ms : 0;
    if (length == 3 && !memcmp(name, "run", length))
        pleat_decimal_add_seconds(out, c->run_us);
    else if (length == 4 && !memcmp(name, "step", length))
        pleat_decimal_add_real(out, type->step_ms);
    else if (length == 5 && !memcmp(name, "steps", length))
        add_count(out, turns * c->size);
    else if (length == 5 && !memcmp(name, "turns", length))
        add_count(out, turns);
    else
        return false;
    return true;
}

int pleat_grid_expand(const char *text, const struct pleat_grid_type *type,
                      const struct pleat_grid_component *component, struct pleat_string *out,
                      struct pleat_error *err)
{
    for (const char *at = text; *at;) {
        size_t plain = strcspn(at, "{}");
        pleat_string_add_bytes(out, at, plain);
        at += plain;
        if (!*at)
            break;
        if (at[0] == at[1]) {
            pleat_string_add_bytes(out, at, 1);
            at += 2;
            continue;
        }
        size_t length = strcspn(at + 1, "{}");
        if (*at == '}' || at[1 + length] != '}')
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "'%s': a lone %c; write %c%c for the character itself", text,
                                   *at, *at, *at);
        if (needs_step(at + 1, length) && !(type->step_ms > 0))
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "{%.*s} needs 'step', the milliseconds that a step takes",
                                   (int)length, at + 1);
        if (!add_value(at + 1, length, type, component, out))
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "{%.*s} is nothing that is drawn: there are {size}, {min}, "
                                   "{max}, {run}, {step}, {steps}, {turns}, {job}, {component}",
                                   (int)length, at + 1);
        at += length + 2;
    }
    return out->failed ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory") : 0;
}

/* ---- lines ---- */

static void add_size(const struct pleat_grid_type *type, const struct pleat_grid_component *c,
                     struct pleat_string *out)
{
    struct pleat_sizes sizes = pleat_grid_sizes(type);
    if (type->kind == PLEAT_RIGID) {
        pleat_string_addf(out, " -n %d", c->size);
        return;
    }
    pleat_string_addf(out, " --min %d --max %d", c->minimum, c->maximum);
    if (type->kind == PLEAT_MOLDABLE)
        pleat_string_add(out, " --moldable");
    if (c->initial > 0)
        pleat_string_addf(out, " --initial %d", c->initial);
    if (type->sizes_kind != PLEAT_SIZES_ANY) {
        pleat_string_add(out, " --sizes ");
        pleat_sizes_format(&sizes, out);
    }
}

static int add_line(const struct pleat_grid_mix *mix, const struct pleat_grid_component *c,
                    struct pleat_string *out, struct pleat_error *err)
{
    const struct pleat_grid_type *type = &mix->types.items[c->type];
    if (!type->command)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "no command is given, so it can only be simulated");
    pleat_decimal_add_seconds(out, c->submit_us);
    pleat_string_addf(out, " %s-%u", type->name, c->job);
    if (c->components > 1)
        pleat_string_addf(out, ".%u", c->component);
    add_size(type, c, out);
    if (c->site != PLEAT_NONE)
        pleat_string_addf(out, " --site %s", mix->sites.items[c->site].name);
    if (c->estimate_us > 0) {
        pleat_string_add(out, " --estimate ");
        pleat_decimal_add_seconds(out, c->estimate_us);
        pleat_string_add(out, "s");
    }
    int status = 0;
    if (type->options) {
        pleat_string_add(out, " ");
        status = pleat_grid_expand(type->options, type, c, out, err);
    }
    pleat_string_add(out, " -- ");
    if (!status)
        status = pleat_grid_expand(type->command, type, c, out, err);
    pleat_string_add(out, "\n");
    return status;
}

int pleat_grid_text(const struct pleat_grid_mix *mix, const struct pleat_grid_draw *draw,
                    struct pleat_string *out, struct pleat_error *err)
{
    struct pleat_string text = {0};
    int status = 0;
    pleat_string_addf(&text, "# %zu jobs drawn with seed %llu", draw->jobs,
                      (unsigned long long)draw->seed);
    if (draw->list.count > draw->jobs)
        pleat_string_addf(&text,
                          ", %zu components: NAME-JOB.COMPONENT; those of a job come at the same "
                          "time,\n# each as a job of its own",
                          draw->list.count);
    pleat_string_add(&text, "\n");
    for (size_t i = 0; i < draw->list.count && !status; i++) {
        const struct pleat_grid_component *c = &draw->list.items[i];
        status = add_line(mix, c, &text, err);
        if (status)
            pleat_error_prefix(err, status, "type %s", mix->types.items[c->type].name);
    }
    if (!status)
        pleat_string_add_bytes(out, text.text ? text.text : "", text.length);
    if (!status && (text.failed || out->failed))
        status = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    pleat_string_finish(&text);
    return status;
}
