/* host.h - what sites and runners may use of whoever drives them: the daemon's loop, a test's
 * simulated clock. */
#ifndef PLEAT_MODEL_HOST_H
#define PLEAT_MODEL_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include "model/event.h"

enum {
    PLEAT_COMMAND_OUTPUT_MAX = 16777216, /* bytes of a command's output that are kept, unless the
                                          * command says otherwise */
    PLEAT_COMMAND_ERRORS_MAX = 4096,     /* bytes of its standard error */
    PLEAT_COMMAND_LIMIT_S = 60,          /* how long a command may take, unless it says otherwise */
    PLEAT_HELPER_LINE_MAX = 16777216     /* bytes of a line that a helper writes */
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
    int64_t limit_us;  /* after this time it is killed, with its process group; 0: as above */
};

enum pleat_command_end {
    PLEAT_COMMAND_EXITED,     /* `code`: the exit code */
    PLEAT_COMMAND_KILLED,     /* `code`: the signal */
    PLEAT_COMMAND_TIMED_OUT,  /* it was killed, since its time was over */
    PLEAT_COMMAND_NOT_STARTED /* `errors` says why */
};

/* What has become of a command; borrowed for the call. */
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

/* A program that goes on running, and exchanges lines with the driver. It must end when its
 * standard input ends. Its standard error is the driver's. */
struct pleat_helper;

struct pleat_helper_callbacks {
    /* A line that the helper wrote, without the line's end; borrowed for the call. */
    void (*line)(void *fn_arg, const char *line, size_t length);
    /* The helper has ended, or could not be started (NOT_STARTED). This is the last callback, and
     * the helper is gone. */
    void (*ended)(void *fn_arg, const struct pleat_command_result *result);
};

/* How an agent is started that calls pleatd from a node of a site (PLEAT_SITE_BRINGS_AGENTS). */
struct pleat_agent_call {
    const char *const *argv; /* the program's path, as it is on pleatd's host, and its words */
    /* The first line on the agent's standard input: its secret, which is neither in argv nor in a
     * file that others may read; NULL: it needs none */
    const char *input;
};

struct pleat_host {
    void *arg;
    /* The driver's time, microseconds since 1970; never goes back. */
    int64_t (*now_us)(void *arg);
    /* Queues an event for the driver's next turn: it is never applied inside the call, so that
     * whoever calls a site or a runner is not called back from within. time_us is filled in. */
    void (*emit)(void *arg, const struct pleat_event *event);
    /* Calls fn(fn_arg, token) from the loop when now_us is delay_us further, not before. Out of
     * memory is fatal to the driver, not returned. A driver drops what is pending before it closes
     * the site or runner. */
    void (*later)(void *arg, int64_t delay_us, void (*fn)(void *fn_arg, uint64_t token),
                  void *fn_arg, uint64_t token);

    /* The following are for sites. None of them waits, none calls back from within, and out of
     * memory is fatal to the driver. All that they started is killed when the driver ends, also
     * where the driver is killed. */

    /* Runs a command; done(fn_arg, token, result) is called once, unless it is dropped before. */
    void (*run)(void *arg, const struct pleat_command *command, pleat_command_done *done,
                void *fn_arg, uint64_t token);
    /* Starts a helper; of the command only argv and environment are used. Never NULL: what could
     * not be started has ended. */
    struct pleat_helper *(*helper_start)(void *arg, const struct pleat_command *command,
                                         const struct pleat_helper_callbacks *callbacks,
                                         void *fn_arg);
    /* Writes a line to a helper; `line` has no line's end. PLEAT_E_BUSY: the helper does not read
     * what it was told (64 MiB wait). PLEAT_E_STATE: it has ended, and `ended` is about to be
     * called. */
    int (*helper_say)(void *arg, struct pleat_helper *helper, const char *line);
    /* Fills in how the agent of a node of the site with that index in the core is started. The
     * words are borrowed until the next such call. PLEAT_E_SYSTEM, PLEAT_E_NOTFOUND. */
    int (*agent_call)(void *arg, uint32_t site, uint32_t node, struct pleat_agent_call *call,
                      struct pleat_error *err);
    /* Whether an agent of a node lives that the site has given up already: then another node must
     * not get this number. NULL: no agent ever does. */
    bool (*node_is_taken)(void *arg, uint32_t site, uint32_t node);
    /* By when, after it was last heard of, an agent that is cut off has surely ended what it ran,
     * and itself: microseconds; PLEAT_NEVER: it runs on. NULL: at once. */
    int64_t (*agent_ends_us)(void *arg);
    /* Whether processes that run on a node can use CPUs of its host that were given to others
     * later: its agent knows how to tell them, and nothing confines it. NULL: on none. */
    bool (*node_mixes)(void *arg, uint32_t site, uint32_t node);
    /* Tells the agent of a node to end, since nothing uses that node any more; what it runs ends,
     * too. NULL: its agents end by themselves. */
    void (*node_quit)(void *arg, uint32_t site, uint32_t node);
    /* The site knows all of its nodes now: whatever is left of others, which came with claims of an
     * earlier pleatd, goes (keys of their agents, nodes that the core knows). has(has_arg, node)
     * says whether the site has a node. */
    void (*nodes_known)(void *arg, uint32_t site, bool (*has)(void *has_arg, uint32_t node),
                        void *has_arg);
    /* Tells people something about the site with that index in the core: in pleatd's log, and as an
     * event of the daemon. Not for what is repeated often. */
    void (*say)(void *arg, uint32_t site, const char *text);
    /* Tells the user of the job that has this claim (its id, and its index as in the call): a
     * warning among the job's events, shown with the job until it runs again. To be called before
     * the event that it explains is emitted. Nobody is told of a claim that is gone. */
    void (*tell)(void *arg, uint32_t index, uint64_t claim, const char *text);
    /* Kills all commands and helpers of this fn_arg and forgets its timers: none of its functions
     * is called any more. A site does so when it is closed. */
    void (*drop)(void *arg, void *fn_arg);
};

#endif
