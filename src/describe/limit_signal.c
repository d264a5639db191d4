/* limit_signal.c - signals by name, and the signal before a time limit. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "describe/values.h"

#define LEAD_S 60

const char *pleat_signal_name(int number, char *text, size_t size)
{
    const char *name = number > 0 && number < NSIG ? sigabbrev_np(number) : NULL;
    if (name)
        snprintf(text, size, "SIG%s", name);
    else
        snprintf(text, size, "signal %d", number);
    return text;
}

/* The number of a signal; 0: there is none of this name or number. */
static int signal_of(const char *text)
{
    int64_t number = 0;
    if (*text >= '0' && *text <= '9')
        return pleat_parse_int("", text, 1, SIGRTMAX, &number, NULL) ? 0 : (int)number;
    if (!strncasecmp(text, "SIG", 3))
        text += 3;
    for (int i = 1; i < NSIG; i++)
        if (sigabbrev_np(i) && !strcasecmp(sigabbrev_np(i), text))
            return i;
    return 0;
}

int pleat_parse_limit_signal(const char *what, const char *text, int *number, double *lead_s,
                             bool *script_only, struct pleat_error *err)
{
    char name[16];
    const char *colon = strchr(text, ':'), *at = text;
    *script_only = colon && colon == text + 1 && (*text == 'B' || *text == 'b');
    if (*script_only)
        at = colon + 1;
    size_t length = strcspn(at, "@");
    snprintf(name, sizeof(name), "%.*s", (int)(length < 15 ? length : 15), at);
    *number = signal_of(name);
    *lead_s = LEAD_S;
    if (*number == 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s: '%s' begins with no signal: USR1, USR1@5min, or B:USR1@90s for "
                               "the script alone",
                               what, text);
    return at[length] ? pleat_parse_duration(what, at + length + 1, lead_s, err) : 0;
}
