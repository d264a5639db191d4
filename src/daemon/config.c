#include "daemon/config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpus.h"
#include "base/utf8.h"
#include "config/parse.h"
#include "config/text.h"
#include "site/site.h"

static int whole(cfg_t *cfg, cfg_opt_t *option, long low, long high)
{
    long value = cfg_opt_getnint(option, cfg_opt_size(option) - 1);
    if (value >= low && value <= high)
        return 0;
    cfg_error(cfg, "%s = %ld: must be from %ld to %ld", option->name, value, low, high);
    return -1;
}

static int check_processors(cfg_t *cfg, cfg_opt_t *option)
{
    return whole(cfg, option, 0, 65536);
}

static int check_nodes(cfg_t *cfg, cfg_opt_t *option)
{
    return whole(cfg, option, 1, 1024);
}

static int check_mpl(cfg_t *cfg, cfg_opt_t *option)
{
    return whole(cfg, option, 1, UINT8_MAX);
}

static int check_count(cfg_t *cfg, cfg_opt_t *option)
{
    return whole(cfg, option, 0, 1000000);
}

static int check_records(cfg_t *cfg, cfg_opt_t *option)
{
    return whole(cfg, option, 1, 1000000000);
}

static int check_seconds(cfg_t *cfg, cfg_opt_t *option)
{
    double value = cfg_opt_getnfloat(option, cfg_opt_size(option) - 1);
    if (value >= 0 && value <= 1e9)
        return 0;
    cfg_error(cfg, "%s = %g: must be from 0 to 1e9 seconds", option->name, value);
    return -1;
}

static int check_background(cfg_t *cfg, cfg_opt_t *option)
{
    const char *value = cfg_opt_getnstr(option, cfg_opt_size(option) - 1);
    if (!strcmp(value, "measure") || !strcmp(value, "ignore") || !strcmp(value, "auto"))
        return 0;
    cfg_error(cfg, "background = %s: must be measure, ignore or auto", value);
    return -1;
}

static int one_of(cfg_t *cfg, cfg_opt_t *option, const char *first, const char *second)
{
    const char *value = cfg_opt_getnstr(option, cfg_opt_size(option) - 1);
    if (!strcmp(value, first) || !strcmp(value, second))
        return 0;
    cfg_error(cfg, "%s = %s: must be %s or %s", option->name, value, first, second);
    return -1;
}

static int check_sharing(cfg_t *cfg, cfg_opt_t *option)
{
    return one_of(cfg, option, "space", "time");
}

static int check_groups(cfg_t *cfg, cfg_opt_t *option)
{
    return one_of(cfg, option, "auto", "off");
}

/* The number of CPUs that the text names; 0: "auto"; -1: it is wrong, and *err says why. */
static int32_t count_cpus(const char *text, struct pleat_error *err)
{
    struct pleat_cpu_list cpus = {0};
    struct pleat_cpu_set here;
    if (!strcmp(text, "auto"))
        return 0;
    int rc = pleat_cpu_list_parse(text, &cpus, err);
    if (!rc && pleat_cpu_set_get(0, &here) == 0)
        for (size_t i = 0; !rc && i < cpus.count; i++)
            if (!pleat_cpu_set_has(&here, cpus.items[i]))
                rc = pleat_error_set(err, PLEAT_E_INVALID,
                                     "CPU %u is not there, or may not be used (see 'nproc', "
                                     "'taskset -p $$')",
                                     cpus.items[i]);
    int32_t count = rc ? -1 : (int32_t)cpus.count;
    pleat_array_finish(&cpus);
    return count;
}

static int check_cpus(cfg_t *cfg, cfg_opt_t *option)
{
    struct pleat_error err = {0};
    const char *value = cfg_opt_getnstr(option, cfg_opt_size(option) - 1);
    if (count_cpus(value, &err) >= 0)
        return 0;
    cfg_error(cfg, "cpus = %s: must be auto, or a list such as 0-3,8: %s", value, err.text);
    return -1;
}

/* Checks the keys of a site against each other. */
static int check_site(cfg_t *cfg, cfg_opt_t *option)
{
    cfg_t *site = cfg_opt_getnsec(option, cfg_opt_size(option) - 1);
    const char *cpus = cfg_getstr(site, "cpus");
    long processors = cfg_getint(site, "processors");
    int32_t count = count_cpus(cpus, NULL);
    if (!pleat_name_is(cfg_title(site))) {
        cfg_error(cfg,
                  "site \"%s\": a name has letters, digits, '-', '_' and '.', at most %d, and "
                  "begins with none of '-' and '.'",
                  cfg_title(site), PLEAT_NAME_MAX);
        return -1;
    }
    if (count <= 0 || processors == 0 || processors == count)
        return 0;
    cfg_error(cfg, "processors = %ld, but cpus = %s names %d: leave one of both out", processors,
              cpus, count);
    return -1;
}

static int check_kind(cfg_t *cfg, cfg_opt_t *option)
{
    const char *value = cfg_opt_getnstr(option, cfg_opt_size(option) - 1);
    struct pleat_string kinds = {0};
    if (pleat_site_find(value))
        return 0;
    pleat_site_kinds_add(&kinds);
    cfg_error(cfg, "kind = %s: must be %s", value, kinds.text);
    pleat_string_finish(&kinds);
    return -1;
}

bool pleat_config_is_live(const struct pleat_policy *policy)
{
    return policy->question != PLEAT_BUFFER || policy == pleat_policy_default(PLEAT_BUFFER);
}

bool pleat_config_parameter_is_live(uint32_t parameter)
{
    switch (parameter) {
    case PLEAT_PARAM_BARRIER_US:       /* no job of several components is accepted, */
    case PLEAT_PARAM_CLAIM_EARLIER_US: /* no files are brought, */
    case PLEAT_PARAM_BUFFER_LEVEL:     /* no job asks for processes */
    case PLEAT_PARAM_BUFFER_REVIEW_US:
    case PLEAT_PARAM_BUFFER_RANGE:
    case PLEAT_PARAM_BUFFER_PENDING:
        return false;
    default:
        return true;
    }
}

static int refuse(cfg_t *cfg, cfg_opt_t *option)
{
    cfg_error(cfg,
              "%s: pleatd has no use for it; it is a parameter of the simulator: pleat sim "
              "--parameter %s=VALUE",
              option->name, option->name);
    return -1;
}

static int check_policy(cfg_t *cfg, cfg_opt_t *option)
{
    const char *value = cfg_opt_getnstr(option, cfg_opt_size(option) - 1);
    char names[400] = "";
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++) {
        if (strcmp(pleat_question_name((enum pleat_question)q), option->name))
            continue;
        const struct pleat_policy *found = pleat_policy_find((enum pleat_question)q, value);
        if (found && pleat_config_is_live(found))
            return 0;
        if (found) {
            cfg_error(cfg, "%s = %s: nothing that runs here asks for processes itself yet",
                      option->name, value);
            return -1;
        }
        const struct pleat_policy *policy;
        for (size_t i = 0; (policy = pleat_policy_at(i)); i++)
            if (policy->question == (enum pleat_question)q)
                snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
                         names[0] ? ", " : "", policy->name);
    }
    cfg_error(cfg, "%s = %s: must be one of %s", option->name, value, names);
    return -1;
}

/* Whether the file has the parameter in seconds; *name: its key, which then ends in "_s"
 * ("claim_s"). */
static bool in_seconds(uint32_t parameter, char *name, size_t size)
{
    snprintf(name, size, "%s", pleat_parameter_name(parameter));
    size_t length = strlen(name);
    if (length < 4 || strcmp(name + length - 3, "_us"))
        return false;
    memcpy(name + length - 2, "s", 2);
    return true;
}

/* Default of a key, in seconds. It differs from the core's default for parameters that came later:
 * in the core they are off, so that an older log decides the same. */
static double usual_seconds(uint32_t parameter)
{
    return parameter == PLEAT_PARAM_PAUSE_US ? 1
           : parameter == PLEAT_PARAM_ERRORS_FADE_US
               ? 3600
               : (double)pleat_parameter_default(parameter) / 1e6;
}

/* Default of a key that is a count. MPL_MAX is not limited here, since users say how far their jobs
 * may be folded (--min, --mpl); an administrator may limit it. */
static long usual_number(uint32_t parameter)
{
    return parameter == PLEAT_PARAM_MPL_MAX ? UINT8_MAX : (long)pleat_parameter_default(parameter);
}

enum { OPTIONS_MAX = PLEAT_QUESTION_COUNT + PLEAT_PARAM_COUNT + 6 };

struct schema {
    cfg_opt_t options[OPTIONS_MAX];
    cfg_opt_t site[10];
    char names[PLEAT_PARAM_COUNT][40];
};

static void add(struct schema *schema, size_t *count, cfg_opt_t option)
{
    schema->options[(*count)++] = option;
}

static void make_schema(struct schema *schema)
{
    size_t count = 0;
    cfg_opt_t site[] = {CFG_STR("kind", "local", CFGF_NONE),
                        CFG_INT("processors", 0, CFGF_NONE),
                        CFG_INT("nodes", 1, CFGF_NONE),
                        CFG_INT("threshold", 0, CFGF_NONE),
                        CFG_STR("background", "auto", CFGF_NONE),
                        CFG_STR("cpus", "auto", CFGF_NONE),
                        CFG_STR("sharing", "space", CFGF_NONE),
                        CFG_STR("cpuset", "auto", CFGF_NONE),
                        CFG_STR("memory_groups", "auto", CFGF_NONE),
                        CFG_END()};
    memcpy(schema->site, site, sizeof(site));
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++) {
        cfg_opt_t option = CFG_STR(pleat_question_name((enum pleat_question)q),
                                   pleat_policy_default((enum pleat_question)q)->name, CFGF_NONE);
        add(schema, &count, option);
    }
    for (uint32_t p = pleat_parameter_next(0); p; p = pleat_parameter_next(p)) {
        bool seconds = in_seconds(p, schema->names[p], sizeof(schema->names[p]));
        cfg_opt_t real = CFG_FLOAT(schema->names[p], usual_seconds(p), CFGF_NONE);
        cfg_opt_t number = CFG_INT(schema->names[p], usual_number(p), CFGF_NONE);
        add(schema, &count, seconds ? real : number);
    }
    cfg_opt_t notify = CFG_FLOAT("notify_limit_s", 60, CFGF_NONE);
    cfg_opt_t idle = CFG_FLOAT("idle_exit_s", 600, CFGF_NONE);
    cfg_opt_t answer = CFG_FLOAT("agent_answer_s", 120, CFGF_NONE);
    cfg_opt_t keep = CFG_FLOAT("keep_ended_s", 604800, CFGF_NONE);
    cfg_opt_t checkpoint = CFG_INT("checkpoint_records", 20000, CFGF_NONE);
    cfg_opt_t sites = CFG_SEC("site", schema->site, CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES);
    cfg_opt_t end = CFG_END();
    add(schema, &count, notify);
    add(schema, &count, idle);
    add(schema, &count, answer);
    add(schema, &count, keep);
    add(schema, &count, checkpoint);
    add(schema, &count, sites);
    add(schema, &count, end);
}

static void set_checks(cfg_t *cfg, struct schema *schema)
{
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++)
        cfg_set_validate_func(cfg, pleat_question_name((enum pleat_question)q), check_policy);
    for (uint32_t p = pleat_parameter_next(0); p; p = pleat_parameter_next(p)) {
        char name[40];
        cfg_set_validate_func(cfg, schema->names[p],
                              !pleat_config_parameter_is_live(p)  ? refuse
                              : in_seconds(p, name, sizeof(name)) ? check_seconds
                              : p == PLEAT_PARAM_MPL_MAX          ? check_mpl
                                                                  : check_count);
    }
    cfg_set_validate_func(cfg, "idle_exit_s", check_seconds);
    cfg_set_validate_func(cfg, "notify_limit_s", check_seconds);
    cfg_set_validate_func(cfg, "agent_answer_s", check_seconds);
    cfg_set_validate_func(cfg, "keep_ended_s", check_seconds);
    cfg_set_validate_func(cfg, "checkpoint_records", check_records);
    cfg_set_validate_func(cfg, "site|kind", check_kind);
    cfg_set_validate_func(cfg, "site|processors", check_processors);
    cfg_set_validate_func(cfg, "site|nodes", check_nodes);
    cfg_set_validate_func(cfg, "site|threshold", check_processors);
    cfg_set_validate_func(cfg, "site|background", check_background);
    cfg_set_validate_func(cfg, "site|cpus", check_cpus);
    cfg_set_validate_func(cfg, "site|sharing", check_sharing);
    cfg_set_validate_func(cfg, "site|cpuset", check_groups);
    cfg_set_validate_func(cfg, "site|memory_groups", check_groups);
    cfg_set_validate_func(cfg, "site", check_site);
}

static int take_site(struct pleat_config_site *site, const char *name, cfg_t *from)
{
    const char *background = from ? cfg_getstr(from, "background") : "auto";
    site->name = strdup(name);
    site->kind = strdup(from ? cfg_getstr(from, "kind") : "local");
    site->processors = from ? (int32_t)cfg_getint(from, "processors") : 0;
    site->nodes = from ? (int32_t)cfg_getint(from, "nodes") : 1;
    site->threshold = from ? (int32_t)cfg_getint(from, "threshold") : 0;
    site->background = !strcmp(background, "measure") ? 1 : !strcmp(background, "ignore") ? 0 : -1;
    const char *cpus = from ? cfg_getstr(from, "cpus") : "auto";
    int32_t count = count_cpus(cpus, NULL);
    if (count > 0) {
        site->processors = count;
        site->cpus = strdup(cpus);
    }
    site->shares_time = from && !strcmp(cfg_getstr(from, "sharing"), "time");
    site->cpusets = !from || !strcmp(cfg_getstr(from, "cpuset"), "auto");
    site->memory_groups = !from || !strcmp(cfg_getstr(from, "memory_groups"), "auto");
    return site->name && site->kind && (count <= 0 || site->cpus) ? 0 : PLEAT_E_NOMEM;
}

static int take(cfg_t *cfg, const struct schema *schema, struct pleat_config *config)
{
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++)
        config->policies[q] = pleat_policy_find(
            (enum pleat_question)q, cfg_getstr(cfg, pleat_question_name((enum pleat_question)q)));
    for (uint32_t p = pleat_parameter_next(0); p; p = pleat_parameter_next(p)) {
        char name[40];
        config->parameters[p] =
            in_seconds(p, name, sizeof(name))
                ? llround(cfg_getfloat(cfg, schema->names[p]) * (double)PLEAT_US_PER_S)
                : cfg_getint(cfg, schema->names[p]);
    }
    config->notify_limit_us = llround(cfg_getfloat(cfg, "notify_limit_s") * (double)PLEAT_US_PER_S);
    config->agent_answer_us = llround(cfg_getfloat(cfg, "agent_answer_s") * (double)PLEAT_US_PER_S);
    config->keep_ended_us = llround(cfg_getfloat(cfg, "keep_ended_s") * (double)PLEAT_US_PER_S);
    config->checkpoint_records = cfg_getint(cfg, "checkpoint_records");
    config->idle_exit_us = llround(cfg_getfloat(cfg, "idle_exit_s") * (double)PLEAT_US_PER_S);
    unsigned sites = cfg_size(cfg, "site");
    config->sites = calloc(sites ? sites : 1, sizeof(*config->sites));
    if (!config->sites)
        return PLEAT_E_NOMEM;
    config->site_count = sites ? sites : 1;
    if (sites == 0)
        return take_site(&config->sites[0], "local", NULL);
    for (unsigned i = 0; i < sites; i++) {
        cfg_t *site = cfg_getnsec(cfg, "site", i);
        int rc = take_site(&config->sites[i], cfg_title(site), site);
        if (rc)
            return rc;
    }
    return 0;
}

static int read_file(cfg_t *cfg, const char *path, struct pleat_error *err)
{
    struct pleat_string text = {0};
    int rc = pleat_config_read(path, &text, err);
    if (!rc)
        rc = pleat_config_parse(cfg, path, text.text, err);
    pleat_string_finish(&text);
    return rc;
}

int pleat_config_load(const char *path, struct pleat_config *config, struct pleat_error *err)
{
    struct schema schema;
    struct pleat_error local = {0};
    memset(config, 0, sizeof(*config));
    memset(&schema, 0, sizeof(schema));
    make_schema(&schema);
    cfg_t *cfg = pleat_config_open(schema.options);
    if (!cfg)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    set_checks(cfg, &schema);
    int rc = path ? read_file(cfg, path, &local) : 0;
    if (!rc && take(cfg, &schema, config))
        pleat_error_set(&local, PLEAT_E_NOMEM, "out of memory");
    if (!local.code && path && !(config->path = strdup(path)))
        pleat_error_set(&local, PLEAT_E_NOMEM, "out of memory");
    pleat_config_close(cfg);
    if (local.code) {
        pleat_config_finish(config);
        if (err)
            *err = local;
    }
    return local.code;
}

void pleat_config_finish(struct pleat_config *config)
{
    for (size_t i = 0; i < config->site_count && config->sites; i++) {
        free(config->sites[i].name);
        free(config->sites[i].kind);
        free(config->sites[i].cpus);
    }
    free(config->sites);
    free(config->path);
    memset(config, 0, sizeof(*config));
}
