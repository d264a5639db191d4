/* Compares sums of what the ranks have before and after each move: finds functions of a program
 * that pack or unpack wrongly. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/session.h"

int pleat_sums_wanted(bool *wanted, struct pleat_error *err)
{
    const char *text = getenv(PLEAT_CHECK_ENV);
    *wanted = text && !strcmp(text, "sums");
    if (*wanted || !text || !*text)
        return 0;
    return pleat_error_set(err, PLEAT_E_INVALID,
                           PLEAT_CHECK_ENV " is '%s': it is not set, or 'sums'", text);
}

/* The outcome on all ranks: the first error, in all its words, or 0. */
static int share(MPI_Comm comm, struct pleat_error *why, struct pleat_error *err)
{
    int failed = pleat_mpi_share_error(comm, why, err);
    return failed ? failed : why->code ? pleat_error_set(err, why->code, "%s", why->text) : 0;
}

int pleat_sums_note(struct pleat_session *session, struct pleat_error *err)
{
    struct pleat_error why = {0};
    if (!session->checks)
        return 0;
    for (struct pleat_object *object = session->objects; object; object = object->next)
        if (object->tail) {
            object->is_noted = true;
            if (!why.code)
                (void)object->tail->sums(object, &object->noted, &why);
        }
    return share(session->comm, &why, err);
}

void pleat_sums_expect(struct pleat_session *session)
{
    for (struct pleat_object *object = session->objects; object; object = object->next)
        object->is_noted = session->checks && object->tail;
}

/* The text for numbers of items and sums of their hashes, before and after, that differ. */
static int say_difference(const struct pleat_object *object, const uint64_t all[4],
                          struct pleat_error *err)
{
    const char *what = all[0] == all[2]  ? "their bytes differ"
                       : all[0] > all[2] ? "the others are lost"
                                         : "some are there twice";
    return pleat_error_set(err, PLEAT_E_CORRUPT,
                           "'%s' is not the same after it was moved: of %" PRIu64 " items %" PRIu64
                           " came, and %s: are they packed and unpacked alike?",
                           object->name, all[0], all[2], what);
}

int pleat_sums_compare(struct pleat_session *session, MPI_Comm comm, bool has_any,
                       struct pleat_error *err)
{
    struct pleat_error why = {0};
    bool any = false;
    for (struct pleat_object *object = session->objects; object; object = object->next) {
        struct pleat_sums after = {0};
        if (!object->is_noted)
            continue;
        any = true;
        if (has_any && !why.code)
            (void)object->tail->sums(object, &after, &why);
        const uint64_t mine[4] = {object->noted.count, object->noted.hash, after.count, after.hash};
        uint64_t all[4] = {0};
        int failed = pleat_mpi_check(MPI_Allreduce(mine, all, 4, MPI_UINT64_T, MPI_SUM, comm),
                                     "comparing sums", err);
        object->noted = (struct pleat_sums){0};
        object->is_noted = false;
        if (failed)
            return failed;
        if (!why.code && (all[0] != all[2] || all[1] != all[3]))
            (void)say_difference(object, all, &why);
    }
    return any ? share(comm, &why, err) : 0;
}
