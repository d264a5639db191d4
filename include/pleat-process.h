/* pleat-process.h - lets a program ask for processes itself while it runs (libpleat-process).
 *
 * For programs that know best when they need a processor: the mesh refines, the particles cluster.
 * Such a program runs under `pleat run --evolving`. It needs no MPI, and can be used beside it
 * (docs/processes.md is the guide; the mechanism is that of Liu, Nazir and Sorensen 2009, section
 * 3):
 *
 *     what = pleat_processes_begin(&all, NULL, &err);   // a prepared process waits here
 *     if (what == PLEAT_PROCESS_STARTED && refined) {
 *         pleat_process_add(all, NULL, &id, &err);      // never waits for a processor
 *         pleat_process_send(all, id, CELLS, cells, size, -1, &err);  // kept until it is there
 *     }
 *     pleat_process_receive(all, PLEAT_PROCESS_ANY, CELLS, cells, room, &message, -1, &err);
 *     ...
 *     pleat_processes_finish(all, &err);
 *
 * Rules. A process calls begin once, and these functions from one thread at a time (any thread).
 * The library has one thread of its own, and libzmq another one; both block all signals. They move
 * messages while the program computes. The library never prints, never aborts (libzmq does where
 * memory runs out inside it), touches no signal handling. After fork the child must not use it (all
 * functions that fail say PLEAT_E_STATE there); exec is safe, as no descriptor stays open. A
 * function returns 0 or a named positive outcome, or a negative code (pleat-error.h) with the
 * reason in *err, which may be NULL.
 *
 * Messages are encrypted, and only processes of the same run are let in (CURVE, with a key of the
 * run's).
 */
#ifndef PLEAT_PROCESS_H
#define PLEAT_PROCESS_H

#include <stddef.h>
#include <stdint.h>

#include "pleat-error.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* The processes of a run, as one of them sees them. */
struct pleat_processes;

/* A process has a number from 0 on, which is never used again in a run. 0 to n-1 are those of the
 * start; the run ends with process 0. */
#define PLEAT_PROCESS_NONE (-1)
#define PLEAT_PROCESS_ANY (-1)  /* of pleat_process_receive: from any process */
#define PLEAT_PROCESS_TYPE (-1) /* of pleat_process_receive: of any type */

/* What pleat_processes_begin tells a process; the numbers are those of pleat.h. */
enum pleat_process_begin {
    PLEAT_PROCESS_STARTED = 1, /* it was there from the start */
    PLEAT_PROCESS_JOINED = 2,  /* it was added by another one: pleat_process_parent */
    PLEAT_PROCESS_LEAVE = 3    /* it was prepared, and is not needed: finish, and exit with 0 */
};

/* Limits on what is kept. 0 in a member: as without. */
struct pleat_process_settings {
    /* The window of each pair and direction: messages that were sent and that the receiver has not
     * taken yet. Without: 1024 messages, 16777216 bytes (16 MiB). A single message can have as many
     * bytes as the window. Memory is at most one window at the sender and one at the receiver for
     * each pair that exchanges messages. */
    size_t window_messages; /* at most 1048576 */
    size_t window_bytes;    /* at most 2^31 - 1 */
    int finish_ms;          /* pleat_processes_finish waits so long; without: 10000 */
    int answer_ms;          /* how long calls wait for the agent's answer; without: 10000 */
};

/* Begins. *processes: to be released by pleat_processes_finish, also after PLEAT_PROCESS_LEAVE.
 * settings: copied; NULL: none. In a process that was prepared it blocks until the process is
 * handed over or not needed any more, which may take as long as the run. Started without Pleat a
 * process is alone: it has the number 0, can send to itself, and adds are refused. Returns an enum
 * pleat_process_begin. PLEAT_E_INVALID: the settings, or what Pleat has left in the environment;
 * PLEAT_E_STATE: this process has begun already; PLEAT_E_CLOSED: the agent that started this
 * process is gone; PLEAT_E_TIMEOUT: it does not answer; PLEAT_E_PROTOCOL: it says what makes no
 * sense; PLEAT_E_UNSUPPORTED: libzmq was built without CURVE; PLEAT_E_SYSTEM, PLEAT_E_NOMEM. */
int pleat_processes_begin(struct pleat_processes **processes,
                          const struct pleat_process_settings *settings,
                          struct pleat_error *err) PLEAT_MUST_CHECK;

/* Ends this process's part, and releases *processes in any case (NULL: nothing is done). Waits
 * until the other processes have received what was sent to them, or are gone, at most finish_ms.
 * Messages that this process has not taken are lost; their senders are told so. Of process 0 it
 * ends the run. PLEAT_E_TIMEOUT: some messages were not received; the text has how many;
 * PLEAT_E_STATE: in a child of fork. */
int pleat_processes_finish(struct pleat_processes *processes, struct pleat_error *err);

/* ---- who there is ---- */

/* This process's number. */
int32_t pleat_process_self(const struct pleat_processes *processes);
/* The number of the process that asked for this one; PLEAT_PROCESS_NONE: it is one of the start. */
int32_t pleat_process_parent(const struct pleat_processes *processes);
/* The most processes that the run may have at a time; 0: not known. */
int32_t pleat_process_maximum(const struct pleat_processes *processes);

enum pleat_process_state {
    PLEAT_PROCESS_COMING = 1,  /* it was asked for, and waits for a processor or is just starting */
    PLEAT_PROCESS_RUNNING = 2, /* it is there; this process, too */
    PLEAT_PROCESS_GONE = 3
};

/* Why a process is gone. */
enum pleat_process_reason {
    PLEAT_PROCESS_NO_REASON = 0,   /* it is not gone */
    PLEAT_PROCESS_ENDED = 1,       /* by its own wish: it finished */
    PLEAT_PROCESS_STOPPED = 2,     /* by pleat_process_stop or pleat_process_cancel; or it has left
                                    * before its site took its processor back */
    PLEAT_PROCESS_DIED = 3,        /* its code or signal says how */
    PLEAT_PROCESS_LOST = 4,        /* its node is gone */
    PLEAT_PROCESS_NOT_STARTED = 5, /* it could not be started */
    PLEAT_PROCESS_UNSAID = 6       /* another reason, which this library does not know */
};

struct pleat_process_info {
    int32_t process;
    int32_t parent; /* PLEAT_PROCESS_NONE: it is one of the start */
    int state;      /* enum pleat_process_state */
    int reason;     /* enum pleat_process_reason */
    int code;       /* its exit code, where it is gone; -1: none */
    int signal;     /* the signal that ended it; 0: none */
};

/* Writes the numbers of the first `room` processes that are coming or running, this one among them,
 * in rising order, to list (which may be NULL where room is 0). Returns how many there are, which
 * may be more than room. No communication: it is what this process knows. */
int pleat_process_list(const struct pleat_processes *processes, int32_t *list, int room);
/* What is known of a process, also of one that is gone. PLEAT_E_NOTFOUND: no such number is known.
 */
int pleat_process_about(const struct pleat_processes *processes, int32_t process,
                        struct pleat_process_info *info, struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- adding and stopping processes ---- */

/* The name of no site: see `site` of a wish. */
#define PLEAT_PROCESS_ANY_SITE "*"

/* What a process is to be. Members that are 0 or NULL: as this job's own. */
struct pleat_process_wish {
    const char *const *argv;      /* another program, and its arguments; NULL at the end */
    const char *const *variables; /* more environment variables, "NAME=value"; NULL at the end */
    const char *directory;
    int priority; /* requests of a higher one are served first; then those that came first */
    /* Where it has to be: the name of a site, another one than the job's own if its user has named
     * that (pleat run --sites); and of a node there, where a process is prepared.
     * PLEAT_PROCESS_ANY_SITE: at the job's own or any of those, where a processor is first: with
     * neither a node nor an architecture then. */
    const char *site;
    const char *node;
    /* Of its node, as of `uname -m`: it comes where that is so, or waits for it. NULL: that of its
     * program, which is the one on which the job has started, unless the program's name has
     * "%{architecture}" in it: that stands for the name of the node's. */
    const char *architecture;
};

/* What pleat_process_add has found. */
enum pleat_process_added {
    PLEAT_PROCESS_ADDED_READY = 1, /* a prepared process has become this one */
    PLEAT_PROCESS_ADDED_LATER = 2  /* it will come when there is a processor: a notice says so */
};

/* Asks for a process. wish: NULL: the same program as this job's. *process: its number, at once in
 * either case, and messages can be sent to it at once. Waits for the agent's answer (in general
 * under a millisecond), never for a processor. Returns an enum pleat_process_added.
 * PLEAT_E_UNSUPPORTED: this process was not started by `pleat run --evolving`; PLEAT_E_BUSY: the
 * agent has refused it, for example as too many requests wait; the text has its reason;
 * PLEAT_E_INVALID, PLEAT_E_TOOBIG: the wish; PLEAT_E_TIMEOUT: no answer: the process is not wanted
 * any more, and stopped when the answer comes. */
int pleat_process_add(struct pleat_processes *processes, const struct pleat_process_wish *wish,
                      int32_t *process, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Withdraws a request of this process's own that waits, or whose process is just starting: the
 * process will not come, and no notice says that it came.
 * PLEAT_E_NOTFOUND: it is not one that this process has asked for; PLEAT_E_STATE: it is there
 * already, or gone; PLEAT_E_BUSY, PLEAT_E_TIMEOUT as for add. */
int pleat_process_cancel(struct pleat_processes *processes, int32_t process,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* Ends a process, which should have been vacated: it gets a notice, and SIGTERM later if it is
 * still there. Of this process itself: it then finishes, and exits. Its processor is given back, or
 * kept for later requests: the job's policy decides. PLEAT_E_NOTFOUND: no such number is known;
 * PLEAT_E_CLOSED: it is gone already; PLEAT_E_BUSY, PLEAT_E_TIMEOUT as for add. */
int pleat_process_stop(struct pleat_processes *processes, int32_t process,
                       struct pleat_error *err) PLEAT_MUST_CHECK;
/* Says that an iteration of the program begins, from 0 on; for policies that predict the demand
 * from earlier runs. By one process, in general 0. Takes well under a microsecond in general: the
 * agent is told a few times a second. */
void pleat_process_iteration(struct pleat_processes *processes, int64_t iteration);
/* Says that the program will soon give back so many of its processes: it stops them, or they
 * finish. Policies that keep processes prepared ask for so many fewer meanwhile, as others are
 * prepared on those processors. It is a word only: nothing is stopped, and none is refused. count:
 * from now on, without those that are leaving already; it takes the place of what any process has
 * said before; 0: none. Those that are given back from then on are taken off. By one process, in
 * general 0; waits for the agent's answer as add. PLEAT_E_INVALID: count is below 0, or no number
 * of processes that there can be; PLEAT_E_UNSUPPORTED, PLEAT_E_BUSY, PLEAT_E_TIMEOUT as for add. */
int pleat_process_returning(struct pleat_processes *processes, int count,
                            struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- notices ---- */

enum pleat_process_news_kind {
    PLEAT_PROCESS_NEWS_CAME = 1, /* `process` is running now */
    PLEAT_PROCESS_NEWS_GONE = 2, /* it is gone, or will not come */
    /* This process is to finish and exit: it is stopped, or its site takes its processor back. It
     * gets SIGTERM later */
    PLEAT_PROCESS_NEWS_LEAVE = 3
};

struct pleat_process_news {
    int news;        /* enum pleat_process_news_kind */
    int32_t process; /* of LEAVE: this one */
    int reason;      /* of GONE: enum pleat_process_reason */
    int code;        /* of GONE: its exit code; -1: none */
    int signal;      /* of GONE: the signal that ended it; 0: none */
    /* Of GONE: messages from this process to that one that it is not known to have taken. */
    int64_t lost;
};

/* Takes the next notice. Returns 1; 0: there is none. Does not wait. Processes that were there
 * before this one are not told. */
int pleat_process_notice(struct pleat_processes *processes, struct pleat_process_news *notice);
/* 1: this process is to finish and exit; so from the notice LEAVE on. */
int pleat_process_leaving(struct pleat_processes *processes);
/* A descriptor that is readable (poll) while a message or a notice can be taken. Borrowed; do not
 * read it. Below 0: an error code. */
int pleat_process_descriptor(struct pleat_processes *processes, struct pleat_error *err);

/* ---- messages ---- */

/* What send, receive and probe have done, other than what they were called for. */
enum pleat_process_outcome {
    PLEAT_PROCESS_DONE = 0,
    PLEAT_PROCESS_FULL = 1,   /* the window is full, nothing was sent: try again */
    PLEAT_PROCESS_NOTHING = 2 /* there is no such message */
};

struct pleat_process_message {
    int32_t from;
    int32_t type;
    size_t bytes; /* its length */
};

/* Sends a message. to: any process of the run, also one that is coming (then it is kept here until
 * it is there) and this one itself. type: at least 0, the program's own. bytes: copied; may be NULL
 * where count is 0. It waits while the window to that process is full: timeout_ms: -1: as long as
 * it takes; 0: not at all; else so many milliseconds. Between two processes messages arrive once,
 * and in the order in which they were sent, also when connections break; what a process that is
 * gone has not taken is said to be lost in the notice of that. 0 means that the message is on its
 * way. PLEAT_PROCESS_FULL; of a message to itself at once. PLEAT_E_CLOSED: that process is gone;
 * PLEAT_E_NOTFOUND: no such number is known; PLEAT_E_TOOBIG: larger than the window;
 * PLEAT_E_INVALID, PLEAT_E_NOMEM. */
int pleat_process_send(struct pleat_processes *processes, int32_t to, int32_t type,
                       const void *bytes, size_t count, int timeout_ms,
                       struct pleat_error *err) PLEAT_MUST_CHECK;

/* Takes the first message that is from that process (PLEAT_PROCESS_ANY: from any) and of that type
 * (PLEAT_PROCESS_TYPE: of any). It is copied to bytes, which has `room` bytes. *message, which may
 * be NULL, says what it is. timeout_ms: how long it waits if there is none, as for send. Messages
 * that are waited for can be held up by others of the same sender that fill the window and are not
 * taken. PLEAT_PROCESS_NOTHING: also once, at once, when this process is told to leave and has not
 * seen that yet. PLEAT_E_TOOBIG: there is not enough room: *message is filled in, and the message
 * stays; PLEAT_E_CLOSED: that process is gone, and there is no such message of it; PLEAT_E_STATE:
 * this process is alone, and would wait for ever; PLEAT_E_NOTFOUND: no such number is known;
 * PLEAT_E_INVALID. */
int pleat_process_receive(struct pleat_processes *processes, int32_t from, int32_t type,
                          void *bytes, size_t room, struct pleat_process_message *message,
                          int timeout_ms, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The same without taking the message: the next receive with message->from and message->type takes
 * it. */
int pleat_process_probe(struct pleat_processes *processes, int32_t from, int32_t type,
                        struct pleat_process_message *message, int timeout_ms,
                        struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- groups ---- */

/* Joins a group, which is there from its first member on. name: 1 to 63 letters, digits, '-', '_'
 * and '.', beginning with neither '-' nor '.'. Returns when the agent has it; others know it soon
 * after. A process can be in 32 groups. PLEAT_E_INVALID, PLEAT_E_TOOBIG; PLEAT_E_BUSY,
 * PLEAT_E_TIMEOUT as for add. */
int pleat_process_group_join(struct pleat_processes *processes, const char *name,
                             struct pleat_error *err) PLEAT_MUST_CHECK;
/* Leaves it; if this process is not in it nothing happens. */
int pleat_process_group_leave(struct pleat_processes *processes, const char *name,
                              struct pleat_error *err) PLEAT_MUST_CHECK;
/* As pleat_process_list, of the group's members that are running. */
int pleat_process_group_list(const struct pleat_processes *processes, const char *name,
                             int32_t *list, int room);
/* The name of a group that a process is in: place is from 0 on, in no order that lasts; name gets
 * at most `room` bytes with the '\0' (64 are enough), and is "" where there is none. Returns in how
 * many groups it is, 0 also where no such number is known. No communication: it is what this
 * process knows. */
int pleat_process_group_name(const struct pleat_processes *processes, int32_t process, int place,
                             char *name, size_t room);
/* Sends to all members but this process, as pleat_process_send one after the other; timeout_ms is
 * for all together. *sent, which may be NULL: the number of members to which it was sent. Members
 * that are gone meanwhile are left out. PLEAT_PROCESS_FULL: not to all, as a window is full. */
int pleat_process_group_send(struct pleat_processes *processes, const char *name, int32_t type,
                             const void *bytes, size_t count, int timeout_ms, int *sent,
                             struct pleat_error *err) PLEAT_MUST_CHECK;

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif
#endif
