/* early.c - libpleat-early: where a rank of Open MPI ends well before MPI_Init, and others use MPI,
 * the program ends.
 *
 * It is preloaded into the ranks of Open MPI where they are on several nodes. mpirun (4.1) takes no
 * notice of a rank that exits with 0 and has not called MPI_Init, unless another one of that node
 * has called it before; and the others wait for it for ever, in the fence of PMIx by which MPI_Init
 * exchanges addresses. If they do not use MPI either, all is well. Which it is cannot be told from
 * a time: they may call MPI_Init hours later.
 *
 * So such a rank comes to that fence itself before it ends, and says there that it does without
 * MPI. All get out of the fence when the last of them has come. Then it asks whether the next rank
 * has said the same. If none of them uses MPI, all have, and it ends well. If some do, there is one
 * that comes next after one that does not: that one names itself and ends with 1, upon which mpirun
 * ends the others. (With MPICH pleat-pmi does the same: src/pmi/absent.h.)
 *
 * A rank is the process that mpirun's daemon has started. Whether it, or a process below it (of a
 * script), has used MPI is known from PMIx_Init, which is taken over here and leaves a mark: in a
 * file without a name that the rank has open. Where that is closed, or the rank ends by a signal,
 * or where there is no PMIx library that others can use, nothing is done.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <pmix.h>

#define SHOWN __attribute__((visibility("default")))
#define MARK_ENV "PLEAT_EARLY"
#define KEY "pleat-absent"
#define LIBRARY "libpmix.so.2"

enum { EXIT_MISSED = 1, HIGH = 200 /* programs may expect that the first numbers are free */ };

static pid_t rank; /* this process; 0: it is no rank */
static int mark = -1;
static ino_t marks_inode;

SHOWN void _exit(int status);
SHOWN void _Exit(int status);

/* ---- which process is meant ---- */

static long number_of(const char *name)
{
    const char *text = getenv(name);
    return text && *text >= '0' && *text <= '9' ? strtol(text, NULL, 10) : -1;
}

/* Has mpirun, or its daemon on another node, started this process? */
static bool is_rank(void)
{
    static const char *const starters[] = {"orted", "orterun", "mpirun", "mpirun.openmpi", NULL};
    char link[64], path[4096];
    if (!getenv("PMIX_NAMESPACE") || number_of("PMIX_RANK") < 0 ||
        number_of("OMPI_COMM_WORLD_SIZE") < 2)
        return false;
    snprintf(link, sizeof(link), "/proc/%d/exe", (int)getppid());
    ssize_t length = readlink(link, path, sizeof(path) - 1);
    path[length > 0 ? length : 0] = '\0';
    const char *slash = strrchr(path, '/');
    for (size_t i = 0; slash && starters[i]; i++)
        if (!strcmp(slash + 1, starters[i]))
            return true;
    return false;
}

/* The mark that this process made before it executed another program; -1: none. */
static int find_mark(void)
{
    char own[64];
    const char *path = getenv(MARK_ENV);
    int length = snprintf(own, sizeof(own), "/proc/%d/fd/", (int)getpid());
    if (!path || strncmp(path, own, (size_t)length))
        return -1;
    int fd = atoi(path + length);
    return fcntl(fd, F_GETFD) < 0 ? -1 : fd;
}

/* It stays open in what this process executes. */
static int make_mark(void)
{
    char path[64];
    int fd = memfd_create("pleat-early", 0), high = fd < 0 ? -1 : fcntl(fd, F_DUPFD, HIGH);
    if (high >= 0) {
        close(fd);
        fd = high;
    }
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fd);
    if (fd >= 0)
        (void)setenv(MARK_ENV, path, 1);
    return fd;
}

/* Was PMIx_Init called here, or below? Also if that is not known. */
static bool has_used_mpi(void)
{
    struct stat now;
    return mark < 0 || fstat(mark, &now) || now.st_ino != marks_inode || now.st_size > 0;
}

/* ---- PMIx ---- */

/* The PMIx library that is loaded already: it is not where RTLD_NEXT looks, since Open MPI loads it
 * with its own parts. */
static int find_library(struct dl_phdr_info *info, size_t size, void *found)
{
    (void)size;
    const char *slash = strrchr(info->dlpi_name, '/');
    if (!slash || strncmp(slash + 1, "libpmix.so", strlen("libpmix.so")))
        return 0;
    *(void **)found = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    return 1;
}

SHOWN pmix_status_t PMIx_Init(pmix_proc_t *proc, pmix_info_t info[], size_t count)
{
    static union {
        void *symbol;
        pmix_status_t (*call)(pmix_proc_t *, pmix_info_t *, size_t);
    } real;
    const char *path = getenv(MARK_ENV);
    int fd = path ? open(path, O_WRONLY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        (void)!write(fd, "i", 1);
        close(fd);
    }
    if (!real.symbol)
        real.symbol = dlsym(RTLD_NEXT, "PMIx_Init");
    if (!real.symbol) {
        void *library = NULL;
        (void)dl_iterate_phdr(find_library, &library);
        real.symbol = library ? dlsym(library, "PMIx_Init") : NULL;
    }
    return real.symbol ? real.call(proc, info, count) : PMIX_ERROR;
}

/* The calls of PMIx that are made here. */
struct calls {
    union {
        void *symbol;
        pmix_status_t (*call)(pmix_proc_t *, pmix_info_t *, size_t);
    } init;
    union {
        void *symbol;
        pmix_status_t (*call)(pmix_scope_t, const char *, pmix_value_t *);
    } put;
    union {
        void *symbol;
        pmix_status_t (*call)(void);
    } commit;
    union {
        void *symbol;
        pmix_status_t (*call)(const pmix_proc_t *, size_t, const pmix_info_t *, size_t);
    } fence;
    union {
        void *symbol;
        pmix_status_t (*call)(const pmix_proc_t *, const char *, const pmix_info_t *, size_t,
                              pmix_value_t **);
    } get;
    union {
        void *symbol;
        pmix_status_t (*call)(const pmix_info_t *, size_t);
    } finalize;
};

static bool load(struct calls *calls)
{
    /* global: PMIx's plugins find its functions so */
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        return false;
    calls->init.symbol = dlsym(library, "PMIx_Init");
    calls->put.symbol = dlsym(library, "PMIx_Put");
    calls->commit.symbol = dlsym(library, "PMIx_Commit");
    calls->fence.symbol = dlsym(library, "PMIx_Fence");
    calls->get.symbol = dlsym(library, "PMIx_Get");
    calls->finalize.symbol = dlsym(library, "PMIx_Finalize");
    return calls->init.symbol && calls->put.symbol && calls->commit.symbol && calls->fence.symbol &&
           calls->get.symbol && calls->finalize.symbol;
}

static pmix_info_t yes(const char *key)
{
    pmix_info_t info = {.value = {.type = PMIX_BOOL, .data = {.flag = true}}};
    snprintf(info.key, sizeof(info.key), "%s", key);
    return info;
}

/* Comes to the fence of MPI_Init, and waits there for all others. Does the next rank wait in
 * MPI_Init for this one? */
static bool is_missed(void)
{
    struct calls calls;
    pmix_proc_t own;
    pmix_value_t said = {.type = PMIX_BOOL, .data = {.flag = true}}, *heard = NULL;
    const pmix_info_t collect = yes(PMIX_COLLECT_DATA), at_once = yes(PMIX_IMMEDIATE);
    long size = number_of("OMPI_COMM_WORLD_SIZE");
    if (!load(&calls) || calls.init.call(&own, NULL, 0))
        return false;
    if (calls.put.call(PMIX_GLOBAL, KEY, &said) || calls.commit.call() ||
        calls.fence.call(NULL, 0, &collect, 1))
        return false;
    pmix_proc_t next = own;
    next.rank = (own.rank + 1) % (pmix_rank_t)size;
    pmix_status_t status = calls.get.call(&next, KEY, &at_once, 1, &heard);
    if (status != PMIX_ERR_NOT_FOUND)
        (void)calls.finalize.call(NULL, 0); /* else mpirun would miss it */
    return status == PMIX_ERR_NOT_FOUND;
}

/* ---- its end ---- */

/* Whoever ends the program ends this process, too, whatever it did with signals before. */
static void take_signals(void)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        (void)sigaction(numbers[i], &usual, NULL);
        sigaddset(&set, numbers[i]);
    }
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* This process is about to end with that code. Returns the code with which it is to end. */
static int leave(int code)
{
    if (!rank || getpid() != rank || (code & 0xff) != 0 || has_used_mpi())
        return code;
    rank = 0; /* only once */
    take_signals();
    if (!is_missed())
        return code;
    const char *number = getenv("PMIX_RANK");
    dprintf(STDERR_FILENO,
            "pleat: rank %s (process %d) ended with exit code 0, before MPI_Init: all others were "
            "ended, too\n",
            number ? number : "?", (int)getpid());
    return EXIT_MISSED;
}

static void at_exit(int code, void *unused)
{
    (void)unused;
    if (rank == getpid())
        (void)fflush(NULL); /* nobody waits longer for what it has written */
    int other = leave(code);
    if (other != code)
        syscall(SYS_exit_group, other);
}

void _exit(int status)
{
    status = leave(status);
    for (;;)
        syscall(SYS_exit_group, status);
}

void _Exit(int status)
{
    _exit(status);
}

__attribute__((constructor)) static void begin(void)
{
    struct stat made;
    if (!is_rank())
        return;
    mark = find_mark();
    if (mark < 0)
        mark = make_mark();
    if (mark < 0 || fstat(mark, &made) || on_exit(at_exit, NULL))
        return;
    marks_inode = made.st_ino;
    rank = getpid();
}
