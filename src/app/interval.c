/* Copies that are saved between resizes, at intervals, so that a program whose ranks die goes on
 * from the last one (PLEAT_SAVE_EVERY).
 *
 * When they save a copy the ranks agree where the next one is saved: rank 0 knows how long
 * iterations take, and says at which adaptation point they meet again. So at the points between no
 * rank has to ask another one. If the time of iterations changes, the ranks meet more often than
 * they save: the distance to the next meeting is at most twice the last one. */
#include <stdlib.h>
#include <string.h>

#include "app/session.h"
#include "base/clock.h"

#define NEVER UINT64_MAX
#define NS_PER_S 1e9

/* What rank 0 tells the others where they meet. */
struct meeting {
    struct pleat_save_order save;
    int saves; /* 0: only the next meeting is agreed on */
    uint64_t next;
};

int pleat_interval_read(struct pleat_session *session, uint64_t *first, struct pleat_error *err)
{
    const char *text = getenv(PLEAT_SAVE_EVERY_ENV);
    struct pleat_save_interval *interval = &session->interval;
    char *end = NULL;
    *first = 0;
    if (!session->mailbox || !session->saved || !text || !*text)
        return 0;
    double number = strtod(text, &end);
    if (!(number > 0 && number <= 1e9) || (strcmp(end, "s") != 0 && strcmp(end, "it") != 0))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               PLEAT_SAVE_EVERY_ENV " is '%s': it must be seconds such as 300s, or "
                                                    "iterations such as 100it",
                               text);
    if (*end == 's') {
        interval->ns = (int64_t)(number * NS_PER_S);
        *first = 1;
    } else {
        interval->iterations = number < 1 ? 1 : (uint64_t)number;
        *first = interval->iterations;
    }
    return 0;
}

void pleat_interval_begin(struct pleat_session *session)
{
    struct pleat_save_interval *interval = &session->interval;
    interval->next = interval->first ? session->self.iteration + interval->first : NEVER;
    interval->met = session->self.iteration;
    interval->met_ns = interval->saved_ns = pleat_clock_monotonic_ns();
    if (interval->first && session->rank == 0)
        pleat_mailbox_keeps(&session->self);
}

uint64_t pleat_interval_after(const struct pleat_session *session)
{
    const uint64_t next = session->interval.next;
    return next == NEVER || next > session->self.iteration ? next : session->self.iteration + 1;
}

/* Rank 0: how many iterations until the time to save, going by those since the last meeting. */
static uint64_t distance(const struct pleat_save_interval *interval, uint64_t passed, int64_t now,
                         int64_t left_ns)
{
    double each_ns = (double)(now - interval->met_ns) / (double)passed;
    double wanted = each_ns > 0 ? (double)left_ns / each_ns : 1;
    double most = 2 * (double)passed;
    wanted = wanted < most ? wanted : most;
    return wanted > 1 ? (uint64_t)wanted : 1;
}

/* apart: the ranks are not at the same point, so nothing is saved. */
static void decide(struct pleat_session *session, bool apart, struct meeting *meeting,
                   struct pleat_error *why)
{
    struct pleat_save_interval *interval = &session->interval;
    int64_t now = pleat_clock_monotonic_ns();
    uint64_t passed = session->self.iteration - interval->met;
    int64_t left = interval->saved_ns + interval->ns - now;
    /* a point less than half an iteration from the right time counts as on time */
    passed = passed ? passed : 1;
    meeting->saves = interval->iterations || left <= (now - interval->met_ns) / (int64_t)passed / 2;
    if (meeting->saves)
        left = interval->ns;
    meeting->next =
        session->self.iteration +
        (interval->iterations ? interval->iterations : distance(interval, passed, now, left));
    interval->met = session->self.iteration;
    interval->met_ns = now;
    if (!meeting->saves)
        return;
    interval->saved_ns = now;
    if (apart)
        meeting->save.code = PLEAT_SAVE_NOT;
    else
        pleat_save_begin(session, true, &meeting->save, why);
}

/* Some rank is in a section in which nothing may change: they meet again soon, and later and later
 * where it is a long one. */
static int meet_later(struct pleat_session *session)
{
    enum { LATEST = 64 };
    struct pleat_save_interval *interval = &session->interval;
    interval->later = interval->later == 0       ? 1
                      : interval->later < LATEST ? 2 * interval->later
                                                 : LATEST;
    interval->next = session->self.iteration + interval->later;
    return 0;
}

static int meet(struct pleat_session *session, struct pleat_error *err)
{
    struct meeting meeting;
    struct pleat_error why = {0};
    int64_t start = pleat_clock_monotonic_ns();
    memset(&meeting, 0, sizeof(meeting));
    int where = pleat_points_meet(session, &why);
    if (where == PLEAT_MET_NOT_NOW)
        return meet_later(session);
    session->interval.later = 0;
    int failed = where < 0 ? where : pleat_sums_note(session, &why);
    if (failed) {
        if (err)
            *err = why;
        return failed;
    }
    failed = pleat_save_measure(session, err);
    if (failed)
        return failed;
    if (session->rank == 0)
        decide(session, where == PLEAT_MET_APART, &meeting, &why);
    failed = pleat_mpi_check(MPI_Bcast(&meeting, (int)sizeof(meeting), MPI_BYTE, 0, session->comm),
                             "saving", err);
    if (failed)
        return failed;
    session->interval.next = meeting.next;
    int saved =
        meeting.saves && !where ? pleat_save_all(session, &meeting.save, &why) : PLEAT_SAVE_NOT;
    if (saved < 0) {
        if (err)
            *err = why;
        return saved;
    }
    if (meeting.saves && saved == PLEAT_SAVE_NOT) {
        session->failure = why;
        if (session->rank == 0)
            pleat_mailbox_unkept(&session->self, why.text);
    }
    if (!saved && session->rank == 0)
        pleat_mailbox_kept(&session->self, (uint64_t)(pleat_clock_monotonic_ns() - start),
                           (uint64_t)pleat_clock_real_us());
    return 0;
}

int pleat_interval_save(struct pleat_session *session, struct pleat_error *err)
{
    MPI_Errhandler handler;
    int failed = pleat_mpi_quiet_begin(session->comm, &handler, err);
    if (!failed)
        failed = meet(session, err);
    pleat_mpi_quiet_end(session->comm, &handler);
    if (failed)
        session->state = PLEAT_SESSION_BROKEN;
    return failed;
}
