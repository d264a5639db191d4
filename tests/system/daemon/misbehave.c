/* misbehave.c - preloaded into an MPI program that is linked with libpleat, makes it go wrong in
 * the middle of a resize, once: in the process that removes the file MISBEHAVE_ONCE. MISBEHAVE says
 * how:
 *
 *   die      rank 0 kills itself when the state has just been saved
 *   sleep    rank 0 goes no further then
 *   spawn    MPI_Comm_spawn never comes back
 *   leave    a process that leaves does not end
 *   linger   the same for one on another node than the first
 *   skip     the program begins as if five iterations had been done
 *   damage   a byte of what rank 0 has made sure of on the disk (a checkpoint) is another one then
 *   hold     a process that writes waits as long as MISBEHAVE_ONCE is there; meanwhile there is a
 *            file of that name with `.held` at its end
 *   begin    the same for a process that is about to begin its session
 *   release  the same for a process on another node than the first that gives up the data
 *   nospace  saving the state fails as if memory were short (without the file being removed)
 *
 * Built once for each MPI. It lies between libpleat and the MPI, so the library is as it is.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "pleat.h"
#include "shm/state.h"

#define DAMAGED 5000 /* in the rows of a small checkpoint */

static int is_told(const char *how)
{
    const char *told = getenv("MISBEHAVE");
    return told && !strcmp(told, how);
}

static int is_time(const char *how)
{
    const char *once = getenv("MISBEHAVE_ONCE");
    return is_told(how) && once && unlink(once) == 0;
}

static void *first_value; /* that was registered */

__attribute__((visibility("default"))) int pleat_value_register(struct pleat_session *session,
                                                                const char *name, void *ptr,
                                                                size_t bytes,
                                                                struct pleat_error *err)
{
    union {
        void *object;
        int (*function)(struct pleat_session *, const char *, void *, size_t, struct pleat_error *);
    } real = {.object = dlsym(RTLD_NEXT, "pleat_value_register")};
    if (!first_value)
        first_value = ptr;
    return real.function(session, name, ptr, bytes, err);
}

static void hold(void)
{
    const char *once = getenv("MISBEHAVE_ONCE");
    char held[4096];
    while (once && access(once, F_OK) == 0) {
        const struct timespec moment = {0, 2000000};
        int fd = snprintf(held, sizeof(held), "%s.held", once) < (int)sizeof(held)
                     ? open(held, O_CREAT | O_WRONLY | O_CLOEXEC, 0600)
                     : -1;
        if (fd >= 0)
            close(fd);
        nanosleep(&moment, NULL);
    }
}

__attribute__((visibility("default"))) int pleat_session_begin(struct pleat_session *session,
                                                               struct pleat_error *err)
{
    union {
        void *object;
        int (*function)(struct pleat_session *, struct pleat_error *);
    } real = {.object = dlsym(RTLD_NEXT, "pleat_session_begin")};
    if (is_told("begin"))
        hold();
    int begun = real.function(session, err);
    if (is_told("skip") && first_value)
        *(long long *)first_value += 5;
    return begun;
}

static _Noreturn void sleep_for_ever(void)
{
    for (;;)
        pause();
}

__attribute__((visibility("default"))) ssize_t pwrite(int fd, const void *data, size_t bytes,
                                                      off_t offset);
ssize_t pwrite(int fd, const void *data, size_t bytes, off_t offset)
{
    union {
        void *object;
        ssize_t (*function)(int, const void *, size_t, off_t);
    } real = {.object = dlsym(RTLD_NEXT, "pwrite")};
    if (is_told("hold"))
        hold();
    if (is_told("nospace")) {
        errno = ENOSPC;
        return -1;
    }
    ssize_t written = real.function(fd, data, bytes, offset);
    if (offset != offsetof(struct pleat_state_header, complete) || bytes != sizeof(uint64_t))
        return written;
    if (is_time("die"))
        raise(SIGKILL);
    if (is_time("sleep"))
        sleep_for_ever();
    return written;
}

__attribute__((visibility("default"))) int flock(int fd, int how)
{
    union {
        void *object;
        int (*function)(int, int);
    } real = {.object = dlsym(RTLD_NEXT, "flock")};
    if (how == LOCK_UN && is_told("release") && getenv("PLEAT_STATE_HERE"))
        hold();
    return real.function(fd, how);
}

__attribute__((visibility("default"))) int fsync(int fd)
{
    union {
        void *object;
        int (*function)(int);
    } real = {.object = dlsym(RTLD_NEXT, "fsync")};
    int result = real.function(fd);
    struct stat st;
    char last;
    if (!result && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > DAMAGED &&
        is_time("damage") && pread(fd, &last, 1, DAMAGED) == 1) {
        last = (char)~last;
        result = pwrite(fd, &last, 1, DAMAGED) == 1 ? 0 : -1;
    }
    return result;
}

__attribute__((visibility("default"))) int MPI_Comm_spawn(const char *command, char *argv[],
                                                          int most, MPI_Info info, int root,
                                                          MPI_Comm comm, MPI_Comm *inter,
                                                          int codes[])
{
    if (is_time("spawn"))
        sleep_for_ever();
    return PMPI_Comm_spawn(command, argv, most, info, root, comm, inter, codes);
}

__attribute__((visibility("default"))) int MPI_Finalize(void)
{
    if (is_time("leave") || (getenv("PLEAT_STATE_HERE") && is_time("linger")))
        sleep_for_ever();
    return PMPI_Finalize();
}
