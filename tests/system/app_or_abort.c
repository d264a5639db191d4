/* app_or_abort.c - what pleat_or_abort does: an outcome passes through; an error ends all ranks,
 * with its text. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "pleat.h"

int main(int argc, char **argv)
{
    struct pleat_session *session;
    struct pleat_error err = {0};
    long k = 0;

    if (argc > 1 && strcmp(argv[1], "early") == 0)
        pleat_or_abort(PLEAT_E_STATE, NULL);
    MPI_Init(&argc, &argv);
    pleat_or_abort(pleat_session_create(&session, &err), &err);
    pleat_or_abort(pleat_value_register(session, "k", &k, sizeof(k), &err), &err);
    if (pleat_or_abort(PLEAT_LEAVE, &err) != PLEAT_LEAVE)
        return 2;
    if (pleat_or_abort(pleat_session_begin(session, &err), NULL) != PLEAT_STARTED)
        return 2;
    puts("begun");
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    if (pleat_session_rank(session) == 1)
        pleat_or_abort(pleat_value_register(session, "late", &k, sizeof(k), &err), &err);
    else if (pleat_session_size(session) > 1)
        MPI_Barrier(MPI_COMM_WORLD); /* never passed */
    pleat_or_abort(PLEAT_E_STATE, NULL);
}
