/* ranks.c - an MPICH program whose rank 1 (of 3) ends as it is told to.
 *
 *   test-pmi-ranks sum               all add up their ranks; rank 0 prints the sum
 *   test-pmi-ranks cat               rank 0 copies its standard input; the others see none
 *   test-pmi-ranks wait              prints "ready", and waits for ever
 *   test-pmi-ranks abort CODE        rank 1 calls MPI_Abort
 *   test-pmi-ranks exit CODE         rank 1 exits without MPI_Finalize
 *   test-pmi-ranks late CODE         ... after it
 *   test-pmi-ranks early CODE        ... before MPI_Init
 *   test-pmi-ranks shot NUMBER       rank 1 is ended by that signal before MPI_Init
 *   test-pmi-ranks signal NUMBER     rank 1 is ended by that signal
 *   test-pmi-ranks deaf              rank 0 ignores SIGTERM, rank 1 is killed
 *   test-pmi-ranks spawn             tries to start more
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void copy_input(int rank)
{
    char bytes[4096];
    size_t all = 0, got;
    while ((got = fread(bytes, 1, sizeof(bytes), stdin)) > 0) {
        all += got;
        if (rank == 0)
            fwrite(bytes, 1, got, stdout);
    }
    if (rank != 0 && all)
        puts("more than nothing");
}

static void end_badly(const char *how, int number)
{
    if (!strcmp(how, "abort"))
        MPI_Abort(MPI_COMM_WORLD, number);
    if (!strcmp(how, "exit"))
        _exit(number);
    signal(number, SIG_DFL); /* UCX catches some */
    raise(number);
}

int main(int argc, char **argv)
{
    int rank, sum = 0;
    const char *how = argc > 1 ? argv[1] : "sum";
    int number = argc > 2 ? atoi(argv[2]) : SIGKILL;
    const char *own = getenv("PMI_RANK");
    if (own && !strcmp(own, "1")) {
        if (!strcmp(how, "early"))
            _exit(number);
        if (!strcmp(how, "shot"))
            raise(number);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!strcmp(how, "deaf") && rank == 0)
        signal(SIGTERM, SIG_IGN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(how, "sum") && rank == 0)
        printf("sum %d\n", sum);
    else if (!strcmp(how, "cat"))
        copy_input(rank);
    else if (!strcmp(how, "spawn"))
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF,
                       &(MPI_Comm){MPI_COMM_NULL}, MPI_ERRCODES_IGNORE);
    else if (rank == 1 && strcmp(how, "sum") && strcmp(how, "late") && strcmp(how, "wait"))
        end_badly(how, number);
    if (!strcmp(how, "wait")) {
        printf("ready\n");
        fflush(stdout);
        for (;;)
            pause();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return rank == 1 && !strcmp(how, "late") ? number : 0;
}
