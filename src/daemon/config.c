#include "daemon/config.h"

#include <arpa/inet.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "config/text.h"
#include "daemon/config_site.h"
#include "wire/address.h"

static int whole(cfg_t *cfg, cfg_opt_t *option, long low, long high)
{
    long value = cfg_opt_getnint(option, cfg_opt_size(option) - 1);
    if (value >= low && value <= high)
        return 0;
    cfg_error(cfg, "%s = %ld: must be from %ld to %ld", option->name, value, low, high);
    return -1;
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

static int check_port(cfg_t *cfg, cfg_opt_t *option)
{
    return whole(cfg, option, 0, UINT16_MAX);
}

static int check_listen(cfg_t *cfg, cfg_opt_t *option)
{
    const char *value = cfg_opt_getnstr(option, cfg_opt_size(option) - 1);
    unsigned char number[sizeof(struct in6_addr)];
    if (!strcmp(value, "auto") || inet_pton(AF_INET, value, number) == 1 ||
        inet_pton(AF_INET6, value, number) == 1)
        return 0;
    cfg_error(cfg,
              "agent_listen = %s: must be auto, or the number of a network interface: 0.0.0.0 for "
              "all, 127.0.0.1 for this machine alone",
              value);
    return -1;
}

static int check_host(cfg_t *cfg, cfg_opt_t *option)
{
    struct pleat_error err;
    const char *value = cfg_opt_getnstr(option, cfg_opt_size(option) - 1);
    if (!pleat_address_check_host(value, &err))
        return 0;
    cfg_error(cfg, "agent_host = %s: %s, as agents are to reach this machine, or auto", value,
              err.text);
    return -1;
}

bool pleat_config_parameter_is_live(uint32_t parameter)
{
    switch (parameter) {
    case PLEAT_PARAM_BARRIER_US:       /* no job of several components is accepted, */
    case PLEAT_PARAM_CLAIM_EARLIER_US: /* no files are brought */
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
        if (found)
            return 0;
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
    return parameter == PLEAT_PARAM_PAUSE_US                                                 ? 1
           : parameter == PLEAT_PARAM_ERRORS_FADE_US                                         ? 3600
           : parameter == PLEAT_PARAM_SHRINK_OFF_US || parameter == PLEAT_PARAM_KEEP_LEFT_US ? 30
           : parameter == PLEAT_PARAM_MOVE_US                                                ? 60
           : parameter == PLEAT_PARAM_REPLACE_US                                             ? 300
                                                 : (double)pleat_parameter_default(parameter) / 1e6;
}

/* Default of a key that is a count. MPL_MAX is not limited here, since users say how far their jobs
 * may be folded (--min, --mpl); an administrator may limit it. REPLACE_SHORT and LEAVE_PROCESSES
 * came later, as some of the times. */
static long usual_number(uint32_t parameter)
{
    return parameter == PLEAT_PARAM_MPL_MAX ? UINT8_MAX
           : parameter == PLEAT_PARAM_REPLACE_SHORT || parameter == PLEAT_PARAM_LEAVE_PROCESSES
               ? 1
               : (long)pleat_parameter_default(parameter);
}

enum { OPTIONS_MAX = PLEAT_QUESTION_COUNT + PLEAT_PARAM_COUNT + 11 };

struct schema {
    cfg_opt_t options[OPTIONS_MAX];
    cfg_opt_t site[CONFIG_SITE_KEYS_MAX];
    char names[PLEAT_PARAM_COUNT][40];
};

static void add(struct schema *schema, size_t *count, cfg_opt_t option)
{
    schema->options[(*count)++] = option;
}

static bool make_schema(struct schema *schema)
{
    size_t count = 0;
    if (!config_site_schema(schema->site))
        return false;
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
    cfg_opt_t listen = CFG_STR("agent_listen", "auto", CFGF_NONE);
    cfg_opt_t port = CFG_INT("agent_port", 0, CFGF_NONE);
    cfg_opt_t host = CFG_STR("agent_host", "auto", CFGF_NONE);
    cfg_opt_t orphan = CFG_FLOAT("agent_orphan_s", 600, CFGF_NONE);
    cfg_opt_t keep = CFG_FLOAT("keep_ended_s", 604800, CFGF_NONE);
    cfg_opt_t checkpoint = CFG_INT("checkpoint_records", 20000, CFGF_NONE);
    cfg_opt_t sites = CFG_SEC("site", schema->site, CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES);
    cfg_opt_t end = CFG_END();
    add(schema, &count, notify);
    add(schema, &count, idle);
    add(schema, &count, answer);
    add(schema, &count, listen);
    add(schema, &count, port);
    add(schema, &count, host);
    add(schema, &count, orphan);
    add(schema, &count, keep);
    add(schema, &count, checkpoint);
    add(schema, &count, sites);
    add(schema, &count, end);
    return true;
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
    cfg_set_validate_func(cfg, "agent_listen", check_listen);
    cfg_set_validate_func(cfg, "agent_port", check_port);
    cfg_set_validate_func(cfg, "agent_host", check_host);
    cfg_set_validate_func(cfg, "agent_orphan_s", check_seconds);
    cfg_set_validate_func(cfg, "keep_ended_s", check_seconds);
    cfg_set_validate_func(cfg, "checkpoint_records", check_records);
    config_site_checks(cfg, schema->site);
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
    config->agent_orphan_us = llround(cfg_getfloat(cfg, "agent_orphan_s") * (double)PLEAT_US_PER_S);
    config->agent_port = (int32_t)cfg_getint(cfg, "agent_port");
    config->agent_listen = strdup(cfg_getstr(cfg, "agent_listen"));
    config->agent_host = strdup(cfg_getstr(cfg, "agent_host"));
    if (!config->agent_listen || !config->agent_host)
        return PLEAT_E_NOMEM;
    config->keep_ended_us = llround(cfg_getfloat(cfg, "keep_ended_s") * (double)PLEAT_US_PER_S);
    config->checkpoint_records = cfg_getint(cfg, "checkpoint_records");
    config->idle_exit_us = llround(cfg_getfloat(cfg, "idle_exit_s") * (double)PLEAT_US_PER_S);
    unsigned sites = cfg_size(cfg, "site");
    config->sites = calloc(sites ? sites : 1, sizeof(*config->sites));
    if (!config->sites)
        return PLEAT_E_NOMEM;
    config->site_count = sites ? sites : 1;
    if (sites == 0)
        return config_site_take(NULL, &config->sites[0]);
    for (unsigned i = 0; i < sites; i++) {
        int rc = config_site_take(cfg_getnsec(cfg, "site", i), &config->sites[i]);
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
    if (!make_schema(&schema))
        return pleat_error_set(err, PLEAT_E_TOOBIG, "the kinds of sites have too many options");
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
    for (size_t i = 0; i < config->site_count && config->sites; i++)
        config_site_finish(&config->sites[i]);
    free(config->sites);
    free(config->agent_listen);
    free(config->agent_host);
    free(config->path);
    memset(config, 0, sizeof(*config));
}
