/* launching.h - the protocol between `pleat launch`, inside a job, and the agent of its node.
 *
 * A malleable run that is a script starts its programs by `pleat launch`, one after the other. Each
 * `pleat launch` registers with the agent, gets a mailbox and a saved state of its own, and waits
 * for its program. So the agent can end and restart that program alone, and nothing else of the
 * script.
 *
 *     from `pleat launch`             from the agent
 *     BEGIN: wants to start a program
 *                                     START or REFUSED
 *     ENDED: its launcher has ended
 *                                     OVER: the program is over; exit with its status
 *                                     REST: not over; report when no process of it is left
 *     ALONE: no process is left
 *                                     START or OVER
 *     ASK: wants to start a program that is not resized
 *                                     START, with the number of processes only
 *
 * One record is one message of a SOCK_SEQPACKET socket. Its abstract address is a random name,
 * which any user could find, so the agent checks the uid of a peer. Either side notices by the
 * closed connection that the other one is gone. Descriptors are close-on-exec. All functions return
 * 0 or a negative code.
 */
#ifndef PLEAT_WIRE_LAUNCHING_H
#define PLEAT_WIRE_LAUNCHING_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* The address is in the environment variable PLEAT_LAUNCHING_ENV (shm/mailbox.h), without its
 * leading NUL. */
#define PLEAT_LAUNCHING_NAME 64 /* size of a buffer for that address */

enum pleat_launching_kind {
    PLEAT_LAUNCHING_BEGIN = 1,
    PLEAT_LAUNCHING_ASK = 2,
    PLEAT_LAUNCHING_ENDED = 3,
    PLEAT_LAUNCHING_ALONE = 4,
    PLEAT_LAUNCHING_START = 5,
    PLEAT_LAUNCHING_REFUSED = 6,
    PLEAT_LAUNCHING_REST = 7,
    PLEAT_LAUNCHING_OVER = 8
};

struct pleat_launching_record {
    uint32_t magic;
    uint32_t kind;
    uint32_t launch;     /* START: number of the program in the run, from 1; 0: it is not resized */
    uint32_t processes;  /* START: the job's number of processors */
    int32_t status;      /* ENDED: the status as from waitpid */
    uint32_t relaunches; /* BEGIN: 1 if the program's MPI cannot start processes at run time */
    char text[256];      /* BEGIN: the program, for people; REFUSED: the reason */
    char mailbox[64];    /* START: values of the environment variables that libpleat reads */
    char doorbell[64];
    char state[96];
};

/* Makes a listening, nonblocking socket with a new random name. PLEAT_E_SYSTEM. */
int pleat_launching_listen(int *fd, char name[PLEAT_LAUNCHING_NAME],
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* Accepts the next connection, nonblocking; *pid: the peer. PLEAT_E_NOTFOUND: none waits;
 * PLEAT_E_PERMISSION: it was another user's, and is closed. */
int pleat_launching_accept(int listening, int *fd, pid_t *pid,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* Connects; blocks until the agent accepts. PLEAT_E_SYSTEM. */
int pleat_launching_connect(const char *name, int *fd, struct pleat_error *err) PLEAT_MUST_CHECK;

/* Sends *record after filling in magic and kind. PLEAT_E_SYSTEM: the other side is gone, or does
 * not read. */
int pleat_launching_send(int fd, enum pleat_launching_kind kind,
                         struct pleat_launching_record *record,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* Receives a record; its texts end in NUL. PLEAT_E_NOTFOUND: none is there (only if fd is
 * nonblocking); PLEAT_E_CLOSED: the other side is gone; PLEAT_E_PROTOCOL: not a valid record. */
int pleat_launching_receive(int fd, struct pleat_launching_record *record,
                            struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
