/* host.h - what sites and runners may use of whoever drives them: the daemon's loop, a test's
 * simulated clock. */
#ifndef PLEAT_MODEL_HOST_H
#define PLEAT_MODEL_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include "model/event.h"

enum {
    PLEAT_COMMAND_OUTPUT_MAX =
        16777216,                    /* bytes of a command's output that are kept, if not said */
    PLEAT_COMMAND_ERRORS_MAX = 4096, /* bytes of its standard error */
    PLEAT_COMMAND_LIMIT_S = 60,      /* how long it may take, if not said */
    PLEAT_HELPER_LINE_MAX = 16777216 /* bytes of a line that a helper says */
};

/* A program to be run. All of it is copied. What comes from users or from a batch system is a word
 * of argv or a value of the environment, never part of a text that a shell reads. */
struct pleat_command {
    const char *const *argv;        /* ends with NULL; a name without '/' is looked for in PATH */
    const char *const *environment; /* NAME=VALUE, added to the driver's own or instead of what it
                                       has; ends with NULL. NULL: nothing */
    const char *input;              /* for its standard input, which then ends; NULL: nothing */
    size_t input_length;
    size_t output_max; /* further output is read and forgotten; 0: as above */
    int64_t limit_us;  /* then it is killed, with its process group; 0: as above */
};

enum pleat_command_end {
    PLEAT_COMMAND_EXITED,     /* `code`: the exit code */
    PLEAT_COMMAND_KILLED,     /* `code`: the signal */
    PLEAT_COMMAND_TIMED_OUT,  /* it was killed after its limit */
    PLEAT_COMMAND_NOT_STARTED /* `errors` says why */
};

/* What has become of it; borrowed for the call. */
struct pleat_command_result {
    enum pleat_command_end end;
    int code;
    bool truncated; /* there was more output */
    size_t output_length;
    const char *output; /* ends with a NUL; "": none */
    const char *errors; /* the beginning of its standard error; ends with a NUL */
};

typedef void pleat_command_done(void *fn_arg, uint64_t token,
                                const struct pleat_command_result *result);

/* A program that runs on, and speaks with the driver in lines. It must end when its standard input
 * does. Its standard error is the driver's. */
struct pleat_helper;

struct pleat_helper_callbacks {
    /* A line that it wrote, without the line's end; borrowed for the call. */
    void (*line)(void *fn_arg, const char *line, size_t length);
    /* It has ended, or was never there (NOT_STARTED): the last callback; the helper is gone. */
    void (*ended)(void *fn_arg, const struct pleat_command_result *result);
};

/* How an agent is started that calls pleatd from a node of a site (PLEAT_SITE_BRINGS_AGENTS). */
struct pleat_agent_call {
    const char *const *argv; /* the program's path, as it is on pleatd's host, and its words */
    /* The line that it reads first from its standard input: its secret, which is neither in argv
     * nor in a file that others may read; NULL: it needs none */
    const char *input;
};

struct pleat_host {
    void *arg;
    /* The driver's time, microseconds since 1970; never goes back. */
    int64_t (*now_us)(void *arg);
    /* Queues an event for the driver's next turn: it is never applied inside the call, so that
     * whoever calls a site or a runner is not called back from within. time_us is filled in. */
    void (*emit)(void *arg, const struct pleat_event *event);
    /* Calls fn(fn_arg, token) from the loop, delay_us from now. Out of memory is fatal to the
     * driver, not returned. A driver drops what is pending before it closes the site or runner. */
    void (*later)(void *arg, int64_t delay_us, void (*fn)(void *fn_arg, uint64_t token),
                  void *fn_arg, uint64_t token);

    /* The following are for sites. None of them waits, none calls back from within, and out of
     * memory is fatal to the driver. Whatever was begun is killed when the driver ends, also if
     * that is killed. */

    /* Runs a command; done(fn_arg, token, result) is called once, unless it is dropped before. */
    void (*run)(void *arg, const struct pleat_command *command, pleat_command_done *done,
                void *fn_arg, uint64_t token);
    /* Starts a helper; of the command only argv and environment are used. Never NULL: what could
     * not be started has ended. */
    struct pleat_helper *(*helper_start)(void *arg, const struct pleat_command *command,
                                         const struct pleat_helper_callbacks *callbacks,
                                         void *fn_arg);
    /* Says a line to it; `line` has no line's end. PLEAT_E_BUSY: it does not read what it was told
     * (64 MiB wait), PLEAT_E_STATE: it has ended, which is about to be told. */
    int (*helper_say)(void *arg, struct pleat_helper *helper, const char *line);
    /* Fills in how the agent of a node of the site with that index in the core is started. The
     * words are borrowed until the next such call. PLEAT_E_SYSTEM, PLEAT_E_NOTFOUND. */
    int (*agent_call)(void *arg, uint32_t site, uint32_t node, struct pleat_agent_call *call,
                      struct pleat_error *err);
    /* Whether an agent of that node lives that was started before, though the site has given the
     * node up: another node needs another number. NULL: none ever does. */
    bool (*node_is_taken)(void *arg, uint32_t site, uint32_t node);
    /* Tells people something of the site with that index in the core: in pleatd's log, and as an
     * event of the daemon. Not for what comes again and again. */
    void (*say)(void *arg, uint32_t site, const char *text);
    /* Tells the user of the job that has this claim (its id, and its index as in the call): a
     * warning among what happened to the job, shown with it until it runs again. Before the event
     * that it explains. Nobody is told of a claim that is not there any more. */
    void (*tell)(void *arg, uint32_t index, uint64_t claim, const char *text);
    /* Kills all commands and helpers of this fn_arg and forgets its timers: none of its functions
     * is called any more. A site does so when it is closed. */
    void (*drop)(void *arg, void *fn_arg);
};

#endif
