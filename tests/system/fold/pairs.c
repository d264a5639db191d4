/* pairs DIRECTORY [read|poll] - neighbours (ranks 0 and 1, 2 and 3, ...) send numbers to and fro
 * until there is DIRECTORY/stop, and count in DIRECTORY/counts how often. With `read` rank 0, after
 * some rounds, reads from DIRECTORY/pipe and waits there for as long as it takes; with `poll` it
 * looks for DIRECTORY/go, again and again, outside MPI.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BEFORE 1000 /* rounds */
#define LOOK 100

static int rank, size;
static const char *directory, *mode;

static const char *path_of(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    return path;
}

static void fail(const char *what)
{
    fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 3);
    exit(3);
}

static _Atomic unsigned long *map_counts(void)
{
    size_t bytes = sizeof(unsigned long) * (size_t)size;
    int fd = open(path_of("counts"), O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)bytes))
        fail("no file for counts");
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        fail("no memory for counts");
    close(fd);
    return map;
}

/* Waits in ways of which the MPI knows nothing. */
static void be_odd(void)
{
    char byte = 0;
    if (!strcmp(mode, "read")) {
        int fd = open(path_of("pipe"), O_RDONLY);
        if (fd < 0 || read(fd, &byte, 1) != 1 || byte != 'x')
            fail("the pipe says nothing");
        close(fd);
    } else if (!strcmp(mode, "poll")) {
        while (access(path_of("go"), F_OK))
            ;
    }
}

/* Returns whether this was the last round. */
static int exchange(int other, unsigned long round)
{
    unsigned long out[2] = {round, 0}, in[2] = {0, 0};
    if (rank < other) {
        out[1] = round % LOOK == 0 && !access(path_of("stop"), F_OK);
        MPI_Send(out, 2, MPI_UNSIGNED_LONG, other, 1, MPI_COMM_WORLD);
    }
    MPI_Recv(in, 2, MPI_UNSIGNED_LONG, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (in[0] != round)
        fail("a wrong number");
    if (rank > other)
        MPI_Send(in, 2, MPI_UNSIGNED_LONG, other, 1, MPI_COMM_WORLD);
    return in[1] != 0;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    directory = argc > 1 ? argv[1] : ".";
    mode = argc > 2 ? argv[2] : "";
    if (size % 2)
        fail("an odd number of ranks");
    _Atomic unsigned long *counts = map_counts();
    MPI_Barrier(MPI_COMM_WORLD);
    int last = 0;
    for (unsigned long round = 0; !last; round++) {
        if (rank == 0 && round == BEFORE)
            be_odd();
        last = exchange(rank ^ 1, round);
        atomic_store(&counts[rank], round + 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("RESULT ok pairs ranks=%d\n", size);
    MPI_Finalize();
    return 0;
}
