/* processes.h - the state behind struct pleat_processes.
 *
 * The program's thread and the library's own share it under one lock. Sockets of libzmq are used
 * under the lock only, by whichever of the two has it. Both wait on one epoll set, without the
 * lock: while the program's thread waits it does all the work itself, since it is woken first, and
 * the own one stays asleep. A socket of libzmq wakes a waiter once when something has changed, so
 * that whoever has used one looks whether there is more (pleat_transport_drain).
 */
#ifndef PLEAT_PROCESS_PROCESSES_H
#define PLEAT_PROCESS_PROCESSES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/array.h"
#include "pleat-process.h"
#include "process/peer.h"

struct pleat_told_line;

PLEAT_ARRAY(pleat_notices, struct pleat_process_news);
PLEAT_ARRAY(pleat_numbers, int64_t);

/* A request to the agent. There is one at a time, since it is waited for. */
struct pleat_asked {
    int64_t number; /* -1: none */
    bool answered;
    bool refused;
    bool ready;
    int32_t process;
    char text[PLEAT_ERROR_TEXT_SIZE];
    struct pleat_string line; /* said again after a reconnection */
};

/* The connection to the agent. */
struct pleat_agent_side {
    char *path;
    int fd; /* -1: not connected */
    struct pleat_string in, out;
    size_t out_done;   /* bytes of `out` that are written */
    int64_t again_due; /* when to connect again; 0: not wanted */
    int64_t last_number;
    struct pleat_asked asked;
    struct pleat_numbers unwanted; /* adds that nobody waits for, until they are taken back */
    bool welcomed;                 /* this connection was */
    bool ever;                     /* one was */
    bool prepared;                 /* it said: wait for go */
    int broken;                    /* it has said what makes no sense; an error code */
    char broken_text[PLEAT_ERROR_TEXT_SIZE];
};

struct pleat_processes {
    pid_t pid; /* of the process that has begun */
    int32_t self, parent, maximum;
    struct pleat_process_settings settings;
    uint64_t stream;

    pthread_mutex_t lock;
    pthread_cond_t left; /* the program's thread does not wait any more */
    pthread_t thread;
    int64_t asleep_til; /* when the own thread wakes by itself; 0: it is awake */
    int64_t due;        /* no peer has anything to do earlier; INT64_MAX: nothing */
    int epoll, wake;
    int ready_fd; /* the program's descriptor; -1: it has not asked for it */
    bool ready;
    bool alone; /* started without Pleat */
    bool thread_runs, ending;
    bool waits;  /* the program's thread does */
    bool parked; /* the own thread waits for `left` */
    bool leaving, leaving_seen;
    uint8_t window_messages_log, window_bytes_log;
    char secret[41], public[41];
    char address[256];
    char local[256];      /* where those of this host reach it besides; "": nowhere */
    char unreachable[80]; /* why it cannot be connected with process 0; "": nothing is known */

    void *context, *in, *out, *doorman; /* of libzmq */
    /* who gets what comes: pleat_stream_take */
    void (*take)(struct pleat_processes *all, const void *route, size_t route_size,
                 zmq_msg_t *content);

    struct pleat_agent_side agent;
    struct pleat_peers peers;
    struct pleat_came_list came;
    struct pleat_notices notices;
    size_t notices_taken;
    int64_t iteration, iteration_said, iteration_said_us; /* -1: none */
    int64_t iterations, iterations_us; /* all that were told of, and how long they took */
};

/* Whether functions can be called: not in a child of fork. 0 or PLEAT_E_STATE. */
int pleat_processes_usable(const struct pleat_processes *all,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
bool pleat_processes_ours(const struct pleat_processes *all);

#endif
