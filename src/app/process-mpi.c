/* process-mpi.c - a communicator of processes that were started separately grows by an added one,
 * and a member leaves it.
 *
 * A call of MPI that waits for another process cannot be ended, so nobody enters one before the
 * other side is known to be at the same place. Rank 0 and the process that is to join speak by
 * messages of the run, whose waiting ends with the other's death and with the time-out:
 *
 *     rank 0: INVITE   joining: READY   rank 0: PORTS   joining: GO
 *
 * From there each of them has only calls of MPI before it. MPI_Comm_accept has no time-out: where
 * one waits for a process that dies in these milliseconds, this process ends
 * (process-mpi-watch.c). First the two connect alone, while the other ranks
 * wait for rank 0's verdict: where Open MPI cannot connect them, only rank 0 is told, and ranks
 * that accept together with it would wait for ever. Then all ranks accept. Connections that overlap
 * get stuck in ompi-server, so rank 0 holds a lock of the run meanwhile. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "app/process-mpi.h"
#include "app/session.h"
#include "base/clock.h"
#include "base/error.h"

#define LOCK "ompi-server.lock"
#define GO_US (30 * PLEAT_US_PER_S) /* for an answer that needs no thinking, on a busy machine */
#define PORTS 2                     /* that of the two alone, and that of all */

enum step { INVITE = 1, READY, OFFER, GO };

/* What the two say. The processes of a run are of one architecture and program library. */
struct note {
    int64_t number; /* of rank 0's attempt */
    int32_t step;   /* enum step */
    char port[PORTS][MPI_MAX_PORT_NAME];
};

/* One side of it. */
struct joining {
    struct pleat_processes *all;
    int32_t other;
    int64_t until; /* of pleat_clock_monotonic_us */
    struct note note;
    int lock;   /* rank 0's; -1: none */
    int opened; /* how many of rank 0's ports */
    struct pleat_process_mpi_watch *watch;
};

/* ---- messages ---- */

int pleat_process_mpi_left(int64_t until_us)
{
    if (until_us == INT64_MAX)
        return -1;
    const int64_t left = until_us - pleat_clock_monotonic_us();
    return left <= 0 ? 0 : left / 1000 >= INT32_MAX ? INT32_MAX : (int)(left / 1000 + 1);
}

static int is_late(const struct joining *joining, struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_TIMEOUT,
                           "process %d did not come to pleat_process_mpi_join in time",
                           (int)joining->other);
}

static int say(struct joining *joining, enum step step, struct pleat_error *err)
{
    joining->note.step = (int32_t)step;
    int outcome =
        pleat_process_send(joining->all, joining->other, PLEAT_PROCESS_MPI_TYPE, &joining->note,
                           sizeof(joining->note), pleat_process_mpi_left(joining->until), err);
    return outcome == PLEAT_PROCESS_FULL ? is_late(joining, err) : outcome;
}

/* Takes the next note of the other's into *note, whatever it says. */
static int hear(const struct joining *joining, int64_t until, struct note *note,
                struct pleat_error *err)
{
    for (;;) {
        struct pleat_process_message message;
        const int left = pleat_process_mpi_left(until);
        int outcome = pleat_process_receive(joining->all, joining->other, PLEAT_PROCESS_MPI_TYPE,
                                            note, sizeof(*note), &message, left, err);
        if (outcome < 0)
            return outcome;
        if (outcome == PLEAT_PROCESS_DONE && message.bytes == sizeof(*note))
            return 0;
        if (outcome == PLEAT_PROCESS_DONE)
            return pleat_error_set(err, PLEAT_E_PROTOCOL,
                                   "process %d has another version of libpleat",
                                   (int)joining->other);
        if (pleat_process_leaving(joining->all))
            return pleat_error_set(err, PLEAT_E_STATE, "this process is to leave");
        if (left == 0)
            return is_late(joining, err);
    }
}

/* Waits for that answer to this attempt; what belongs to earlier ones does not count. */
static int wait_for(const struct joining *joining, enum step step, int64_t until,
                    struct pleat_error *err)
{
    struct note note;
    int code = 0;
    do
        code = hear(joining, until, &note, err);
    while (!code && (note.step != (int32_t)step || note.number != joining->note.number));
    return code;
}

/* ---- rank 0 ---- */

static int take_lock(struct joining *joining, struct pleat_error *err)
{
    char *path = pleat_process_mpi_path(LOCK);
    if (!path)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "this process was not started by `pleat run --evolving`");
    joining->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int code = joining->lock < 0 ? pleat_error_sys(err, errno, "cannot open %s", path) : 0;
    while (!code && flock(joining->lock, LOCK_EX | LOCK_NB)) {
        const struct timespec moment = {.tv_nsec = 2000000};
        if (errno != EWOULDBLOCK && errno != EINTR)
            code = pleat_error_sys(err, errno, "cannot lock %s", path);
        else if (pleat_process_mpi_left(joining->until) == 0)
            code =
                pleat_error_set(err, PLEAT_E_TIMEOUT,
                                "another communicator of this run was being joined all the time");
        else
            (void)nanosleep(&moment, NULL);
    }
    free(path);
    return code;
}

static int open_ports(struct joining *joining, struct pleat_error *err)
{
    int code = 0;
    while (!code && joining->opened < PORTS) {
        code = pleat_mpi_check(MPI_Open_port(MPI_INFO_NULL, joining->note.port[joining->opened]),
                               "opening a port", err);
        joining->opened += !code;
    }
    return code;
}

static void close_ports(struct joining *joining)
{
    while (joining->opened > 0)
        (void)MPI_Close_port(joining->note.port[--joining->opened]);
    if (joining->lock >= 0)
        close(joining->lock); /* which gives up the lock */
    joining->lock = -1;
}

/* The lock is a file of process 0's node. */
static int can_lead(struct pleat_error *err)
{
    if (!pleat_process_mpi_is_away())
        return 0;
    return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                           "rank 0 is on another node than process 0 of the run: let process 0, or "
                           "one of its node, be rank 0 of communicators that grow");
}

/* Brings the other to where it connects, and connects with it alone. */
static int meet(struct joining *joining, struct pleat_error *err)
{
    static int64_t attempts;
    MPI_Comm alone = MPI_COMM_NULL;
    joining->note.number = ++attempts;
    int code = can_lead(err);
    if (!code)
        code = say(joining, INVITE, err);
    if (!code)
        code = wait_for(joining, READY, joining->until, err);
    if (!code)
        code = take_lock(joining, err);
    if (!code)
        code = open_ports(joining, err);
    if (!code)
        code = pleat_process_mpi_watch(joining->all, joining->other, &joining->watch, err);
    if (!code)
        code = say(joining, OFFER, err);
    if (!code)
        code = wait_for(joining, GO, pleat_clock_monotonic_us() + GO_US, err);
    if (!code)
        code = pleat_mpi_check(
            MPI_Comm_accept(joining->note.port[0], MPI_INFO_NULL, 0, MPI_COMM_SELF, &alone),
            "connecting", err);
    if (!code)
        code = pleat_mpi_check(MPI_Comm_disconnect(&alone), "connecting", err);
    return code;
}

/* ---- both sides ---- */

/* The member's part, rank 0's among them. */
static int accept_it(struct joining *joining, MPI_Comm comm, MPI_Comm *merged,
                     struct pleat_error *err)
{
    struct pleat_error verdict = {0};
    MPI_Comm inter = MPI_COMM_NULL;
    int rank = 0;
    int code = pleat_mpi_check(MPI_Comm_rank(comm, &rank), "joining a process", err);
    if (!code && rank == 0)
        (void)meet(joining, &verdict);
    if (!code)
        code = pleat_mpi_check(MPI_Bcast(&verdict, (int)sizeof(verdict), MPI_BYTE, 0, comm),
                               "joining a process", err);
    if (!code && verdict.code)
        code = pleat_error_set(err, verdict.code, "process %d was not joined: %s",
                               (int)joining->other, verdict.text);
    if (!code &&
        !joining->watch) /* rank 0 has one; where there can be none here, that one ends all */
        (void)!pleat_process_mpi_watch(joining->all, joining->other, &joining->watch, NULL);
    if (!code)
        code =
            pleat_mpi_check(MPI_Comm_accept(joining->note.port[1], MPI_INFO_NULL, 0, comm, &inter),
                            "joining a process", err);
    if (!code)
        code = pleat_mpi_merge(&inter, false, merged, err);
    close_ports(joining);
    return code;
}

/* Answers rank 0 until it has offered ports; there may be notes of attempts that it gave up. */
static int wait_for_ports(struct joining *joining, struct pleat_error *err)
{
    int code = 0;
    do {
        code = hear(joining, joining->until, &joining->note, err);
        if (!code && joining->note.step == INVITE)
            code = say(joining, READY, err);
    } while (!code && joining->note.step != OFFER);
    return code;
}

/* The part of the process that is to be joined. */
static int connect_it(struct joining *joining, MPI_Comm *merged, struct pleat_error *err)
{
    MPI_Comm inter = MPI_COMM_NULL;
    int code = wait_for_ports(joining, err);
    if (!code)
        code = pleat_process_mpi_watch(joining->all, joining->other, &joining->watch, err);
    if (!code)
        code = say(joining, GO, err);
    for (int i = 0; !code && i < PORTS; i++) {
        if (inter != MPI_COMM_NULL)
            code = pleat_mpi_check(MPI_Comm_disconnect(&inter), "connecting", err);
        if (!code)
            code = pleat_mpi_check(
                MPI_Comm_connect(joining->note.port[i], MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter),
                "connecting", err);
    }
    return code ? code : pleat_mpi_merge(&inter, true, merged, err);
}

/* Takes `next` in place of *comm, with the error handler of that. */
static void replace(MPI_Comm *comm, MPI_Comm next, MPI_Errhandler handler)
{
    if (next != MPI_COMM_NULL && handler != MPI_ERRHANDLER_NULL)
        (void)MPI_Comm_set_errhandler(next, handler);
    if (*comm != MPI_COMM_NULL && *comm != MPI_COMM_WORLD && *comm != MPI_COMM_SELF)
        (void)MPI_Comm_free(comm);
    *comm = next;
}

static int check(const struct pleat_processes *processes, const MPI_Comm *comm, int32_t process,
                 struct pleat_error *err)
{
    int runs = 0, over = 0;
    int code = pleat_process_mpi_usable(processes, err);
    if (code)
        return code;
    if (!comm || process < 0 || process == pleat_process_self(processes))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a communicator and the number of another process are needed");
    if (MPI_Initialized(&runs) != MPI_SUCCESS || MPI_Finalized(&over) != MPI_SUCCESS || !runs ||
        over)
        return pleat_error_set(err, PLEAT_E_STATE, "this is possible while MPI runs only");
    return 0;
}

int pleat_process_mpi_join(struct pleat_processes *processes, MPI_Comm *comm, int32_t process,
                           int timeout_ms, struct pleat_error *err)
{
    int code = check(processes, comm, process, err);
    if (code)
        return code;
    struct joining joining = {.all = processes,
                              .other = process,
                              .until = timeout_ms < 0 ? INT64_MAX
                                                      : pleat_clock_monotonic_us() +
                                                            INT64_C(1000) * timeout_ms,
                              .lock = -1};
    const bool joins = *comm == MPI_COMM_NULL;
    MPI_Errhandler before = MPI_ERRHANDLER_NULL;
    MPI_Errhandler own = MPI_ERRHANDLER_NULL;
    MPI_Comm asked = joins ? MPI_COMM_WORLD : *comm;
    MPI_Comm merged = MPI_COMM_NULL;
    code = pleat_mpi_quiet_begin(asked, &before, err);
    if (!code)
        code = pleat_mpi_quiet_begin(MPI_COMM_SELF, &own, err);
    if (!code)
        code =
            joins ? connect_it(&joining, &merged, err) : accept_it(&joining, *comm, &merged, err);
    pleat_process_mpi_unwatch(&joining.watch);
    pleat_mpi_quiet_end(MPI_COMM_SELF, &own);
    if (!code)
        replace(comm, merged, before);
    const bool freed = !code && asked != MPI_COMM_WORLD && asked != MPI_COMM_SELF;
    pleat_mpi_quiet_end(freed ? MPI_COMM_NULL : asked, &before);
    return code;
}

int pleat_process_mpi_leave(MPI_Comm *comm, int leaves, struct pleat_error *err)
{
    MPI_Errhandler before = MPI_ERRHANDLER_NULL;
    MPI_Comm rest = MPI_COMM_NULL;
    int rank = 0;
    if (!comm || *comm == MPI_COMM_NULL)
        return pleat_error_set(err, PLEAT_E_INVALID, "there is no communicator to leave");
    int code = pleat_mpi_quiet_begin(*comm, &before, err);
    if (!code)
        code = pleat_mpi_check(MPI_Comm_rank(*comm, &rank), "leaving a communicator", err);
    if (!code)
        code = pleat_mpi_check(MPI_Comm_split(*comm, leaves ? MPI_UNDEFINED : 0, rank, &rest),
                               "leaving a communicator", err);
    MPI_Comm old = *comm;
    if (!code)
        replace(comm, rest, before);
    const bool freed = !code && old != MPI_COMM_WORLD && old != MPI_COMM_SELF;
    pleat_mpi_quiet_end(freed ? MPI_COMM_NULL : old, &before);
    return code;
}

/* ---- Fortran's communicators are numbers ---- */

int pleat_process_mpi_join_fortran(struct pleat_processes *processes, MPI_Fint *comm,
                                   int32_t process, int timeout_ms, struct pleat_error *err)
{
    MPI_Comm own = MPI_Comm_f2c(*comm);
    int code = pleat_process_mpi_join(processes, &own, process, timeout_ms, err);
    *comm = MPI_Comm_c2f(own);
    return code;
}

int pleat_process_mpi_leave_fortran(MPI_Fint *comm, int leaves, struct pleat_error *err)
{
    MPI_Comm own = MPI_Comm_f2c(*comm);
    int code = pleat_process_mpi_leave(&own, leaves, err);
    *comm = MPI_Comm_c2f(own);
    return code;
}
