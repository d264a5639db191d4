/* app_text.c - reads applications as text; convert.h has the grammar. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "workload/convert.h"
#include "workload/decimal.h"

struct parsing {
    struct pleat_workload *workload;
    struct pleat_app *app;
    bool no_memory;
};

/* ---- values: each reader moves *at behind what it has read; false: there is no such value ---- */

static bool take(const char **at, char c)
{
    if (**at != c)
        return false;
    (*at)++;
    return true;
}

static bool starts_number(char c)
{
    return (c >= '0' && c <= '9') || c == '.';
}

static bool read_real(const char **at, double *value)
{
    char *end;
    if (!starts_number(**at))
        return false;
    *value = strtod(*at, &end);
    *at = end;
    return isfinite(*value);
}

static bool read_count(const char **at, int32_t *value)
{
    int64_t read = 0;
    if (**at < '0' || **at > '9')
        return false;
    for (; **at >= '0' && **at <= '9'; (*at)++) {
        read = read * 10 + (**at - '0');
        if (read > INT32_MAX)
            return false;
    }
    *value = (int32_t)read;
    return true;
}

/* Reads a time in seconds, or with a unit, exact to the microsecond. */
static bool read_time(const char **at, int64_t *us)
{
    static const struct {
        const char *name;
        int64_t times, over;
    } units[] = {{"us", 1, 1000000}, {"ms", 1, 1000}, {"s", 1, 1},
                 {"min", 60, 1},     {"m", 60, 1},    {"h", 3600, 1}};
    struct pleat_decimal number;
    size_t length = strspn(*at, "0123456789.eE+-");
    if (!starts_number(**at))
        return false;
    const char *p = *at, *end = *at + length;
    if (!pleat_decimal_scan(&p, end, &number) || number.whole >= PLEAT_WORKLOAD_TIME_MAX / 1000000)
        return false;
    int64_t read = number.whole * 1000000 + number.micros, times = 1, over = 1;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        size_t name = strlen(units[i].name);
        if (!strncmp(p, units[i].name, name)) {
            times = units[i].times;
            over = units[i].over;
            p += name;
            break;
        }
    }
    if (read > PLEAT_WORKLOAD_TIME_MAX / times)
        return false;
    *us = read * times / over;
    *at = p;
    return true;
}

/* ---- speedups ---- */

static bool read_linear(struct parsing *parsing, const char **at)
{
    (void)at;
    parsing->app->speedup.kind = PLEAT_SPEEDUP_LINEAR;
    return true;
}

static bool read_amdahl(struct parsing *parsing, const char **at)
{
    parsing->app->speedup.kind = PLEAT_SPEEDUP_AMDAHL;
    return read_real(at, &parsing->app->speedup.serial);
}

static bool read_downey(struct parsing *parsing, const char **at)
{
    struct pleat_speedup *speedup = &parsing->app->speedup;
    speedup->kind = PLEAT_SPEEDUP_DOWNEY;
    return read_real(at, &speedup->parallelism) && take(at, ',') && read_real(at, &speedup->sigma);
}

static bool read_table(struct parsing *parsing, const char **at)
{
    struct pleat_speedup *speedup = &parsing->app->speedup;
    struct pleat_table_rows *rows = &parsing->workload->table;
    speedup->kind = PLEAT_SPEEDUP_TABLE;
    speedup->first = (uint32_t)rows->count;
    do {
        struct pleat_table_row row;
        if (!read_count(at, &row.processors) || !take(at, '=') || !read_time(at, &row.run_us))
            return false;
        if (pleat_array_push(rows, row)) {
            parsing->no_memory = true;
            return false;
        }
        speedup->count++;
    } while (take(at, ','));
    return true;
}

/* ---- options ---- */

static bool read_adapt(struct parsing *parsing, const char **at)
{
    return read_time(at, &parsing->app->adapt_us);
}

static bool read_iterations(struct parsing *parsing, const char **at)
{
    return read_count(at, &parsing->app->iterations);
}

static bool read_resize(struct parsing *parsing, const char **at)
{
    return read_time(at, &parsing->app->cost.fixed_us);
}

static bool read_volume(struct parsing *parsing, const char **at)
{
    return read_real(at, &parsing->app->cost.bytes);
}

static bool read_bandwidth(struct parsing *parsing, const char **at)
{
    return read_real(at, &parsing->app->cost.bandwidth);
}

static bool read_measured(struct parsing *parsing, const char **at)
{
    struct pleat_resize_cost *cost = &parsing->app->cost;
    struct pleat_cost_rows *rows = &parsing->workload->costs;
    cost->first = (uint32_t)rows->count;
    do {
        struct pleat_cost_row row;
        if (!read_count(at, &row.from) || !take(at, '-') || !read_count(at, &row.to) ||
            !take(at, '=') || !read_time(at, &row.us))
            return false;
        if (pleat_array_push(rows, row)) {
            parsing->no_memory = true;
            return false;
        }
        cost->count++;
    } while (take(at, ','));
    return true;
}

static bool read_mpl_overhead(struct parsing *parsing, const char **at)
{
    return read_real(at, &parsing->app->mpl_overhead);
}

static bool read_imbalance(struct parsing *parsing, const char **at)
{
    return read_real(at, &parsing->app->imbalance);
}

static bool read_local_queues(struct parsing *parsing, const char **at)
{
    (void)at;
    parsing->app->local_queues = true;
    return true;
}

static bool read_phases(struct parsing *parsing, const char **at)
{
    struct pleat_app *app = parsing->app;
    struct pleat_phases *rows = &parsing->workload->phases;
    app->first_phase = (uint32_t)rows->count;
    do {
        struct pleat_phase row;
        if (!read_real(at, &row.at) || !take(at, ':') || !read_count(at, &row.minimum) ||
            !take(at, '-') || !read_count(at, &row.maximum))
            return false;
        if (pleat_array_push(rows, row)) {
            parsing->no_memory = true;
            return false;
        }
        app->phase_count++;
    } while (take(at, ','));
    return true;
}

/* "+4", "must+8", "-2" */
static bool read_change(const char **at, struct pleat_workload_ask *row)
{
    row->must = strncmp(*at, "must", 4) == 0;
    *at += row->must ? 4 : 0;
    bool less = !row->must && **at == '-';
    if (!less && **at != '+')
        return false;
    (*at)++;
    if (!read_count(at, &row->change))
        return false;
    row->change = less ? -row->change : row->change;
    return true;
}

static bool read_asks(struct parsing *parsing, const char **at)
{
    struct pleat_app *app = parsing->app;
    struct pleat_workload_asks *rows = &parsing->workload->asks;
    app->first_ask = (uint32_t)rows->count;
    do {
        struct pleat_workload_ask row;
        if (!read_real(at, &row.at) || !take(at, ':') || !read_change(at, &row))
            return false;
        if (pleat_array_push(rows, row)) {
            parsing->no_memory = true;
            return false;
        }
        app->ask_count++;
    } while (take(at, ','));
    return true;
}

static bool read_sections(struct parsing *parsing, const char **at)
{
    struct pleat_app *app = parsing->app;
    return read_count(at, &app->sections) && take(at, 'x') && read_real(at, &app->section_share) &&
           app->sections > 0;
}

static bool read_component(struct parsing *parsing, const char **at)
{
    return read_count(at, &parsing->app->component);
}

static bool read_work(struct parsing *parsing, const char **at)
{
    return read_count(at, &parsing->app->work);
}

static bool read_gives_back(struct parsing *parsing, const char **at)
{
    (void)at;
    parsing->app->gives_back = true;
    return true;
}

static bool read_inputs(struct parsing *parsing, const char **at)
{
    struct pleat_app *app = parsing->app;
    struct pleat_input_files *rows = &parsing->workload->inputs;
    app->first_input = (uint32_t)rows->count;
    do {
        struct pleat_input_file row = {0};
        int32_t file, site;
        if (!read_count(at, &file) || !take(at, '@') || !read_count(at, &site) || !take(at, ':') ||
            !read_real(at, &row.bytes))
            return false;
        row.file = (uint32_t)file;
        row.site = (uint32_t)site;
        if (pleat_array_push(rows, row)) {
            parsing->no_memory = true;
            return false;
        }
        app->input_count++;
    } while (take(at, ','));
    return true;
}

static bool read_objects(struct parsing *parsing, const char **at)
{
    return read_count(at, &parsing->app->objects);
}

static bool read_gain(struct parsing *parsing, const char **at)
{
    return read_count(at, &parsing->app->gain) && take(at, '/') &&
           read_count(at, &parsing->app->gain_every);
}

static bool read_spread(struct parsing *parsing, const char **at)
{
    return read_real(at, &parsing->app->speed_spread);
}

static bool read_varies(struct parsing *parsing, const char **at)
{
    for (uint8_t v = PLEAT_VARIES_RUN; v <= PLEAT_VARIES_OBJECT; v++) {
        size_t length = strlen(pleat_varies_name((enum pleat_varies)v));
        if (strncmp(*at, pleat_varies_name((enum pleat_varies)v), length) != 0)
            continue;
        parsing->app->varies = v;
        *at += length;
        return true;
    }
    return false;
}

static bool read_notices(struct parsing *parsing, const char **at)
{
    return read_count(at, &parsing->app->notices);
}

static bool read_loses(struct parsing *parsing, const char **at)
{
    return read_count(at, &parsing->app->loses_every) &&
           (!take(at, '/') || read_count(at, &parsing->app->announces));
}

static bool read_balanced(struct parsing *parsing, const char **at)
{
    (void)at;
    parsing->app->balances = true;
    return true;
}

static bool read_name(struct parsing *parsing, const char **at)
{
    char *name = parsing->app->name;
    size_t length = strcspn(*at, " \t;");
    if (length == 0 || length >= sizeof(parsing->app->name))
        return false;
    memcpy(name, *at, length);
    name[length] = '\0';
    *at += length;
    return true;
}

struct word {
    const char *text; /* with the character that separates it from its value */
    bool (*read)(struct parsing *parsing, const char **at);
    const char *example;
};

static const struct word speedups[] = {
    {"linear", read_linear, "linear"},
    {"amdahl:", read_amdahl, "amdahl:0.02 (the serial fraction)"},
    {"downey:", read_downey, "downey:32,0.5 (average parallelism, sigma)"},
    {"table:", read_table, "table:1=600,2=330 (processors=seconds)"},
};

static const struct word options[] = {
    {"adapt=", read_adapt, "adapt=30s"},
    {"iterations=", read_iterations, "iterations=100"},
    {"resize=", read_resize, "resize=2s"},
    {"volume=", read_volume, "volume=1e9 (bytes)"},
    {"bandwidth=", read_bandwidth, "bandwidth=1e9 (bytes a second)"},
    {"measured=", read_measured, "measured=2-4=1.5s,4-2=0.7s"},
    {"mpl-overhead=", read_mpl_overhead, "mpl-overhead=0.1"},
    {"imbalance=", read_imbalance, "imbalance=0.2"},
    {"local-queues", read_local_queues, "local-queues"},
    {"phases=", read_phases, "phases=0.5:1-8,0.8:1-2 (share of work:minimum-maximum)"},
    {"asks=", read_asks, "asks=0.3:+4,0.6:must+8,0.9:-2 (share of work:change)"},
    {"sections=", read_sections, "sections=20x0.01 (number x share of the work)"},
    {"component=", read_component, "component=4"},
    {"work=", read_work, "work=20"},
    {"gives-back", read_gives_back, "gives-back"},
    {"inputs=", read_inputs, "inputs=1@0:5e9,1@2:5e9 (file@site:bytes)"},
    {"objects=", read_objects, "objects=10"},
    {"gain=", read_gain, "gain=10/100 (objects/iterations)"},
    {"spread=", read_spread, "spread=0.09"},
    {"varies=", read_varies, "varies=process (run, process, iteration or object)"},
    {"notices=", read_notices, "notices=10 (iterations)"},
    {"loses=", read_loses, "loses=150/20 (iterations/iterations before)"},
    {"balanced", read_balanced, "balanced"},
    {"name=", read_name, "name=cg (up to 31 characters)"},
};

enum { SPEEDUPS = sizeof(speedups) / sizeof(speedups[0]) };
enum { OPTIONS = sizeof(options) / sizeof(options[0]) };

static bool is_separator(char c)
{
    return pleat_is_blank(c) || c == ';';
}

/* Reads one of the words and moves *at behind it. Returns its index; below 0: an error, in err. */
static int read_word(struct parsing *parsing, const char **at, const struct word *words, int count,
                     const char *unknown, struct pleat_error *err)
{
    int length = (int)strcspn(*at, " \t\r\n;");
    int shown = length > 60 ? 60 : length;
    for (int i = 0; i < count; i++) {
        const char *p = *at + strlen(words[i].text);
        if (strncmp(*at, words[i].text, strlen(words[i].text)) != 0)
            continue;
        if (words[i].read(parsing, &p) && (!*p || is_separator(*p))) {
            *at = p;
            return i;
        }
        if (parsing->no_memory)
            return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
        return pleat_error_set(err, PLEAT_E_INVALID, "'%.*s': expected something like %s", shown,
                               *at, words[i].example);
    }
    return pleat_error_set(err, PLEAT_E_INVALID, "'%.*s': %s", shown, *at, unknown);
}

static int parse(const char *text, struct parsing *parsing, struct pleat_error *err)
{
    const char *at = text;
    unsigned seen = 0;
    int which = read_word(parsing, &at, speedups, SPEEDUPS,
                          "an application begins with linear, amdahl:, downey: or table:", err);
    while (which >= 0) {
        while (is_separator(*at))
            at++;
        if (!*at)
            break;
        which =
            read_word(parsing, &at, options, OPTIONS,
                      "there are adapt=, iterations=, resize=, volume=, bandwidth=, measured=, "
                      "mpl-overhead=, imbalance=, local-queues, phases=, asks=, sections=, "
                      "component=, work=, gives-back, inputs=, objects=, gain=, spread=, varies=, "
                      "notices=, loses=, balanced, name=",
                      err);
        if (which >= 0 && seen & 1u << which)
            which = pleat_error_set(err, PLEAT_E_INVALID, "%s is there twice", options[which].text);
        if (which >= 0)
            seen |= 1u << which;
    }
    if (which < 0)
        return which;
    return pleat_workload_check_app(parsing->workload, parsing->app, err);
}

int pleat_app_parse(const char *text, struct pleat_workload *workload, struct pleat_app *app,
                    struct pleat_error *err)
{
    size_t rows = workload->table.count, costs = workload->costs.count;
    size_t phases = workload->phases.count, inputs = workload->inputs.count;
    size_t asks = workload->asks.count;
    struct pleat_app read = {0};
    struct parsing parsing = {.workload = workload, .app = &read};
    while (is_separator(*text))
        text++;
    int rc = parse(text, &parsing, err);
    if (rc) {
        workload->table.count = rows;
        workload->costs.count = costs;
        workload->phases.count = phases;
        workload->asks.count = asks;
        workload->inputs.count = inputs;
        return pleat_error_prefix(err, rc, "application '%.80s'", text);
    }
    *app = read;
    return 0;
}
