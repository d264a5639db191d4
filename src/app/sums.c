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

void pleat_sums_note(struct pleat_session *session)
{
    for (struct pleat_object *object = session->objects; object; object = object->next)
        if (session->checks && object->tail) {
            object->noted = object->tail->sums(object);
            object->is_noted = true;
        }
}

void pleat_sums_expect(struct pleat_session *session)
{
    for (struct pleat_object *object = session->objects; object; object = object->next)
        object->is_noted = session->checks && object->tail;
}

int pleat_sums_compare(struct pleat_session *session, MPI_Comm comm, bool has_any,
                       struct pleat_error *err)
{
    int code = 0;
    for (struct pleat_object *object = session->objects; object; object = object->next) {
        if (!object->is_noted)
            continue;
        const struct pleat_sums after =
            has_any ? object->tail->sums(object) : (struct pleat_sums){0};
        const uint64_t mine[4] = {object->noted.count, object->noted.hash, after.count, after.hash};
        uint64_t all[4] = {0};
        int failed = pleat_mpi_check(MPI_Allreduce(mine, all, 4, MPI_UINT64_T, MPI_SUM, comm),
                                     "comparing sums", err);
        object->noted = (struct pleat_sums){0};
        object->is_noted = false;
        if (failed)
            return failed;
        if (!code && (all[0] != all[2] || all[1] != all[3]))
            code = pleat_error_set(err, PLEAT_E_CORRUPT,
                                   "'%s' is not the same after it was moved: of %" PRIu64
                                   " items %" PRIu64
                                   " came, and %s: are they packed and unpacked alike?",
                                   object->name, all[0], all[2],
                                   all[0] == all[2] ? "their bytes differ" : "the others are lost");
    }
    return code;
}
