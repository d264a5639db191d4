#include "base/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name; /* as in limits.conf(5) */
    int resource;
} known[] = {
    {"cpu", RLIMIT_CPU},           {"fsize", RLIMIT_FSIZE},
    {"data", RLIMIT_DATA},         {"stack", RLIMIT_STACK},
    {"core", RLIMIT_CORE},         {"rss", RLIMIT_RSS},
    {"nproc", RLIMIT_NPROC},       {"nofile", RLIMIT_NOFILE},
    {"memlock", RLIMIT_MEMLOCK},   {"as", RLIMIT_AS},
    {"locks", RLIMIT_LOCKS},       {"sigpending", RLIMIT_SIGPENDING},
    {"msgqueue", RLIMIT_MSGQUEUE}, {"nice", RLIMIT_NICE},
    {"rtprio", RLIMIT_RTPRIO},     {"rttime", RLIMIT_RTTIME},
};

#define KNOWN (sizeof(known) / sizeof(known[0]))

static void unlimit(struct pleat_limits *limits)
{
    for (size_t i = 0; i < RLIM_NLIMITS; i++)
        limits->values[i] = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
}

void pleat_limits_here(struct pleat_limits *limits)
{
    unlimit(limits);
    for (size_t i = 0; i < KNOWN; i++)
        (void)getrlimit((__rlimit_resource_t)known[i].resource, &limits->values[known[i].resource]);
}

static void add_value(struct pleat_string *text, rlim_t value)
{
    if (value == RLIM_INFINITY)
        pleat_string_add(text, "*");
    else
        pleat_string_addf(text, "%" PRIu64, (uint64_t)value);
}

void pleat_limits_text(const struct pleat_limits *limits, struct pleat_string *text)
{
    for (size_t i = 0; i < KNOWN; i++) {
        const struct rlimit *value = &limits->values[known[i].resource];
        if (value->rlim_cur == RLIM_INFINITY && value->rlim_max == RLIM_INFINITY)
            continue;
        pleat_string_addf(text, "%s%s=", text->length ? " " : "", known[i].name);
        add_value(text, value->rlim_cur);
        pleat_string_add(text, ":");
        add_value(text, value->rlim_max);
    }
}

/* Reads a number or '*' that is followed by `end`. */
static bool read_value(const char **at, char end, rlim_t *value)
{
    char *rest = NULL;
    if (**at == '*') {
        *value = RLIM_INFINITY;
        rest = (char *)(uintptr_t)(*at + 1);
    } else if (**at >= '0' && **at <= '9') {
        errno = 0;
        *value = strtoull(*at, &rest, 10);
        if (errno)
            return false;
    }
    if (!rest || (*rest != end && !(end == ' ' && *rest == '\0')))
        return false;
    *at = rest + (*rest != '\0');
    return true;
}

static int find(const char *name, size_t length)
{
    for (size_t i = 0; i < KNOWN; i++)
        if (strlen(known[i].name) == length && strncmp(known[i].name, name, length) == 0)
            return known[i].resource;
    return -1;
}

int pleat_limits_parse(const char *text, struct pleat_limits *limits, struct pleat_error *err)
{
    unlimit(limits);
    for (const char *at = text; *at;) {
        const char *word = at;
        size_t length = strcspn(at, "= ");
        int resource = find(at, length);
        struct rlimit value = {0, 0};
        at += length;
        bool good = resource >= 0 && *at++ == '=' && read_value(&at, ':', &value.rlim_cur) &&
                    read_value(&at, ' ', &value.rlim_max) && value.rlim_cur <= value.rlim_max;
        if (!good)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "'%.40s' is no limit: NAME=SOFT:HARD, such as nofile=1024:4096, "
                                   "with * for none",
                                   word);
        limits->values[resource] = value;
    }
    return 0;
}

int pleat_limits_set(const struct pleat_limits *limits)
{
    int code = 0;
    for (size_t i = 0; i < KNOWN; i++) {
        __rlimit_resource_t resource = (__rlimit_resource_t)known[i].resource;
        struct rlimit own, value = limits->values[known[i].resource];
        if (getrlimit(resource, &own))
            continue;
        if (value.rlim_max > own.rlim_max)
            value.rlim_max = own.rlim_max;
        if (value.rlim_cur > value.rlim_max)
            value.rlim_cur = value.rlim_max;
        if (setrlimit(resource, &value) && !code)
            code = errno;
    }
    return code;
}
