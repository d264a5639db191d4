#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm/fold.h"

#define SPIN_US_MAX 1000000u
#define SLICE_US_MAX 10000000u

static const char *const waits[] = {"auto", "native", "yield", "immediate", "spin", "block", NULL};
static const char *const gives[] = {"events", "slice", NULL};
static const char *const nexts[] = {"auto",   "round-robin", "unconsumed",
                                    "sender", "affinity",    NULL};
static const char *const queues[] = {"auto", "local", "global", NULL};
static const char *const shares[] = {"space", "time", NULL};

const char *pleat_fold_wait_name(enum pleat_fold_wait wait)
{
    return wait <= PLEAT_FOLD_WAIT_BLOCK ? waits[wait] : "unknown";
}

const char *pleat_fold_next_name(enum pleat_fold_next next)
{
    return next <= PLEAT_FOLD_NEXT_AFFINITY ? nexts[next] : "unknown";
}

const char *pleat_fold_queue_name(enum pleat_fold_queue queue)
{
    return queue <= PLEAT_FOLD_QUEUE_GLOBAL ? queues[queue] : "unknown";
}

const char *pleat_fold_share_name(enum pleat_fold_share share)
{
    return share <= PLEAT_FOLD_SHARE_TIME ? shares[share] : "unknown";
}

/* ---- one setting ---- */

struct setting {
    const char *key;
    const char *const *words; /* names of the values; NULL: the setting is a duration */
    uint32_t most;            /* the longest duration, in microseconds */
    size_t at;                /* offset in struct pleat_fold_settings */
};

static const struct setting known[] = {
    {"wait", waits, 0, offsetof(struct pleat_fold_settings, wait)},
    {"give", gives, 0, offsetof(struct pleat_fold_settings, give)},
    {"next", nexts, 0, offsetof(struct pleat_fold_settings, next)},
    {"queue", queues, 0, offsetof(struct pleat_fold_settings, queue)},
    {"begin", queues, 0, offsetof(struct pleat_fold_settings, begin)},
    {"share", shares, 0, offsetof(struct pleat_fold_settings, share)},
    {"spin", NULL, SPIN_US_MAX, offsetof(struct pleat_fold_settings, spin_us)},
    {"slice", NULL, SLICE_US_MAX, offsetof(struct pleat_fold_settings, slice_us)},
};
#define KNOWN (sizeof(known) / sizeof(*known))

static int unknown_word(const struct setting *setting, const char *value, struct pleat_error *err)
{
    char list[128] = "";
    size_t used = 0;
    for (size_t i = 0; setting->words[i]; i++)
        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
                                 setting->words[i]);
    return pleat_error_set(err, PLEAT_E_INVALID, "%s=%.40s is not possible: choose one of %s",
                           setting->key, value, list);
}

/* Reads a duration such as "50us", "10ms", "1s". */
static int read_duration(const struct setting *setting, const char *value, uint32_t *us,
                         struct pleat_error *err)
{
    static const struct {
        const char *name;
        uint64_t us;
    } units[] = {{"us", 1}, {"ms", 1000}, {"s", 1000000}};
    char *end;
    unsigned long number = strtoul(value, &end, 10);
    for (size_t i = 0; end > value && *value != '-' && i < sizeof(units) / sizeof(*units); i++) {
        if (strcmp(end, units[i].name) != 0)
            continue;
        if (number > setting->most / units[i].us)
            return pleat_error_set(err, PLEAT_E_INVALID, "%s=%.40s is too long: at most %us",
                                   setting->key, value, setting->most / 1000000);
        *us = (uint32_t)(number * units[i].us);
        return 0;
    }
    return pleat_error_set(err, PLEAT_E_INVALID,
                           "%s=%.40s is not a duration: write for example 50us or 10ms",
                           setting->key, value);
}

static int read_value(const struct setting *setting, const char *value,
                      struct pleat_fold_settings *settings, struct pleat_error *err)
{
    char *at = (char *)settings + setting->at;
    if (!setting->words) {
        uint32_t us = 0;
        int code = read_duration(setting, value, &us, err);
        if (!code)
            memcpy(at, &us, sizeof(us));
        return code;
    }
    for (uint8_t i = 0; setting->words[i]; i++) {
        if (!strcmp(setting->words[i], value)) {
            memcpy(at, &i, sizeof(i));
            return 0;
        }
    }
    return unknown_word(setting, value, err);
}

static int read_setting(char *text, struct pleat_fold_settings *settings, struct pleat_error *err)
{
    char *value = strchr(text, '=');
    if (value)
        *value++ = '\0';
    for (size_t i = 0; value && i < KNOWN; i++)
        if (!strcmp(known[i].key, text))
            return read_value(&known[i], value, settings, err);
    return pleat_error_set(err, PLEAT_E_INVALID,
                           "'%.40s' is not a setting of folding: choose of wait=, spin=, give=, "
                           "slice=, next=, queue=, begin=, share=, "
                           "and for jobs mapping=, boost",
                           text);
}

/* Whether the settings go together. */
static int check(const struct pleat_fold_settings *settings, struct pleat_error *err)
{
    if (settings->share != PLEAT_FOLD_SHARE_TIME)
        return 0;
    if (settings->queue == PLEAT_FOLD_QUEUE_GLOBAL || settings->begin == PLEAT_FOLD_QUEUE_GLOBAL)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "share=time hands processors on from local queues, in which the "
                               "processes of all jobs stand: leave out the global one");
    if (settings->wait != PLEAT_FOLD_WAIT_AUTO && settings->wait != PLEAT_FOLD_WAIT_IMMEDIATE &&
        settings->wait != PLEAT_FOLD_WAIT_SPIN)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "with wait=%s processes do not hand their processors on, so "
                               "share=time would do nothing: choose wait=immediate or wait=spin, "
                               "or leave out share=time",
                               pleat_fold_wait_name((enum pleat_fold_wait)settings->wait));
    return 0;
}

int pleat_fold_settings_parse(const char *text, struct pleat_fold_settings *settings,
                              struct pleat_error *err)
{
    struct pleat_fold_settings read = *settings;
    char copy[256];
    char *rest;
    if (strlen(text) >= sizeof(copy))
        return pleat_error_set(err, PLEAT_E_INVALID, "the settings of folding are too long: %.40s",
                               text);
    memcpy(copy, text, strlen(text) + 1);
    for (char *one = strtok_r(copy, ", ", &rest); one; one = strtok_r(NULL, ", ", &rest)) {
        int code = read_setting(one, &read, err);
        if (code)
            return code;
    }
    int code = check(&read, err);
    if (!code)
        *settings = read;
    return code;
}
