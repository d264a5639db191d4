#include "daemon/config_site.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"

/* ---- what a block may have ---- */

static bool has_key(const cfg_opt_t *keys, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(keys[i].name, name))
            return true;
    return false;
}

/* Options of the kinds are texts here: what they must be is for the kind to say. */
bool config_site_schema(cfg_opt_t keys[CONFIG_SITE_KEYS_MAX])
{
    const cfg_opt_t common[] = {
        CFG_STR("kind", "local", CFGF_NONE),  CFG_INT("processors", 0, CFGF_NONE),
        CFG_INT("threshold", 0, CFGF_NONE),   CFG_STR("sharing", "space", CFGF_NONE),
        CFG_STR("cpuset", "auto", CFGF_NONE), CFG_STR("memory_groups", "auto", CFGF_NONE),
        CFG_FLOAT("poll_s", 1, CFGF_NONE),    CFG_STR("interface", "auto", CFGF_NONE),
    };
    const cfg_opt_t end = CFG_END();
    size_t count = sizeof(common) / sizeof(common[0]);
    const struct pleat_site_ops *kind;
    memcpy(keys, common, sizeof(common));
    for (size_t k = 0; (kind = pleat_site_kind_at(k)); k++) {
        for (const struct pleat_site_option *o = kind->options; o && o->name; o++) {
            const cfg_opt_t key = CFG_STR(o->name, o->usual, CFGF_NONE);
            if (has_key(keys, count, o->name))
                continue;
            if (count + 1 == CONFIG_SITE_KEYS_MAX)
                return false;
            keys[count++] = key;
        }
    }
    keys[count] = end;
    return true;
}

/* ---- checks of a key ---- */

static const char *text_of(cfg_opt_t *option)
{
    return cfg_opt_getnstr(option, cfg_opt_size(option) - 1);
}

/* The name of an interface becomes a word of MPI launchers' command lines. */
static int check_interface(cfg_t *cfg, cfg_opt_t *option)
{
    const char *text = text_of(option);
    size_t length = strlen(text);
    bool good = length > 0 && length < 16 && text[0] != '-';
    for (size_t i = 0; i < length; i++)
        good = good && (isalnum((unsigned char)text[i]) || strchr("_.-", text[i]));
    if (good)
        return 0;
    cfg_error(cfg,
              "interface = %s: must be auto, or the name of a network interface: 1 to 15 letters, "
              "digits, '_', '.' and '-', the last one not first",
              text);
    return -1;
}

static int check_processors(cfg_t *cfg, cfg_opt_t *option)
{
    long value = cfg_opt_getnint(option, cfg_opt_size(option) - 1);
    if (value >= 0 && value <= 65536)
        return 0;
    cfg_error(cfg, "%s = %ld: must be from 0 to 65536", option->name, value);
    return -1;
}

static int check_poll(cfg_t *cfg, cfg_opt_t *option)
{
    double value = cfg_opt_getnfloat(option, cfg_opt_size(option) - 1);
    if (value >= 1 && value <= 1e6)
        return 0;
    cfg_error(cfg, "%s = %g: must be from 1 to 1e6 seconds", option->name, value);
    return -1;
}

static int one_of(cfg_t *cfg, cfg_opt_t *option, const char *first, const char *second)
{
    const char *value = text_of(option);
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

static int check_kind(cfg_t *cfg, cfg_opt_t *option)
{
    struct pleat_string kinds = {0};
    if (pleat_site_find(text_of(option)))
        return 0;
    pleat_site_kinds_add(&kinds);
    cfg_error(cfg, "kind = %s: must be %s", text_of(option), kinds.text);
    pleat_string_finish(&kinds);
    return -1;
}

/* Keeps the line of an option that only some kinds have: it is checked at the end of the block,
 * when the kind of the site is known. */
static int note_line(cfg_t *cfg, cfg_opt_t *option)
{
    char line[16];
    snprintf(line, sizeof(line), "%d", cfg->line);
    cfg_opt_setcomment(option, line);
    return 0;
}

/* ---- a whole block ---- */

/* The options of kinds in a block; NULL: that was the last. */
static cfg_opt_t *next_own(cfg_t *block, unsigned *index)
{
    for (unsigned i = *index; i < cfg_num(block); i++) {
        cfg_opt_t *option = cfg_getnopt(block, i);
        if ((option->flags & CFGF_MODIFIED) && cfg_opt_getcomment(option)) {
            *index = i + 1;
            return option;
        }
    }
    return NULL;
}

static int fails(cfg_t *block, const cfg_opt_t *option, const char *text)
{
    if (option && option->comment)
        block->line = atoi(option->comment);
    cfg_error(block, "%s", text);
    return -1;
}

/* The site is of a kind that has no such option. */
static int is_strange(cfg_t *block, const cfg_opt_t *option, const struct pleat_site_ops *own)
{
    struct pleat_string text = {0};
    const struct pleat_site_ops *kind;
    for (size_t k = 0; (kind = pleat_site_kind_at(k)); k++) {
        const struct pleat_site_option *row = pleat_site_option_find(kind, option->name);
        if (!row)
            continue;
        if (text.length)
            pleat_string_addf(&text, ", and those of the kind %s", kind->name);
        else
            pleat_string_addf(&text, "%s: sites of the kind %s have it (%s)", row->name, kind->name,
                              row->help);
    }
    pleat_string_addf(&text, ", but site \"%s\" is of the kind %s", cfg_title(block), own->name);
    (void)fails(block, option, text.failed ? option->name : text.text);
    pleat_string_finish(&text);
    return -1;
}

static int take_own(cfg_t *block, struct pleat_config_site *site, struct pleat_error *err)
{
    cfg_opt_t *option;
    for (unsigned i = 0; (option = next_own(block, &i));) {
        const struct pleat_site_option *row = pleat_site_option_find(site->ops, option->name);
        int rc = row ? pleat_site_own_set(site->own, row, text_of(option), err) : 0;
        if (rc)
            return rc;
    }
    return 0;
}

/* ---- the text of a block ---- */

/* Between single quotes libconfuse replaces nothing but \\ and \'. */
static void add_quoted(struct pleat_string *block, const char *text)
{
    pleat_string_add(block, "'");
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            pleat_string_add(block, "\\");
        pleat_string_add_bytes(block, text, 1);
    }
    pleat_string_add(block, "'");
}

void config_site_begin(struct pleat_string *block, const char *name)
{
    pleat_string_add(block, "site ");
    add_quoted(block, name);
    pleat_string_add(block, " {\n");
}

int config_site_add(struct pleat_string *block, const char *key, const char *value,
                    struct pleat_error *err)
{
    cfg_opt_t keys[CONFIG_SITE_KEYS_MAX];
    size_t count = 0;
    if (!config_site_schema(keys))
        return pleat_error_set(err, PLEAT_E_TOOBIG, "the kinds of sites have too many options");
    while (keys[count].name)
        count++;
    if (!has_key(keys, count, key))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%.60s: sites have no such option: pleat.conf(5) lists them", key);
    for (const unsigned char *at = (const unsigned char *)value; *at; at++)
        if (*at < ' ' || *at == 127)
            return pleat_error_set(err, PLEAT_E_INVALID, "%s: it has control characters", key);
    pleat_string_addf(block, "  %s = ", key);
    add_quoted(block, value);
    pleat_string_add(block, "\n");
    return 0;
}

void config_site_end(struct pleat_string *block)
{
    pleat_string_add(block, "}\n");
}

/* What a block says, written anew; NULL: out of memory. */
static char *block_of(cfg_t *from)
{
    struct pleat_string block = {0};
    config_site_begin(&block, from ? cfg_title(from) : "local");
    for (unsigned i = 0; from && i < cfg_num(from); i++) {
        cfg_opt_t *option = cfg_getnopt(from, i);
        char number[40];
        const char *value = number;
        if (!(option->flags & CFGF_MODIFIED) || cfg_opt_size(option) == 0)
            continue;
        if (option->type == CFGT_INT)
            snprintf(number, sizeof(number), "%ld", cfg_opt_getnint(option, 0));
        else if (option->type == CFGT_FLOAT)
            snprintf(number, sizeof(number), "%.17g", cfg_opt_getnfloat(option, 0));
        else
            value = text_of(option);
        pleat_string_addf(&block, "  %s = ", option->name);
        add_quoted(&block, value);
        pleat_string_add(&block, "\n");
    }
    config_site_end(&block);
    if (!block.failed)
        return block.text;
    pleat_string_finish(&block);
    return NULL;
}

int config_site_read(const char *block, struct pleat_config_site *site, struct pleat_error *err)
{
    static const char name[] = "block";
    cfg_opt_t keys[CONFIG_SITE_KEYS_MAX];
    struct pleat_error own = {0};
    memset(site, 0, sizeof(*site));
    if (!config_site_schema(keys))
        return pleat_error_set(err, PLEAT_E_TOOBIG, "the kinds of sites have too many options");
    cfg_opt_t options[] = {CFG_SEC("site", keys, CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES),
                           CFG_END()};
    cfg_t *cfg = pleat_config_open(options);
    if (!cfg)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    config_site_checks(cfg, keys);
    int rc = pleat_config_parse(cfg, name, block, &own);
    if (!rc && cfg_size(cfg, "site") != 1)
        rc = pleat_error_set(&own, PLEAT_E_INVALID, "it is not one site");
    if (!rc && config_site_take(cfg_getnsec(cfg, "site", 0), site)) {
        rc = pleat_error_set(&own, PLEAT_E_NOMEM, "out of memory");
        config_site_finish(site);
    }
    pleat_config_close(cfg);
    if (rc) {
        const char *text = strstr(own.text, ": ");
        bool has_line = !strncmp(own.text, name, sizeof(name) - 1) && text;
        pleat_error_set(err, rc, "%s", has_line ? text + 2 : own.text);
    }
    return rc;
}

int config_site_take(cfg_t *from, struct pleat_config_site *site)
{
    memset(site, 0, sizeof(*site));
    site->from = from ? PLEAT_FROM_FILE : PLEAT_FROM_DEFAULT;
    site->block = block_of(from);
    site->ops = pleat_site_find(from ? cfg_getstr(from, "kind") : "local");
    site->name = strdup(from ? cfg_title(from) : "local");
    site->brings_agents = site->ops->capabilities & PLEAT_SITE_BRINGS_AGENTS;
    site->shares_time = from && !strcmp(cfg_getstr(from, "sharing"), "time");
    site->cpusets = !from || !strcmp(cfg_getstr(from, "cpuset"), "auto");
    site->poll_us = llround((from ? cfg_getfloat(from, "poll_s") : 1) * (double)PLEAT_US_PER_S);
    site->memory_groups = !from || !strcmp(cfg_getstr(from, "memory_groups"), "auto");
    const char *interface = from ? cfg_getstr(from, "interface") : "auto";
    site->interface = strcmp(interface, "auto") ? strdup(interface) : NULL;
    if (!site->name || !site->block || pleat_site_own_make(site->ops, &site->own) ||
        (from && take_own(from, site, NULL)))
        return PLEAT_E_NOMEM;
    struct pleat_site_options options = {
        .name = site->name,
        .processors = from ? (int32_t)cfg_getint(from, "processors") : 0,
        .threshold = from ? (int32_t)cfg_getint(from, "threshold") : 0,
        .own = site->own};
    if (site->ops->settle)
        (void)site->ops->settle(&options, NULL);
    site->here.nodes = site->brings_agents ? 0 : 1;
    if (site->ops->here)
        site->ops->here(site->own, &site->here);
    site->processors = options.processors;
    site->threshold = options.threshold;
    return 0;
}

void config_site_finish(struct pleat_config_site *site)
{
    if (site->ops)
        pleat_site_own_free(site->ops, site->own);
    free(site->name);
    free(site->block);
    free(site->interface);
    json_decref(site->shut);
    memset(site, 0, sizeof(*site));
}

/* Checks the options of its kind against each other. */
static int check_settled(cfg_t *block, const struct pleat_site_ops *kind)
{
    struct pleat_config_site site = {.ops = kind};
    struct pleat_error err = {0};
    int rc = pleat_site_own_make(kind, &site.own);
    if (!rc)
        rc = take_own(block, &site, &err);
    struct pleat_site_options options = {.name = cfg_title(block),
                                         .processors = (int32_t)cfg_getint(block, "processors"),
                                         .threshold = (int32_t)cfg_getint(block, "threshold"),
                                         .own = site.own};
    if (!rc && kind->settle)
        rc = kind->settle(&options, &err);
    if (rc == PLEAT_E_NOMEM) {
        pleat_error_set(&err, rc, "out of memory");
        pleat_config_fail(block, &err);
    } else if (rc) {
        cfg_error(block, "%s", err.text);
    }
    config_site_finish(&site);
    return rc ? -1 : 0;
}

static int check_site(cfg_t *cfg, cfg_opt_t *section)
{
    cfg_t *block = cfg_opt_getnsec(section, cfg_opt_size(section) - 1);
    const struct pleat_site_ops *kind = pleat_site_find(cfg_getstr(block, "kind"));
    cfg_opt_t *option;
    if (!pleat_name_is(cfg_title(block))) {
        cfg_error(cfg,
                  "site \"%s\": a name has letters, digits, '-', '_' and '.', at most %d, and "
                  "begins with none of '-' and '.'",
                  cfg_title(block), PLEAT_NAME_MAX);
        return -1;
    }
    for (unsigned i = 0; (option = next_own(block, &i));) {
        const struct pleat_site_option *row = pleat_site_option_find(kind, option->name);
        struct pleat_error err = {0};
        if (!row)
            return is_strange(block, option, kind);
        if (pleat_site_option_check(row, text_of(option), &err))
            return fails(block, option, err.text);
    }
    block->line = cfg->line;
    return check_settled(block, kind);
}

void config_site_checks(cfg_t *cfg, const cfg_opt_t *keys)
{
    static const struct {
        const char *key;
        cfg_validate_callback_t check;
    } common[] = {{"kind", check_kind},
                  {"processors", check_processors},
                  {"threshold", check_processors},
                  {"sharing", check_sharing},
                  {"cpuset", check_groups},
                  {"memory_groups", check_groups},
                  {"poll_s", check_poll},
                  {"interface", check_interface}};
    char path[80];
    size_t count = sizeof(common) / sizeof(common[0]);
    for (size_t i = 0; keys[i].name; i++) {
        cfg_validate_callback_t check = note_line;
        for (size_t c = 0; c < count; c++)
            if (!strcmp(common[c].key, keys[i].name))
                check = common[c].check;
        snprintf(path, sizeof(path), "site|%s", keys[i].name);
        cfg_set_validate_func(cfg, path, check);
    }
    cfg_set_validate_func(cfg, "site", check_site);
}
