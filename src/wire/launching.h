/* launching.h - what `pleat launch`, in a job, and the agent of its node say to each other.
 *
 * A malleable run that is a script starts its programs by `pleat launch`, one after the other. Each
 * registers with the agent, gets a mailbox and a state of its own, and waits for its program; so
 * the agent can have that program, and nothing else of the script, ended and started again.
 *
 *     BEGIN   ->                      a program is to be started
 *             <- START or REFUSED
 *     ENDED   ->                      its launcher has ended
 *             <- OVER                 that was its end: `pleat launch` ends with the same status
 *             <- REST                 no: it says when nothing is left of it
 *     ALONE   ->
 *             <- START or OVER
 *     ASK     ->                      a program that is not to be resized
 *             <- START                processes only
 *
 * One record is one message of a SOCK_SEQPACKET socket with an abstract address, which only has a
 * random name; who connects is looked at (uid). Either side sees by a closed connection that the
 * other is gone. Descriptors are close-on-exec. All functions return 0 or a negative code.
 */
#ifndef PLEAT_WIRE_LAUNCHING_H
#define PLEAT_WIRE_LAUNCHING_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#define PLEAT_LAUNCHING_ENV "PLEAT_LAUNCHING" /* the address, without its leading NUL */
#define PLEAT_LAUNCHING_NAME 64               /* room for it */

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
    uint32_t launch;     /* START: which one of the run, from 1; 0: it is not resized */
    uint32_t processes;  /* START: as many as the job has processors */
    int32_t status;      /* ENDED: as waitpid says */
    uint32_t relaunches; /* BEGIN: 1: its MPI cannot start processes at run time */
    char text[256];      /* BEGIN: the program, for people; REFUSED: why */
    char mailbox[64];    /* START: values of the variables that libpleat looks at */
    char doorbell[64];
    char state[96];
};

/* A listening, nonblocking socket with a new random name. PLEAT_E_SYSTEM. */
int pleat_launching_listen(int *fd, char name[PLEAT_LAUNCHING_NAME],
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* The next one who has connected, nonblocking; *pid is who. PLEAT_E_NOTFOUND: there is none;
 * PLEAT_E_PERMISSION: it was another user, and is gone. */
int pleat_launching_accept(int listening, int *fd, pid_t *pid,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* Blocks for as long as the agent does not accept. PLEAT_E_SYSTEM. */
int pleat_launching_connect(const char *name, int *fd, struct pleat_error *err) PLEAT_MUST_CHECK;

/* Fills magic and kind. PLEAT_E_SYSTEM: the other side is gone, or does not read. */
int pleat_launching_send(int fd, enum pleat_launching_kind kind,
                         struct pleat_launching_record *record,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* Texts are terminated. PLEAT_E_NOTFOUND: nothing is there (only where fd is nonblocking);
 * PLEAT_E_CLOSED: the other side is gone; PLEAT_E_PROTOCOL: no such record. */
int pleat_launching_receive(int fd, struct pleat_launching_record *record,
                            struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
