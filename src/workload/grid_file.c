/* grid_file.c - reads the description of a grid mix. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/parse.h"
#include "config/text.h"
#include "workload/convert.h"
#include "workload/estimate.h"
#include "workload/grid-internal.h"

/* ---- words ---- */

static int find_kind(const char *text)
{
    for (int k = PLEAT_RIGID; k <= PLEAT_MALLEABLE; k++)
        if (!strcmp(pleat_kind_name((enum pleat_job_kind)k), text))
            return k;
    return -1;
}

static int find_placement(const char *text)
{
    for (int p = 0; p < PLEAT_GRID_PLACEMENT_COUNT; p++)
        if (!strcmp(pleat_grid_placement_name((enum pleat_grid_placement)p), text))
            return p;
    return -1;
}

enum { NAME_MAX_LENGTH = 23 };

/* Whether a text has only letters that need no quotes in a line of a job mix or in a log's header.
 */
static bool good_name(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789._+-");
    return length > 0 && length <= NAME_MAX_LENGTH && !text[length] && text[0] != '-';
}

/* Reads "NAME" or "NAME:PROCESSORS". */
static int parse_site(const char *text, struct pleat_grid_site *site, struct pleat_error *err)
{
    char name[NAME_MAX_LENGTH + 1] = "", rest;
    long long processors = 0;
    size_t length = strcspn(text, ":");
    bool good = length < sizeof(name);
    if (good)
        memcpy(name, text, length);
    if (good && text[length])
        good = sscanf(text + length + 1, "%lld%c", &processors, &rest) == 1 && processors > 0 &&
               processors <= PLEAT_SIZE_MAX;
    if (!good || !good_name(name))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "'%s' is not a site: write \"NAME\" or \"NAME:PROCESSORS\"", text);
    site->processors = (int32_t)processors;
    site->name = strdup(name);
    return site->name ? 0 : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
}

/* ---- checks while reading: only then libconfuse knows the line ---- */

static int refuse(cfg_t *cfg, const cfg_opt_t *option, const struct pleat_error *err)
{
    if (err->code == PLEAT_E_NOMEM)
        pleat_config_fail(cfg, err); /* the line is not at fault */
    cfg_error(cfg, "%s: %s", option->name, err->text);
    return -1;
}

static const char *given(cfg_opt_t *option)
{
    const char *text = cfg_opt_getnstr(option, cfg_opt_size(option) - 1);
    return text ? text : "";
}

static int check_distribution(cfg_t *cfg, cfg_opt_t *option)
{
    struct pleat_distribution distribution;
    struct pleat_error err = {0};
    return pleat_distribution_parse(given(option), &distribution, &err) ? refuse(cfg, option, &err)
                                                                        : 0;
}

static int check_word(cfg_t *cfg, cfg_opt_t *option)
{
    bool kind = !strcmp(option->name, "kind");
    if ((kind ? find_kind(given(option)) : find_placement(given(option))) >= 0)
        return 0;
    cfg_error(cfg, "%s = %s: must be %s", option->name, given(option),
              kind ? "rigid, moldable or malleable" : "non-fixed, fixed or semi-fixed");
    return -1;
}

static int check_accepts(cfg_t *cfg, cfg_opt_t *option)
{
    struct pleat_sizes sizes;
    struct pleat_error err = {0};
    return pleat_conversion_sizes_parse(given(option), &sizes, &err) ? refuse(cfg, option, &err)
                                                                     : 0;
}

static int check_model(cfg_t *cfg, cfg_opt_t *option)
{
    struct pleat_workload scratch = {0};
    struct pleat_app app;
    struct pleat_error err = {0};
    int status = pleat_app_parse(given(option), &scratch, &app, &err);
    pleat_workload_finish(&scratch);
    return status ? refuse(cfg, option, &err) : 0;
}

/* Refuses placeholders that do not exist. Whether the type has a step is only known at the end of
 * its section. */
static int check_template(cfg_t *cfg, cfg_opt_t *option)
{
    struct pleat_grid_type type = {.step_ms = 1};
    struct pleat_grid_component component = {.size = 1};
    struct pleat_string text = {0};
    struct pleat_error err = {0};
    int status = pleat_grid_expand(given(option), &type, &component, &text, &err);
    if (!status && strpbrk(given(option), "\r\n"))
        status = pleat_error_set(&err, PLEAT_E_INVALID, "it must be one line");
    pleat_string_finish(&text);
    return status ? refuse(cfg, option, &err) : 0;
}

static int check_site(cfg_t *cfg, cfg_opt_t *option)
{
    struct pleat_grid_site site = {0};
    struct pleat_error err = {0};
    int status = parse_site(given(option), &site, &err);
    free(site.name);
    if (!status && cfg_opt_size(option) > PLEAT_SITES_MAX)
        status = pleat_error_set(&err, PLEAT_E_INVALID, "at most %d sites", PLEAT_SITES_MAX);
    return status ? refuse(cfg, option, &err) : 0;
}

static int check_count(cfg_t *cfg, cfg_opt_t *option)
{
    long value = cfg_opt_getnint(option, 0);
    bool jobs = !strcmp(option->name, "jobs");
    long low = jobs ? 1 : 0, high = jobs ? PLEAT_GENERATE_JOBS_MAX : PLEAT_SIZE_MAX;
    if (value >= low && value <= high)
        return 0;
    cfg_error(cfg, "%s = %ld: must be from %ld to %ld", option->name, value, low, high);
    return -1;
}

static bool read_number(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && !*end;
}

/* Reads "2.5", "popular" or "popular:172800". False: the text is none of these. */
static bool parse_estimate(const char *text, struct pleat_grid_mix *mix)
{
    static const char word[] = "popular";
    size_t length = sizeof(word) - 1;
    double longest_s = 0;
    mix->estimate = 0;
    mix->popular = !strncmp(text, word, length) && (!text[length] || text[length] == ':');
    if (!mix->popular)
        return read_number(text, &mix->estimate) &&
               (mix->estimate == 0 || (mix->estimate >= 1 && mix->estimate <= GRID_ESTIMATE_MAX));
    if (text[length] && !(read_number(text + length + 1, &longest_s) &&
                          longest_s >= PLEAT_ESTIMATE_LONGEST_LEAST_S && longest_s <= 1e9))
        return false;
    mix->popular_longest_us = llround(longest_s) * 1000000;
    return true;
}

static int check_estimate(cfg_t *cfg, cfg_opt_t *option)
{
    struct pleat_grid_mix mix;
    const char *text = cfg_opt_getnstr(option, 0);
    if (parse_estimate(text, &mix))
        return 0;
    cfg_error(cfg,
              "estimate = %s: must be from 1 to %g times the run time, 0 for none, \"popular\", or "
              "\"popular:MAX\" with MAX from %d to 1e9 seconds",
              text, GRID_ESTIMATE_MAX, PLEAT_ESTIMATE_LONGEST_LEAST_S);
    return -1;
}

/* ---- from the values of libconfuse to a mix ---- */

static char *copy(const char *text, bool *failed)
{
    char *own = text ? strdup(text) : NULL;
    *failed = *failed || (text && !own);
    return own;
}

static void take_distribution(cfg_t *cfg, const char *name, struct pleat_distribution *into,
                              bool *failed)
{
    *failed = *failed || pleat_distribution_parse(cfg_getstr(cfg, name), into, NULL);
}

/* Takes the sizes of "accepts = table". */
static int take_table(struct pleat_grid_type *type, struct pleat_error *err)
{
    struct pleat_workload scratch = {0};
    struct pleat_app app = {.speedup.kind = PLEAT_SPEEDUP_LINEAR};
    if (type->sizes_kind != PLEAT_SIZES_LIST)
        return 0;
    int status = type->model ? pleat_app_parse(type->model, &scratch, &app, err) : 0;
    if (!status) {
        status = pleat_workload_check_list(&app, err);
        if (status)
            pleat_error_prefix(err, status, "type %s: accepts = table, model", type->name);
    }
    if (!status && pleat_array_reserve(&type->accepted, app.speedup.count))
        status = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    for (uint32_t i = 0; !status && i < app.speedup.count; i++)
        type->accepted.items[type->accepted.count++] =
            scratch.table.items[app.speedup.first + i].processors;
    pleat_workload_finish(&scratch);
    return status;
}

/* Takes the values of a type. They were checked before, so that only memory can run out, or `run`
 * be missing. After an error *type has what was taken. */
static int take_type(cfg_t *cfg, struct pleat_grid_type *type, struct pleat_error *err)
{
    bool failed = false;
    struct pleat_sizes sizes = {0};
    *type = (struct pleat_grid_type){
        .weight = cfg_getfloat(cfg, "weight"),
        .placement = (enum pleat_grid_placement)find_placement(cfg_getstr(cfg, "placement")),
        .kind = (enum pleat_job_kind)find_kind(cfg_getstr(cfg, "kind")),
        .step_ms = cfg_getfloat(cfg, "step"),
        .minimum = cfg_getfloat(cfg, "minimum"),
        .maximum = cfg_getfloat(cfg, "maximum"),
        .initial = cfg_getfloat(cfg, "initial"),
    };
    type->name = copy(cfg_title(cfg), &failed);
    type->command = copy(cfg_getstr(cfg, "command"), &failed);
    type->options = copy(cfg_getstr(cfg, "options"), &failed);
    type->model = copy(cfg_getstr(cfg, "model"), &failed);
    if (!failed && !cfg_getstr(cfg, "run"))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "type %s: 'run' is missing, the seconds that a job runs",
                               type->name);
    take_distribution(cfg, "components", &type->components, &failed);
    take_distribution(cfg, "size", &type->size, &failed);
    take_distribution(cfg, "run", &type->run, &failed);
    failed = failed || pleat_conversion_sizes_parse(cfg_getstr(cfg, "accepts"), &sizes, NULL);
    type->sizes_kind = sizes.kind;
    type->sizes_step = sizes.step;
    return failed ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory") : take_table(type, err);
}

/* Checks that the values of a section fit together. */
static int check_section(const struct pleat_grid_mix *mix, const struct pleat_grid_type *type,
                         struct pleat_error *err)
{
    struct pleat_grid_component component = {.size = 1};
    struct pleat_string text = {0};
    int status = 0;
    if (!good_name(type->name))
        status = pleat_error_set(err, PLEAT_E_INVALID,
                                 "type \"%s\": a name is of letters, digits and . _ + - (not at "
                                 "its beginning), at most %d",
                                 type->name, NAME_MAX_LENGTH);
    else
        status = pleat_grid_check_type(mix, type, err);
    for (int i = 0; i < 2 && !status; i++) {
        const char *from = i ? type->options : type->command;
        status = from ? pleat_grid_expand(from, type, &component, &text, err) : 0;
        if (status)
            pleat_error_prefix(err, status, "type %s", type->name);
    }
    pleat_string_finish(&text);
    return status;
}

static int take_types(cfg_t *cfg, const char *name, struct pleat_grid_mix *mix,
                      struct pleat_error *err)
{
    unsigned types = cfg_size(cfg, "type");
    if (pleat_array_reserve(&mix->types, types + 1))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    for (unsigned i = 0; i < types; i++) {
        cfg_t *section = cfg_getnsec(cfg, "type", i);
        struct pleat_grid_type *type = &mix->types.items[mix->types.count++];
        int status = take_type(section, type, err);
        if (!status)
            status = check_section(mix, type, err);
        if (status)
            return pleat_error_prefix(err, status, "%s:%d", name, section->line);
    }
    return 0;
}

static int take(cfg_t *cfg, const char *name, struct pleat_grid_mix *mix, struct pleat_error *err)
{
    bool failed = false;
    unsigned sites = cfg_size(cfg, "sites");
    mix->jobs = (size_t)cfg_getint(cfg, "jobs");
    mix->total = (int32_t)cfg_getint(cfg, "total");
    (void)parse_estimate(cfg_getstr(cfg, "estimate"), mix); /* checked before */
    take_distribution(cfg, "gap", &mix->gap, &failed);
    if (failed || pleat_array_reserve(&mix->sites, sites + 1))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    for (unsigned i = 0; i < sites; i++) {
        int status = parse_site(cfg_getnstr(cfg, "sites", i), &mix->sites.items[i], err);
        if (status)
            return status;
        mix->sites.count++;
    }
    return take_types(cfg, name, mix, err);
}

/* ---- a text ---- */

static void set_checks(cfg_t *cfg)
{
    static const char *const distributions[] = {"gap", "type|components", "type|size", "type|run"};
    for (size_t i = 0; i < sizeof(distributions) / sizeof(distributions[0]); i++)
        cfg_set_validate_func(cfg, distributions[i], check_distribution);
    cfg_set_validate_func(cfg, "jobs", check_count);
    cfg_set_validate_func(cfg, "total", check_count);
    cfg_set_validate_func(cfg, "estimate", check_estimate);
    cfg_set_validate_func(cfg, "sites", check_site);
    cfg_set_validate_func(cfg, "type|placement", check_word);
    cfg_set_validate_func(cfg, "type|kind", check_word);
    cfg_set_validate_func(cfg, "type|accepts", check_accepts);
    cfg_set_validate_func(cfg, "type|model", check_model);
    cfg_set_validate_func(cfg, "type|command", check_template);
    cfg_set_validate_func(cfg, "type|options", check_template);
}

static cfg_t *open_schema(void)
{
    cfg_opt_t type[] = {CFG_FLOAT("weight", 1, CFGF_NONE),
                        CFG_STR("command", NULL, CFGF_NONE),
                        CFG_STR("options", NULL, CFGF_NONE),
                        CFG_STR("model", NULL, CFGF_NONE),
                        CFG_STR("placement", "non-fixed", CFGF_NONE),
                        CFG_STR("components", "1", CFGF_NONE),
                        CFG_STR("size", "1", CFGF_NONE),
                        CFG_STR("run", NULL, CFGF_NONE),
                        CFG_FLOAT("step", 0, CFGF_NONE),
                        CFG_STR("kind", "rigid", CFGF_NONE),
                        CFG_FLOAT("minimum", 0.25, CFGF_NONE),
                        CFG_FLOAT("maximum", 2, CFGF_NONE),
                        CFG_FLOAT("initial", 0, CFGF_NONE),
                        CFG_STR("accepts", "any", CFGF_NONE),
                        CFG_END()};
    cfg_opt_t options[] = {CFG_INT("jobs", 100, CFGF_NONE),
                           CFG_STR("gap", "poisson:30", CFGF_NONE),
                           CFG_INT("total", 0, CFGF_NONE),
                           CFG_STR("estimate", "0", CFGF_NONE),
                           CFG_STR_LIST("sites", "{}", CFGF_NONE),
                           CFG_SEC("type", type, CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES),
                           CFG_END()};
    cfg_t *cfg = pleat_config_open(options);
    if (cfg)
        set_checks(cfg);
    return cfg;
}

static int parse(const char *text, const char *name, struct pleat_grid_mix *mix,
                 struct pleat_error *err)
{
    cfg_t *cfg = open_schema();
    if (!cfg)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    int status = pleat_config_parse(cfg, name, text, err);
    if (!status)
        status = take(cfg, name, mix, err);
    if (!status) {
        status = pleat_grid_check(mix, err);
        if (status)
            pleat_error_prefix(err, status, "%s", name);
    }
    pleat_config_close(cfg);
    return status;
}

/* Reads a text that was made fit for libconfuse. */
static int read_prepared(const char *text, const char *name, struct pleat_grid_mix *mix,
                         struct pleat_error *err)
{
    struct pleat_error own = {0};
    int status = parse(text, name, mix, &own);
    if (status) {
        pleat_grid_mix_finish(mix);
        if (err)
            *err = own;
    }
    return status;
}

int pleat_grid_mix_read_text(const char *text, const char *name, struct pleat_grid_mix *mix,
                             struct pleat_error *err)
{
    struct pleat_string prepared = {0};
    pleat_string_add(&prepared, text);
    int status = prepared.failed ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory")
                                 : pleat_config_prepare(name, &prepared, err);
    if (!status)
        status = read_prepared(prepared.text, name, mix, err);
    pleat_string_finish(&prepared);
    return status;
}

int pleat_grid_mix_read(const char *path, struct pleat_grid_mix *mix, struct pleat_error *err)
{
    struct pleat_string text = {0};
    const char *name = strcmp(path, "-") ? path : "/dev/stdin";
    int status = pleat_config_read(name, &text, err);
    if (!status)
        status = read_prepared(text.text, name, mix, err);
    pleat_string_finish(&text);
    return status;
}

void pleat_grid_mix_finish(struct pleat_grid_mix *mix)
{
    for (size_t i = 0; i < mix->types.count; i++) {
        free(mix->types.items[i].name);
        free(mix->types.items[i].command);
        free(mix->types.items[i].options);
        free(mix->types.items[i].model);
        pleat_array_finish(&mix->types.items[i].accepted);
    }
    for (size_t i = 0; i < mix->sites.count; i++)
        free(mix->sites.items[i].name);
    pleat_array_finish(&mix->types);
    pleat_array_finish(&mix->sites);
    memset(mix, 0, sizeof(*mix));
}
