/* points.c - several adaptation points with names: where each rank is, and where it goes on.
 *
 * The points at which the program may be resized are counted together, in the order in which a rank
 * passes them. All ranks pass them in the same order, so that a number names the same passage of
 * the same point on each, and the agreement of the mailbox holds as it does for one point: the
 * number it commits lies ahead of every rank, and either all ranks come there or none does. The
 * other points are not counted there, and ranks may pass them in any number.
 */
#include <string.h>

#include "app/session.h"

_Static_assert((int)PLEAT_POINTS == (int)PLEAT_MAILBOX_POINTS, "the agent knows all points");

#define HIDDEN "pleat/point" /* name of the value that moves along */

int pleat_point_register(struct pleat_session *session, const char *name, enum pleat_point_use use,
                         int *point, struct pleat_error *err)
{
    if (session->state != PLEAT_SESSION_OPEN)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "adaptation points are registered before pleat_session_begin");
    if (!name || !*name || strlen(name) >= PLEAT_NAME_SIZE)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "an adaptation point has a name of 1 to %d bytes",
                               PLEAT_NAME_SIZE - 1);
    if (use != PLEAT_POINT_RESIZE && use != PLEAT_POINT_TIMES)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "adaptation point '%s' is neither one to resize nor one for times",
                               name);
    for (int i = 0; i < session->point_count; i++)
        if (!strcmp(session->points[i].name, name))
            return pleat_error_set(err, PLEAT_E_EXISTS,
                                   "adaptation point '%s' is registered already", name);
    if (session->point_count == PLEAT_POINTS)
        return pleat_error_set(err, PLEAT_E_TOOBIG, "there are %d adaptation points already",
                               PLEAT_POINTS);
    int code = session->point_count ? 0
                                    : pleat_value_register(session, HIDDEN, &session->point,
                                                           sizeof(session->point), err);
    if (code)
        return code;
    struct pleat_own_point *made = &session->points[session->point_count++];
    memcpy(made->name, name, strlen(name) + 1);
    made->resizes = use == PLEAT_POINT_RESIZE;
    *point = session->point_count;
    return 0;
}

int pleat_session_point(const struct pleat_session *session)
{
    const int64_t at = session->point.at;
    return at >= 0 && at <= session->point_count ? (int)at : -1;
}

uint64_t pleat_points_hash(const struct pleat_session *session, uint64_t hash)
{
    for (int i = 0; i < session->point_count; i++) {
        const struct pleat_own_point *point = &session->points[i];
        const unsigned char resizes = point->resizes;
        hash = pleat_session_hash(hash, point->name, strlen(point->name) + 1);
        hash = pleat_session_hash(hash, &resizes, 1);
    }
    return hash;
}

void pleat_points_tell(struct pleat_session *session)
{
    for (int i = 0; i < session->point_count; i++)
        pleat_mailbox_name_point(&session->self, session->points[i].name,
                                 session->points[i].resizes);
}

void pleat_points_resumed(struct pleat_session *session)
{
    for (int i = 0; session->rank == 0 && i < session->point_count; i++)
        pleat_mailbox_passed(&session->self, (unsigned)i, session->point.passed[i], 0, 0);
}

void pleat_points_restart(struct pleat_session *session)
{
    for (int i = 0; i < session->point_count; i++)
        session->points[i].here = 0;
}

static const char *name_of(const struct pleat_session *session, int64_t point)
{
    return point > 0 && point <= session->point_count ? session->points[point - 1].name
                                                      : "the one without a name";
}

int pleat_points_meet(struct pleat_session *session, struct pleat_error *err)
{
    const int64_t mine[3] = {session->point.at, -session->point.at, -session->sections};
    int64_t least[3] = {mine[0], mine[1], mine[2]};
    MPI_Errhandler handler;
    int failed = pleat_mpi_quiet_begin(session->comm, &handler, err);
    if (!failed)
        failed = pleat_mpi_check(MPI_Allreduce(mine, least, 3, MPI_INT64_T, MPI_MIN, session->comm),
                                 "comparing adaptation points", err);
    pleat_mpi_quiet_end(session->comm, &handler);
    if (failed || least[2] < 0)
        return failed ? failed : PLEAT_MET_NOT_NOW;
    if (least[0] == -least[1])
        return PLEAT_MET;
    pleat_error_set(err, PLEAT_E_STATE,
                    "ranks are at different adaptation points ('%s', '%s'): all must pass those at "
                    "which they may be resized in the same order, each as often as the others",
                    name_of(session, least[0]), name_of(session, -least[1]));
    return PLEAT_MET_APART;
}

/* ---- not now ---- */

int pleat_section_begin(struct pleat_session *session, struct pleat_error *err)
{
    int code = pleat_session_check_running(session, "pleat_section_begin", err);
    if (code)
        return code;
    if (session->sections++ == 0 && session->mailbox)
        pleat_mailbox_not_now(&session->self, true);
    return 0;
}

int pleat_section_end(struct pleat_session *session, struct pleat_error *err)
{
    int code = pleat_session_check_running(session, "pleat_section_end", err);
    if (code)
        return code;
    if (!session->sections)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "pleat_section_end on rank %d, which has begun no section, or has "
                               "ended all of them",
                               session->rank);
    if (--session->sections == 0 && session->mailbox)
        pleat_mailbox_not_now(&session->self, false);
    return 0;
}
