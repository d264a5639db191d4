/* What a log may have in it. In the meta key "knows" the log has what the pleatd that wrote it
 * knew, as names and numbers. An older pleatd, to which somebody goes back, compares this with what
 * it knows itself. Otherwise it would take records that it does not know for damage, and salvage a
 * log that is whole. */
#include <stdio.h>
#include <string.h>

#include "core/core.h"
#include "daemon/crash.h"
#include "daemon/daemon.h"
#include "daemon/log_format.h"

/* To be raised by whoever gives records that there were before (a flag, a member, a value) a
 * meaning that a pleatd from before cannot know. What is counted below needs no hand. */
enum { RULES = 4 };

enum { TEXT_SIZE = 256 };

static int64_t events(void)
{
    int64_t most = 0;
    for (uint32_t kind = 0; kind < PLEAT_EV_COUNT; kind++)
        most = strcmp(pleat_event_name((uint16_t)kind), "?") ? (int64_t)kind : most;
    return most;
}

static int64_t policies(void)
{
    int64_t count = 0;
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++)
        for (uint32_t number = 1; number < 256; number++)
            count += pleat_policy_get((enum pleat_question)q, number) != NULL;
    return count;
}

static int64_t parameters(void)
{
    int64_t most = 0;
    for (uint32_t p = pleat_parameter_next(0); p; p = pleat_parameter_next(p))
        most = p > most ? p : most;
    return most;
}

/* How many things of that name this pleatd knows; -1: it knows no such name. */
static int64_t known(const char *name)
{
    if (!strcmp(name, "rules"))
        return RULES;
    if (!strcmp(name, "events"))
        return events();
    if (!strcmp(name, "parameters"))
        return parameters();
    if (!strcmp(name, "questions"))
        return PLEAT_QUESTION_COUNT;
    return strcmp(name, "policies") ? -1 : policies();
}

static void own_text(char *text, size_t size)
{
    snprintf(text, size, "rules %d events %lld parameters %lld questions %d policies %lld", RULES,
             (long long)events(), (long long)parameters(), PLEAT_QUESTION_COUNT,
             (long long)policies());
}

/* Compares with what the log says; text that says nothing is no reason to refuse the log. */
static int check(const char *text, struct pleat_error *err)
{
    char name[32];
    long long number;
    int length;
    for (; sscanf(text, " %31[a-z] %lld%n", name, &number, &length) == 2; text += length)
        if (number > known(name))
            return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                                   "the log was written by a newer Pleat (%s %lld, this one knows "
                                   "up to %lld): run that version. Jobs that run go on meanwhile",
                                   name, number, (long long)known(name));
    return 0;
}

int log_format_put(struct daemon *d, struct pleat_error *err)
{
    char text[TEXT_SIZE];
    own_text(text, sizeof(text));
    return pleat_store_put_meta(d->store, "knows", text, err);
}

static int write_down(struct daemon *d, struct pleat_error *err)
{
    int rc = pleat_store_begin(d->store, err);
    if (!rc)
        rc = log_format_put(d, err);
    crash_point();
    if (!rc)
        rc = pleat_store_commit(d->store, err);
    crash_point();
    return rc;
}

int log_format_take(struct daemon *d, struct pleat_error *err)
{
    char own[TEXT_SIZE];
    struct pleat_string written = {0};
    own_text(own, sizeof(own));
    int rc = pleat_store_get_meta(d->store, "knows", &written, err);
    bool same = !rc && !strcmp(written.text, own);
    if (!rc)
        rc = check(written.text, err);
    else if (rc == PLEAT_E_NOTFOUND)
        rc = 0;
    pleat_string_finish(&written);
    return rc || same ? rc : write_down(d, err);
}
