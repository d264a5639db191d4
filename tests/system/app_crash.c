#include "app_crash.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int is_inside;
static int steps;

static int my_place = -1;

void app_crash_init(void)
{
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_rank(MPI_COMM_WORLD, &my_place);
    PMPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        my_place += 100;
}

/* Whether this step is to fail. */
static int step(int can_fail)
{
    char how[8];
    char file[256];
    int place = 0;
    int number = 0;
    const char *order = getenv("PLEAT_TEST_CRASH");
    if (!is_inside || !order ||
        sscanf(order, "%7[a-z]:%d:%d:%255s", how, &place, &number, file) != 4 ||
        access(file, F_OK) || place != my_place)
        return 0;
    int fails = !strcmp(how, "fail");
    /* how often ranks meet depends on their speed: failures are counted among what can fail */
    if ((fails && !can_fail) || ++steps < number || unlink(file))
        return 0;
    if (!fails)
        raise(SIGKILL);
    errno = ENOMEM;
    return 1;
}

static void be_late(void)
{
    int place = 0;
    int ms = 0;
    const char *order = getenv("PLEAT_TEST_WRITES_LATE");
    if (!is_inside || !order || sscanf(order, "%d:%d", &place, &ms) != 2 || place != my_place)
        return;
    const struct timespec pause = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&pause, NULL);
}

void app_crash_inside(int inside)
{
    is_inside = inside;
    steps = 0;
}

#pragma GCC visibility push(default)

int fallocate(int fd, int mode, off_t offset, off_t length)
{
    (void)step(0);
    return (int)syscall(SYS_fallocate, fd, mode, offset, length);
}

int madvise(void *at, size_t bytes, int advice)
{
    if (advice == MADV_POPULATE_WRITE) /* to be written, in the data file */
        be_late();
    return step(1) ? -1 : (int)syscall(SYS_madvise, at, bytes, advice);
}

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t offset)
{
    (void)step(0);
    return syscall(SYS_pwrite64, fd, data, bytes, offset);
}

/* The ranks meet by this call, once they have said what they have to say. */
long syscall(long number, ...)
{
    static long (*next)(long number, ...);
    long given[6];
    va_list rest;
    va_start(rest, number);
    for (int i = 0; i < 6; i++)
        given[i] = va_arg(rest, long);
    va_end(rest);
    if (number == SYS_futex)
        (void)step(0);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "syscall");
    return next(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    (void)step(0);
    return PMPI_Bcast(data, count, type, root, comm);
}

int MPI_Allreduce(const void *mine, void *all, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm)
{
    (void)step(0);
    return PMPI_Allreduce(mine, all, count, type, op, comm);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made)
{
    (void)step(0);
    return PMPI_Comm_split(comm, color, key, made);
}

#pragma GCC visibility pop
