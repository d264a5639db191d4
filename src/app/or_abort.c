/* or_abort.c - for programs that can do nothing about an error of libpleat but end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "app/session.h"

int pleat_or_abort(int outcome, const struct pleat_error *err)
{
    if (outcome >= 0)
        return outcome;
    int runs = 0, over = 0, rank = -1;
    MPI_Initialized(&runs);
    MPI_Finalized(&over);
    if (runs && !over)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    char who[32] = "";
    if (rank >= 0)
        snprintf(who, sizeof(who), "rank %d: ", rank);
    /* One write, since all ranks may say it at once. */
    char line[PLEAT_ERROR_TEXT_SIZE + 320];
    snprintf(line, sizeof(line), "%.200s: %s%s\n", program_invocation_short_name, who,
             err && err->code == outcome ? err->text : pleat_error_name(outcome));
    fputs(line, stderr);
    if (rank >= 0) {
        /* MPICH's launcher does not read any more what a rank has written when it hears of the
         * abort first: it gets a moment to read this */
        const struct timespec moment = {.tv_nsec = 200000000};
        (void)nanosleep(&moment, NULL);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    exit(1);
}
