#include "scenario/platform_file.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "config/parse.h"
#include "config/text.h"
#include "scenario/load_trace.h"
#include "scenario/simgrid.h"
#include "scenario/span.h"
#include "scenario/text.h"

/* ---- checks while reading: only then libconfuse knows the line ---- */

static int check_count(cfg_t *cfg, cfg_opt_t *option)
{
    long value = cfg_opt_getnint(option, 0);
    long low = !strcmp(option->name, "threshold") ? 0 : 1;
    if (value >= low && value <= PLEAT_SIZE_MAX)
        return 0;
    cfg_error(cfg, "%s = %ld: must be from %ld to %d", option->name, value, low, PLEAT_SIZE_MAX);
    return -1;
}

static int check_speed(cfg_t *cfg, cfg_opt_t *option)
{
    double value = cfg_opt_getnfloat(option, 0);
    if (value >= 1e-3 && value <= 1e3)
        return 0;
    cfg_error(cfg, "speed = %g: must be from 0.001 to 1000", value);
    return -1;
}

static int check_probability(cfg_t *cfg, cfg_opt_t *option)
{
    double value = cfg_opt_getnfloat(option, 0);
    if (value >= 0 && value < 1)
        return 0;
    cfg_error(cfg, "%s = %g: must be from 0 to less than 1", option->name, value);
    return -1;
}

static int check_span(cfg_t *cfg, cfg_opt_t *option)
{
    struct pleat_error err;
    int64_t us;
    if (!pleat_parse_span(cfg_opt_getnstr(option, 0), &us, &err))
        return 0;
    cfg_error(cfg, "%s = %s", option->name, err.text);
    return -1;
}

static int check_delay(cfg_t *cfg, cfg_opt_t *option)
{
    struct pleat_error err;
    struct pleat_delay delay;
    if (!pleat_parse_delay(cfg_opt_getnstr(option, 0), &delay, &err))
        return 0;
    cfg_error(cfg, "%s = %s", option->name, err.text);
    return -1;
}

static const char *const failures[] = {[PLEAT_FAILURE_NONE] = "none",
                                       [PLEAT_FAILURE_NODE] = "node",
                                       [PLEAT_FAILURE_START] = "start",
                                       [PLEAT_FAILURE_CLAIM] = "claim"};

static int failure_kind(const char *name)
{
    for (int i = 0; i < (int)(sizeof(failures) / sizeof(failures[0])); i++)
        if (!strcmp(failures[i], name))
            return i;
    return -1;
}

static int check_failures(cfg_t *cfg, cfg_opt_t *option)
{
    const char *value = cfg_opt_getnstr(option, 0);
    if (failure_kind(value) >= 0)
        return 0;
    cfg_error(cfg, "failures = %s: must be none, node, start or claim", value);
    return -1;
}

static const char *const queues[] = {
    [PLEAT_QUEUE_NONE] = "none", [PLEAT_QUEUE_FCFS] = "fcfs", [PLEAT_QUEUE_EASY] = "easy"};

static int queue_kind(const char *name)
{
    for (int i = 0; i < (int)(sizeof(queues) / sizeof(queues[0])); i++)
        if (!strcmp(queues[i], name))
            return i;
    return -1;
}

static int check_queue(cfg_t *cfg, cfg_opt_t *option)
{
    const char *value = cfg_opt_getnstr(option, 0);
    if (queue_kind(value) >= 0)
        return 0;
    cfg_error(cfg, "queue = %s: must be none, fcfs or easy", value);
    return -1;
}

static int check_estimate(cfg_t *cfg, cfg_opt_t *option)
{
    double value = cfg_opt_getnfloat(option, 0);
    if (value >= 1 && value <= 1e6)
        return 0;
    cfg_error(cfg, "%s = %g: must be from 1 to 1000000", option->name, value);
    return -1;
}

/* What is wrong with what a site says about the queue of its batch system; NULL: nothing. */
static const char *fault_of_queue(cfg_t *site)
{
    int64_t time = 0;
    if (pleat_parse_span(cfg_getstr(site, "limit"), &time, NULL) ||
        pleat_parse_span(cfg_getstr(site, "leave"), &time, NULL) ||
        pleat_parse_span(cfg_getstr(site, "queue-time"), &time, NULL))
        return "a time is wrong";
    if (time == 0)
        return "queue-time must be more than 0";
    if (queue_kind(cfg_getstr(site, "queue")) == PLEAT_QUEUE_NONE)
        return *cfg_getstr(site, "background-log") ? "background-log needs a queue" : NULL;
    return *cfg_getstr(site, "background-trace")
               ? "background-trace says what others have, and so does its queue: not both"
               : NULL;
}

/* Checks that the settings of a site fit together. */
static int check_site(cfg_t *cfg, cfg_opt_t *option)
{
    cfg_t *site = cfg_opt_getnsec(option, cfg_opt_size(option) - 1);
    const char *name = cfg_title(site), *kind = cfg_getstr(site, "failures");
    int64_t between = 0, joins = 0, leaves = 0, gap = 0, run = 0;
    int failed = pleat_parse_span(cfg_getstr(site, "time-between-failures"), &between, NULL) ||
                 pleat_parse_span(cfg_getstr(site, "joins"), &joins, NULL) ||
                 pleat_parse_span(cfg_getstr(site, "background-gap"), &gap, NULL) ||
                 pleat_parse_span(cfg_getstr(site, "background-run"), &run, NULL) ||
                 (*cfg_getstr(site, "leaves") &&
                  pleat_parse_span(cfg_getstr(site, "leaves"), &leaves, NULL));
    int64_t processors = (int64_t)cfg_getint(site, "nodes") * cfg_getint(site, "slots");
    const char *wrong = NULL;
    if (failed)
        wrong = "a time is wrong";
    else if (!*name || strlen(name) >= sizeof(((struct pleat_sim_site *)0)->name))
        wrong = "its name must have from 1 to 63 bytes";
    else if (processors >= PLEAT_SIZE_MAX)
        wrong = "it has too many processors";
    else if (gap > 0 && cfg_getint(site, "background-processors") > processors)
        wrong = "background-processors are more than it has";
    else if (failure_kind(kind) == PLEAT_FAILURE_NODE && between == 0)
        wrong = "failures of nodes need time-between-failures";
    else if (failure_kind(kind) > PLEAT_FAILURE_NODE &&
             !(cfg_getfloat(site, "failure-probability") > 0))
        wrong = "these failures need failure-probability";
    else if (*cfg_getstr(site, "leaves") && leaves <= joins)
        wrong = "it leaves before it joins";
    else if ((gap > 0) != (run > 0))
        wrong = "background-gap and background-run belong together";
    else if (gap > 0 && *cfg_getstr(site, "background-trace"))
        wrong = "background is a trace or a model, not both";
    else
        wrong = fault_of_queue(site);
    if (!wrong)
        return 0;
    cfg_error(cfg, "site %s: %s", name, wrong);
    return -1;
}

static void set_checks(cfg_t *cfg)
{
    static const char *const counts[] = {"nodes", "slots", "threshold", "background-processors"};
    static const char *const spans[] = {"repair-time",    "time-between-failures",
                                        "background-gap", "background-run",
                                        "joins",          "leaves",
                                        "poll",           "limit",
                                        "leave",          "queue-time",
                                        "claim-each"};
    static const char *const delays[] = {"claim-delay", "start-delay", "grow-delay",
                                         "release-delay"};
    char name[64];
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        snprintf(name, sizeof(name), "site|%s", counts[i]);
        cfg_set_validate_func(cfg, name, check_count);
    }
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
        snprintf(name, sizeof(name), "site|%s", spans[i]);
        cfg_set_validate_func(cfg, name, check_span);
    }
    for (size_t i = 0; i < sizeof(delays) / sizeof(delays[0]); i++) {
        snprintf(name, sizeof(name), "site|%s", delays[i]);
        cfg_set_validate_func(cfg, name, check_delay);
    }
    cfg_set_validate_func(cfg, "site|speed", check_speed);
    cfg_set_validate_func(cfg, "site|failures", check_failures);
    cfg_set_validate_func(cfg, "site|failure-probability", check_probability);
    cfg_set_validate_func(cfg, "site|queue", check_queue);
    cfg_set_validate_func(cfg, "site|background-estimate", check_estimate);
    cfg_set_validate_func(cfg, "site", check_site);
}

/* ---- all of it ---- */

static int64_t span(cfg_t *from, const char *key)
{
    int64_t us = 0;
    return *cfg_getstr(from, key) && pleat_parse_span(cfg_getstr(from, key), &us, NULL) ? 0 : us;
}

static struct pleat_delay delay(cfg_t *from, const char *key)
{
    struct pleat_delay read = {0};
    return pleat_parse_delay(cfg_getstr(from, key), &read, NULL) ? (struct pleat_delay){0} : read;
}

static int take_site(cfg_t *from, const char *path, struct pleat_platform *platform,
                     struct pleat_error *err)
{
    const char *name = cfg_title(from), *trace = cfg_getstr(from, "background-trace");
    for (size_t i = 0; i < platform->sites.count; i++)
        if (!strcmp(platform->sites.items[i].name, name))
            return pleat_error_set(err, PLEAT_E_INVALID, "%s: site %s is there already", path,
                                   name);
    int32_t nodes = (int32_t)cfg_getint(from, "nodes");
    if (platform->sites.count == PLEAT_SITES_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID, "%s: at most %d sites", path, PLEAT_SITES_MAX);
    if (pleat_platform_add(platform, name, nodes))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    struct pleat_sim_site *site = &platform->sites.items[platform->sites.count - 1];
    site->nodes = nodes;
    site->slots = (int32_t)cfg_getint(from, "slots");
    site->threshold = (int32_t)cfg_getint(from, "threshold");
    site->speed = cfg_getfloat(from, "speed");
    site->claim = delay(from, "claim-delay");
    site->claim_each_us = span(from, "claim-each");
    site->start = delay(from, "start-delay");
    site->grow = delay(from, "grow-delay");
    site->release = delay(from, "release-delay");
    site->failure.kind = (enum pleat_failure_kind)failure_kind(cfg_getstr(from, "failures"));
    site->failure.probability = cfg_getfloat(from, "failure-probability");
    site->failure.between_us = span(from, "time-between-failures");
    site->failure.repair_us = span(from, "repair-time");
    site->load_gap_us = span(from, "background-gap");
    site->load_run_us = span(from, "background-run");
    site->load_processors = (int32_t)cfg_getint(from, "background-processors");
    site->poll_us = span(from, "poll");
    site->joins_us = span(from, "joins");
    site->leaves_us = *cfg_getstr(from, "leaves") ? span(from, "leaves") : PLEAT_NEVER;
    site->queue = (enum pleat_queue_kind)queue_kind(cfg_getstr(from, "queue"));
    site->limit_us = span(from, "limit");
    site->leave_us = span(from, "leave");
    site->queue_us = span(from, "queue-time");
    site->load_estimate = cfg_getfloat(from, "background-estimate");
    if (*cfg_getstr(from, "background-log"))
        return pleat_load_log_read(path, cfg_getstr(from, "background-log"), site, err);
    return *trace ? pleat_load_trace_read(path, trace, &site->trace, err) : 0;
}

static uint32_t site_named(const struct pleat_platform *platform, const char *name)
{
    for (size_t i = 0; i < platform->sites.count; i++)
        if (!strcmp(platform->sites.items[i].name, name))
            return (uint32_t)i;
    return PLEAT_NONE;
}

/* Reads "FROM TO BYTES_A_SECOND". A link serves both directions. */
static int take_link(const char *text, const char *path, struct pleat_platform *platform,
                     struct pleat_error *err)
{
    char from[64], to[64];
    double rate = 0;
    int end = 0;
    if (sscanf(text, " %63s %63s %lf %n", from, to, &rate, &end) != 3 || text[end] || rate < 1 ||
        rate > 1e18)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s: link '%s': expected two sites and bytes a second, as in \"vu "
                               "leiden 1e8\"",
                               path, text);
    struct pleat_sim_link link = {site_named(platform, from), site_named(platform, to), rate};
    if (link.from == PLEAT_NONE || link.to == PLEAT_NONE || link.from == link.to)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s: link '%s' is not between two sites of this file", path, text);
    struct pleat_sim_link back = {link.to, link.from, rate};
    return pleat_array_push(&platform->links, link) || pleat_array_push(&platform->links, back)
               ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory")
               : 0;
}

static int parse(cfg_t *cfg, const char *text, const char *name, struct pleat_error *err)
{
    int rc = pleat_config_parse(cfg, name, text, err);
    if (rc)
        return rc;
    if (cfg_size(cfg, "site") == 0)
        return pleat_error_set(err, PLEAT_E_INVALID, "%s: the file has no site", name);
    return 0;
}

static void drop_from(struct pleat_platform *platform, size_t count)
{
    while (platform->sites.count > count) {
        platform->sites.count--;
        pleat_platform_finish_site(&platform->sites.items[platform->sites.count]);
    }
}

/* Reads a text that was made fit for libconfuse. */
static int read_prepared(const char *text, const char *path, struct pleat_platform *platform,
                         struct pleat_error *err)
{
    cfg_opt_t site[] = {CFG_INT("nodes", 1, CFGF_NONE),
                        CFG_INT("slots", 1, CFGF_NONE),
                        CFG_INT("threshold", 0, CFGF_NONE),
                        CFG_FLOAT("speed", 1, CFGF_NONE),
                        CFG_STR("claim-delay", "0", CFGF_NONE),
                        CFG_STR("claim-each", "0", CFGF_NONE),
                        CFG_STR("start-delay", "0", CFGF_NONE),
                        CFG_STR("grow-delay", "0", CFGF_NONE),
                        CFG_STR("release-delay", "0", CFGF_NONE),
                        CFG_STR("failures", "none", CFGF_NONE),
                        CFG_FLOAT("failure-probability", 0, CFGF_NONE),
                        CFG_STR("time-between-failures", "0", CFGF_NONE),
                        CFG_STR("repair-time", "1 h", CFGF_NONE),
                        CFG_STR("background-trace", "", CFGF_NONE),
                        CFG_STR("background-gap", "0", CFGF_NONE),
                        CFG_STR("background-run", "0", CFGF_NONE),
                        CFG_INT("background-processors", 1, CFGF_NONE),
                        CFG_FLOAT("background-estimate", 1, CFGF_NONE),
                        CFG_STR("background-log", "", CFGF_NONE),
                        CFG_STR("queue", "none", CFGF_NONE),
                        CFG_STR("limit", "0", CFGF_NONE),
                        CFG_STR("leave", "30 s", CFGF_NONE),
                        CFG_STR("queue-time", "1 d", CFGF_NONE),
                        CFG_STR("poll", "0", CFGF_NONE),
                        CFG_STR("joins", "0", CFGF_NONE),
                        CFG_STR("leaves", "", CFGF_NONE),
                        CFG_END()};
    cfg_opt_t options[] = {CFG_SEC("site", site, CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES),
                           CFG_STR_LIST("links", "{}", CFGF_NONE), CFG_END()};
    size_t before = platform->sites.count, links = platform->links.count;
    cfg_t *cfg = pleat_config_open(options);
    if (!cfg)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    set_checks(cfg);
    int rc = parse(cfg, text, path, err);
    for (unsigned i = 0; !rc && i < cfg_size(cfg, "site"); i++)
        rc = take_site(cfg_getnsec(cfg, "site", i), path, platform, err);
    for (unsigned i = 0; !rc && i < cfg_size(cfg, "links"); i++)
        rc = take_link(cfg_getnstr(cfg, "links", i), path, platform, err);
    if (rc) {
        drop_from(platform, before);
        platform->links.count = links;
    }
    pleat_config_close(cfg);
    return rc;
}

int pleat_platform_read_text(const char *text, const char *name, struct pleat_platform *platform,
                             struct pleat_error *err)
{
    struct pleat_string copy = {0};
    pleat_string_add(&copy, text);
    int rc = copy.failed ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory")
                         : pleat_config_prepare(name, &copy, err);
    if (!rc)
        rc = read_prepared(copy.text, name, platform, err);
    pleat_string_finish(&copy);
    return rc;
}

/* Is it a plain file in XML? */
static bool is_xml(const char *path)
{
    enum { BEGINNING = 4096 };
    struct pleat_string begin = {0};
    struct stat about;
    bool xml = !stat(path, &about) && S_ISREG(about.st_mode) &&
               !pleat_text_read(path, BEGINNING, &begin, NULL) &&
               pleat_text_first(begin.text ? begin.text : "", begin.length) == '<';
    pleat_string_finish(&begin);
    return xml;
}

int pleat_platform_read(const char *path, struct pleat_platform *platform,
                        struct pleat_string *notes, struct pleat_error *err)
{
    struct pleat_string text = {0};
    bool xml = is_xml(path);
    int rc = xml ? pleat_text_read(path, PLEAT_TEXT_MOST, &text, err)
                 : pleat_config_read(path, &text, err);
    if (!rc && xml)
        rc = pleat_simgrid_read_text(text.text, text.length, path, platform, notes, err);
    else if (!rc)
        rc = read_prepared(text.text, path, platform, err);
    pleat_string_finish(&text);
    return rc;
}
