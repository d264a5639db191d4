/* farewell.c - libpleat-farewell: lets programs of MPICH on several hosts come to their end.
 *
 * It is preloaded into the ranks of MPICH where they are on several hosts. In MPI_Finalize MPICH
 * 4.0 and 4.1 over UCX take leave of each other rank, and then wait for all at their process
 * manager, in a read that blocks. Meanwhile they answer nobody: a rank whose connection to another
 * one was still being made never hears of it, and the program does not end. (Three hosts of two
 * ranks: every second run of a ring. MPICH 4.2 does not wait there: its pull request 6596.)
 *
 * So from the first leave on, a read from the process manager waits by having UCX go on, for as
 * long as nothing is there to be read. This is done by the thread with which MPICH reads, so no
 * other thread calls UCX than before. Nothing else is changed. */
#include <dlfcn.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

/* One for each of MPICH's virtual interfaces. */
enum { WORKERS = 64, PAUSE_MS = 1, SPINS = 1000 };

#define SHOWN __attribute__((visibility("default")))

typedef int worker_create(void *context, const void *params, void **worker);
typedef void worker_destroy(void *worker);
typedef unsigned worker_progress(void *worker);
typedef void *disconnect(void *endpoint);
typedef ssize_t reading(int fd, void *to, size_t size);

static void *workers[WORKERS];
static int leaving, manager = -1;

/* The function of that name in the library that comes next. */
#define NEXT(type, name)                                                                           \
    static union {                                                                                 \
        void *symbol;                                                                              \
        type *call;                                                                                \
    } real;                                                                                        \
    if (!real.symbol)                                                                              \
    real.symbol = dlsym(RTLD_NEXT, name)

SHOWN worker_create ucp_worker_create;
SHOWN worker_destroy ucp_worker_destroy;
SHOWN disconnect ucp_disconnect_nb;

int ucp_worker_create(void *context, const void *params, void **worker)
{
    NEXT(worker_create, "ucp_worker_create");
    int rc = real.call(context, params, worker);
    for (int i = 0; rc == 0 && i < WORKERS; i++)
        if (!workers[i]) {
            workers[i] = *worker;
            break;
        }
    return rc;
}

void ucp_worker_destroy(void *worker)
{
    NEXT(worker_destroy, "ucp_worker_destroy");
    for (int i = 0; i < WORKERS; i++)
        if (workers[i] == worker)
            workers[i] = NULL;
    real.call(worker);
}

void *ucp_disconnect_nb(void *endpoint)
{
    NEXT(disconnect, "ucp_disconnect_nb");
    const char *text = getenv("PMI_FD");
    if (!leaving && text)
        manager = atoi(text);
    leaving = 1;
    return real.call(endpoint);
}

static void go_on(void)
{
    static worker_progress *progress;
    if (!progress) {
        union {
            void *symbol;
            worker_progress *call;
        } found = {dlsym(RTLD_DEFAULT, "ucp_worker_progress")};
        progress = found.call;
    }
    for (int i = 0; progress && i < WORKERS; i++)
        if (workers[i])
            (void)progress(workers[i]);
}

SHOWN ssize_t read(int fd, void *to, size_t size)
{
    NEXT(reading, "read");
    struct pollfd there = {.fd = fd, .events = POLLIN};
    /* at first without a pause: usually all ranks come at once */
    for (int turn = 0; leaving && fd == manager; turn += turn < SPINS) {
        if (poll(&there, 1, turn < SPINS ? 0 : PAUSE_MS))
            break;
        go_on();
    }
    return real.call(fd, to, size);
}
