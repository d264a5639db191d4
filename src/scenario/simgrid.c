#include "scenario/simgrid.h"

#include <expat.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH_MOST = 64, NAME_SIZE = sizeof(((struct pleat_sim_site *)0)->name) };

/* Hosts of one speed, in a zone or of a cluster. */
struct group {
    char name[NAME_SIZE];
    double speed; /* operations a second */
    int64_t hosts;
};

PLEAT_ARRAY(groups, struct group);

struct zone {
    char name[NAME_SIZE];
};

struct simgrid {
    XML_Parser parser;
    const char *name; /* of the file */
    struct groups groups;
    struct zone zones[DEPTH_MOST]; /* around the present element */
    int depth;
    /* the host or cluster around the present element, until it ends */
    struct group present;
    bool cluster, special;
    size_t left_out, links;
    struct pleat_error *err;
    int rc;
};

/* ---- what is wrong ---- */

static void fail(struct simgrid *grid, const char *element, const char *what)
{
    if (!grid->rc)
        grid->rc = pleat_error_set(grid->err, PLEAT_E_INVALID, "%s:%lu: <%s>: %s", grid->name,
                                   XML_GetCurrentLineNumber(grid->parser), element, what);
    (void)XML_StopParser(grid->parser, XML_FALSE);
}

static void out_of_memory(struct simgrid *grid)
{
    if (!grid->rc)
        grid->rc = pleat_error_set(grid->err, PLEAT_E_NOMEM, "out of memory");
    (void)XML_StopParser(grid->parser, XML_FALSE);
}

/* ---- values ---- */

static const char *attribute(const XML_Char **attributes, const char *name)
{
    for (; attributes[0]; attributes += 2)
        if (!strcmp(attributes[0], name))
            return attributes[1];
    return NULL;
}

/* Reads "100Gf", "1e9", or the first of "100Mf,50Mf" (the power states of a host). */
static bool read_speed(const char *text, double *speed)
{
    static const struct {
        const char *unit;
        double factor;
    } units[] = {{"", 1},     {"f", 1},     {"kf", 1e3},  {"Kf", 1e3},  {"Mf", 1e6},
                 {"Gf", 1e9}, {"Tf", 1e12}, {"Pf", 1e15}, {"Ef", 1e18}, {"Zf", 1e21}};
    char *end;
    double number = strtod(text, &end);
    if (end == text)
        return false;
    size_t length = strcspn(end, ", ");
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strlen(units[i].unit) == length && !strncmp(units[i].unit, end, length)) {
            *speed = number * units[i].factor;
            return *speed >= 0 && *speed <= 1e30;
        }
    return false;
}

/* Counts the hosts of "0-99,120,130-139"; below 0: that is no such list. */
static int64_t count_radical(const char *text)
{
    int64_t count = 0;
    for (;;) {
        char *end;
        long long from = strtoll(text, &end, 10), to = from;
        if (end == text || from < 0)
            return -1;
        if (*end == '-') {
            text = end + 1;
            to = strtoll(text, &end, 10);
            if (end == text || to < from || to > INT32_MAX)
                return -1;
        }
        count += to - from + 1;
        if (!*end)
            return count;
        if (*end != ',' || count > PLEAT_SIZE_MAX)
            return -1;
        text = end + 1;
    }
}

/* ---- groups ---- */

/* Whether the difference is one of rounding only. */
static bool same_speed(double a, double b)
{
    return a - b <= 1e-9 * a && b - a <= 1e-9 * a;
}

static void add_group(struct simgrid *grid, const char *element)
{
    const struct group *present = &grid->present;
    for (size_t i = 0; !grid->cluster && i < grid->groups.count; i++) {
        struct group *group = &grid->groups.items[i];
        if (strcmp(group->name, present->name) != 0 || !same_speed(group->speed, present->speed))
            continue;
        group->hosts += present->hosts;
        if (group->hosts >= PLEAT_SIZE_MAX)
            fail(grid, element, "a site has too many hosts");
        return;
    }
    if (pleat_array_push(&grid->groups, *present))
        out_of_memory(grid);
}

static void begin_hosts(struct simgrid *grid, const char *element, const XML_Char **attributes)
{
    const char *id = attribute(attributes, "id"), *speed = attribute(attributes, "speed");
    const char *radical = attribute(attributes, "radical");
    grid->cluster = strcmp(element, "host") != 0 && strcmp(element, "peer") != 0;
    grid->special = false;
    grid->present = (struct group){.hosts = 1};
    const char *name = grid->cluster || grid->depth == 0 ? id : grid->zones[grid->depth - 1].name;
    const char *wrong = NULL;
    if (!id || !*id || !speed)
        wrong = "needs id and speed";
    else if (!read_speed(speed, &grid->present.speed))
        wrong = "speed is a number of operations a second, such as 100Gf";
    else if (strlen(name) >= NAME_SIZE)
        wrong = "the name of a site has at most 63 bytes";
    else if (grid->cluster && (!radical || (grid->present.hosts = count_radical(radical)) < 1))
        wrong = "radical must list its hosts, as in 0-63";
    else if (grid->present.hosts >= PLEAT_SIZE_MAX)
        wrong = "a site has too many hosts";
    if (wrong) {
        fail(grid, element, wrong);
        return;
    }
    snprintf(grid->present.name, NAME_SIZE, "%s", name);
    grid->special = !grid->cluster && !strncmp(id, "master_host", strlen("master_host"));
}

static void end_hosts(struct simgrid *grid, const char *element)
{
    if (!grid->special && grid->present.speed > 0)
        add_group(grid, element);
    else
        grid->left_out += (size_t)grid->present.hosts;
    grid->present = (struct group){0};
}

/* Whether a property makes a host one that computes no jobs. */
static bool is_special(const char *id, const char *value)
{
    if (!strcmp(id, "batch_system") || !strcmp(id, "pfs_host"))
        return !strcmp(value, "true");
    return !strcmp(id, "role") && (strstr(value, "master") || strstr(value, "storage"));
}

static void begin_zone(struct simgrid *grid, const char *element, const XML_Char **attributes)
{
    const char *id = attribute(attributes, "id");
    if (grid->depth == DEPTH_MOST) {
        fail(grid, element, "zones are nested too deep");
        return;
    }
    snprintf(grid->zones[grid->depth++].name, NAME_SIZE, "%s", id && *id ? id : "zone");
}

/* ---- the parser ---- */

static bool is_hosts(const char *element)
{
    return !strcmp(element, "host") || !strcmp(element, "cluster") || !strcmp(element, "cabinet") ||
           !strcmp(element, "peer");
}

static bool is_zone(const char *element)
{
    return !strcmp(element, "zone") || !strcmp(element, "AS");
}

static void on_begin(void *context, const XML_Char *element, const XML_Char **attributes)
{
    struct simgrid *grid = context;
    const char *id = attribute(attributes, "id"), *value = attribute(attributes, "value");
    if (is_zone(element))
        begin_zone(grid, element, attributes);
    else if (is_hosts(element))
        begin_hosts(grid, element, attributes);
    else if (!strcmp(element, "prop") && id && value && is_special(id, value))
        grid->special = true;
    grid->links += !strcmp(element, "link");
}

static void on_end(void *context, const XML_Char *element)
{
    struct simgrid *grid = context;
    if (grid->rc)
        return;
    if (is_zone(element))
        grid->depth--;
    else if (is_hosts(element))
        end_hosts(grid, element);
}

/* Entities could make a small text a huge one. */
static void on_entity(void *context, const XML_Char *name, int is_parameter, const XML_Char *value,
                      int length, const XML_Char *base, const XML_Char *system,
                      const XML_Char *public, const XML_Char *notation)
{
    (void)name;
    (void)is_parameter;
    (void)value;
    (void)length;
    (void)base;
    (void)system;
    (void)public;
    (void)notation;
    fail(context, "!ENTITY", "a platform that declares entities is not read: write it without");
}

static int parse(struct simgrid *grid, const char *text, size_t length)
{
    grid->parser = XML_ParserCreate(NULL);
    if (!grid->parser)
        return pleat_error_set(grid->err, PLEAT_E_NOMEM, "out of memory");
    XML_SetUserData(grid->parser, grid);
    XML_SetElementHandler(grid->parser, on_begin, on_end);
    XML_SetEntityDeclHandler(grid->parser, on_entity);
    enum XML_Status status =
        length <= INT_MAX ? XML_Parse(grid->parser, text, (int)length, XML_TRUE) : XML_STATUS_ERROR;
    if (status != XML_STATUS_OK && !grid->rc)
        grid->rc = pleat_error_set(grid->err, PLEAT_E_INVALID, "%s:%lu: this is no XML: %s",
                                   grid->name, XML_GetCurrentLineNumber(grid->parser),
                                   XML_ErrorString(XML_GetErrorCode(grid->parser)));
    XML_ParserFree(grid->parser);
    return grid->rc;
}

/* ---- sites ---- */

static bool is_taken(const struct pleat_platform *platform, const char *name)
{
    for (size_t i = 0; i < platform->sites.count; i++)
        if (!strcmp(platform->sites.items[i].name, name))
            return true;
    return false;
}

/* Hosts of several speeds in a zone are sites called zone, zone-2, ... */
static int name_site(const struct simgrid *grid, const struct pleat_platform *platform,
                     const struct group *group, char *name)
{
    snprintf(name, NAME_SIZE, "%s", group->name);
    for (int n = 2; n <= PLEAT_SITES_MAX && is_taken(platform, name); n++)
        snprintf(name, NAME_SIZE, "%.50s-%d", group->name, n);
    return is_taken(platform, name)
               ? pleat_error_set(grid->err, PLEAT_E_INVALID, "%s:1: site %s is there already",
                                 grid->name, name)
               : 0;
}

static int add_site(const struct simgrid *grid, const struct group *group,
                    struct pleat_platform *platform)
{
    char name[NAME_SIZE];
    if (!(platform->flops > 0))
        platform->flops = group->speed;
    double speed = group->speed / platform->flops;
    if (platform->sites.count == PLEAT_SITES_MAX)
        return pleat_error_set(grid->err, PLEAT_E_INVALID, "%s:1: at most %d sites", grid->name,
                               PLEAT_SITES_MAX);
    if (!(speed >= 1e-3 && speed <= 1e3))
        return pleat_error_set(grid->err, PLEAT_E_INVALID,
                               "%s:1: the hosts of %s are %g times as fast as those of the first "
                               "site: not from 0.001 to 1000",
                               grid->name, group->name, speed);
    int rc = name_site(grid, platform, group, name);
    if (rc)
        return rc;
    if (pleat_platform_add(platform, name, (int32_t)group->hosts))
        return pleat_error_set(grid->err, PLEAT_E_NOMEM, "out of memory");
    platform->sites.items[platform->sites.count - 1].speed = speed;
    return 0;
}

static void add_notes(const struct simgrid *grid, struct pleat_string *notes)
{
    if (notes && grid->left_out > 0)
        pleat_string_addf(notes, "%zu host%s left out: a master, a storage, or of speed 0\n",
                          grid->left_out, grid->left_out == 1 ? "" : "s");
    if (notes && grid->links > 0)
        pleat_string_addf(notes, "%zu link%s not read: moving data takes no time here\n",
                          grid->links, grid->links == 1 ? "" : "s");
}

int pleat_simgrid_read_text(const char *text, size_t length, const char *name,
                            struct pleat_platform *platform, struct pleat_string *notes,
                            struct pleat_error *err)
{
    struct simgrid grid = {.name = name, .err = err};
    size_t before = platform->sites.count;
    double flops = platform->flops;
    int rc = parse(&grid, text, length);
    if (!rc && grid.groups.count == 0)
        rc = pleat_error_set(err, PLEAT_E_INVALID,
                             "%s:1: the platform has no host that computes jobs", name);
    for (size_t i = 0; !rc && i < grid.groups.count; i++)
        rc = add_site(&grid, &grid.groups.items[i], platform);
    if (rc) {
        platform->sites.count = before; /* these have nothing of their own to be freed */
        platform->flops = flops;
    } else {
        add_notes(&grid, notes);
    }
    pleat_array_finish(&grid.groups);
    return rc;
}
