/* calls - MPI calls of every kind that libpleat-fold stands before; prints a line for
 * each kind, the same however the processes share their processors. */
#include "calls.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int rank, size;

void must(bool good, const char *what, const char *file, int line)
{
    if (good)
        return;
    fprintf(stderr, "rank %d: %s:%d: %s is not so\n", rank, file, line, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
    exit(3);
}

int64_t mix(int64_t sum, int64_t value)
{
    return (sum * 31 + value) % 1000000007;
}

struct part {
    const char *name;
    int64_t (*run)(void);
};

static const struct part parts[] = {{"blocking", do_blocking},
                                    {"nonblocking", do_nonblocking},
                                    {"tests", do_tests},
                                    {"probes", do_probes},
                                    {"persistent", do_persistent},
                                    {"collectives", do_collectives},
                                    {"begun collectives", do_begun_collectives},
                                    {"neighbours", do_neighbours},
                                    {"communicators", do_communicators},
                                    {"between", do_between},
                                    {"one-sided", do_one_sided},
                                    {"locks", do_locks},
                                    {"one-sided requests", do_requests_one_sided},
                                    {"files", do_files},
                                    {"errors", do_errors}};

/* Every rank's result, in the order of ranks. */
static void report(const char *name, int64_t mine)
{
    int64_t *all = calloc((size_t)size, sizeof(*all));
    MUST(all);
    DO(MPI_Gather(&mine, 1, MPI_INT64_T, all, 1, MPI_INT64_T, 0, MPI_COMM_WORLD));
    int64_t sum = 0;
    for (int i = 0; i < size; i++)
        sum = mix(sum, all[i]);
    if (rank == 0) {
        printf("%s %lld\n", name, (long long)sum);
        fflush(stdout);
    }
    free(all);
}

int main(int argc, char **argv)
{
    DO(MPI_Init(&argc, &argv));
    DO(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    DO(MPI_Comm_size(MPI_COMM_WORLD, &size));
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        report(parts[i].name, parts[i].run());
    DO(MPI_Finalize());
    return 0;
}
