#include "cli/jobs/input.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/input.h"
#include "base/write.h"
#include "cli/common/daemon.h"
#include "cli/common/interrupt.h"
#include "cli/common/reply.h"

#define PREFIX PLEAT_INPUT_PREFIX
#define STALE_S (24L * 3600)
#define LOOK_NS 20000000L

static bool is_nothing(void)
{
    struct stat about;
    return fstat(STDIN_FILENO, &about) ||
           (S_ISCHR(about.st_mode) && about.st_rdev == makedev(1, 3));
}

/* Removes FIFOs of processes that were killed. After a day no job waits for such an input. */
static void remove_stale(const char *directory)
{
    DIR *list = opendir(directory);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        struct stat about;
        if (!strncmp(entry->d_name, PREFIX, strlen(PREFIX)) &&
            !fstatat(dirfd(list), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) &&
            S_ISFIFO(about.st_mode) && about.st_mtime + STALE_S < time(NULL) &&
            kill((pid_t)atoi(entry->d_name + strlen(PREFIX)), 0) && errno == ESRCH)
            (void)unlinkat(dirfd(list), entry->d_name, 0);
    }
    if (list)
        closedir(list);
}

int pleat_standard_input_begin(struct pleat_standard_input *input, const struct pleat_paths *paths,
                               struct pleat_error *err)
{
    *input = (struct pleat_standard_input){.fifo = -1, .opened = -1};
    if (is_nothing())
        return 0;
    remove_stale(paths->runtime);
    snprintf(input->path, sizeof(input->path), "%s/" PREFIX "%d", paths->runtime, (int)getpid());
    (void)unlink(input->path); /* an earlier process had the same pid */
    bool made = mkfifo(input->path, 0600) == 0;
    if (made) {
        pleat_interrupt_remove(input->path);
        input->fifo = open(input->path, O_RDWR | O_CLOEXEC);
        input->opened = inotify_init1(IN_CLOEXEC);
    }
    if (input->fifo >= 0 && input->opened >= 0 &&
        inotify_add_watch(input->opened, input->path, IN_OPEN) >= 0)
        return 0;
    int code = errno;
    (void)pleat_error_sys(err, code, "cannot pass standard input on through '%s'", input->path);
    pleat_standard_input_end(input);
    return PLEAT_E_SYSTEM;
}

static void sleep_ns(long ns)
{
    struct timespec pause = {0, ns};
    nanosleep(&pause, NULL);
}

/* Waits until the program is in the foreground. Reading from a terminal in the background would
 * stop it. */
static void await_foreground(void)
{
    while (isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) != getpgrp())
        sleep_ns(10 * LOOK_NS);
}

/* Waits until a job has opened the FIFO and read all of it. Only then the job may see the end of
 * the input. */
static void await_read(const struct pleat_standard_input *input)
{
    char event[sizeof(struct inotify_event) + 256];
    int left = 0;
    while (read(input->opened, event, sizeof(event)) < 0 && errno == EINTR)
        ;
    while (ioctl(input->fifo, FIONREAD, &left) == 0 && left > 0)
        sleep_ns(LOOK_NS);
}

static void *pass_on(void *arg)
{
    static char bytes[65536];
    struct pleat_standard_input *input = arg;
    for (;;) {
        await_foreground();
        ssize_t got = read(STDIN_FILENO, bytes, sizeof(bytes));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || pleat_write_all(input->fifo, bytes, (size_t)got))
            break;
    }
    await_read(input);
    close(input->fifo);
    return NULL;
}

/* False: there is no such thread. */
static bool begin_thread(void *(*run)(void *arg), void *arg)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* signals are left to the main thread */
    bool begun = pthread_create(&thread, NULL, run, arg) == 0;
    if (begun)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return begun;
}

void pleat_standard_input_start(struct pleat_standard_input *input)
{
    if (*input->path && !begin_thread(pass_on, input))
        close(input->fifo); /* the job sees an empty input */
}

/* ---- to another node ---- */

/* What is handed over to the run of a job. */
struct sending {
    char path[sizeof((struct pleat_standard_input *)0)->path];
    int64_t job, run; /* run 0: none takes it */
    int64_t offset;   /* bytes that the run has taken */
    int fifo;         /* -1: not opened yet */
    bool end;         /* the input has ended with the piece */
    bool told;        /* the run knows that */
    size_t count;     /* of the piece that the run is to take */
    char piece[65536];
};

/* Takes the next piece from the FIFO, which may take long. Nothing is read before a run wants it.
 */
static void read_piece(struct sending *sending)
{
    if (sending->fifo < 0)
        sending->fifo = open(sending->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = -1;
    while (sending->fifo >= 0) {
        struct pollfd polled = {.fd = sending->fifo, .events = POLLIN};
        (void)poll(&polled, 1, -1);
        got = read(sending->fifo, sending->piece, sizeof(sending->piece));
        if (got >= 0 || (errno != EINTR && errno != EAGAIN))
            break;
    }
    sending->count = got > 0 ? (size_t)got : 0;
    sending->end = got <= 0;
}

/* Hands over a piece, or asks which run wants one. False: the job is over. */
static bool take_answer(struct sending *sending, const json_t *answer)
{
    int64_t run = pleat_reply_int(answer, "run", 0);
    if (pleat_reply_true(answer, "taken")) {
        sending->offset += (int64_t)sending->count;
        sending->count = 0;
        sending->told = sending->end;
        if (!sending->end)
            read_piece(sending);
    } else if (run && run != sending->run) { /* input that an earlier run has taken is gone */
        sending->run = run;
        sending->offset = 0;
        sending->told = false;
        if (!sending->count && !sending->end)
            read_piece(sending);
    }
    return !pleat_reply_true(answer, "over");
}

static void *send_on(void *arg)
{
    struct sending *sending = arg;
    struct pleat_paths paths;
    struct pleat_client *client = NULL;
    struct pleat_error err;
    int losses = 0;
    bool goes_on = !pleat_paths_init(&paths, NULL) && !pleat_client_open(&paths, &client, NULL);
    while (goes_on) {
        json_t *answer = NULL;
        json_t *params = json_pack("{s:I, s:I, s:I, s:b}", "job", (json_int_t)sending->job, "run",
                                   (json_int_t)sending->run, "offset", (json_int_t)sending->offset,
                                   "end", sending->end && !sending->told);
        int status = pleat_client_call_with(client, "input", params, sending->piece, sending->count,
                                            &answer, &err);
        if (!status) {
            losses = 0;
            goes_on = take_answer(sending, answer);
        } else {
            goes_on = pleat_client_is_lost(client) &&
                      pleat_daemon_resume(&client, NULL, &losses, &err) == 0;
        }
        json_decref(answer);
    }
    pleat_client_close(client);
    return NULL;
}

void pleat_standard_input_send(const struct pleat_standard_input *input, int64_t job)
{
    static struct sending sending; /* the thread uses it until the program ends */
    if (!*input->path)
        return;
    sending = (struct sending){.job = job, .fifo = -1};
    memcpy(sending.path, input->path, sizeof(sending.path));
    (void)begin_thread(send_on, &sending);
}

void pleat_standard_input_end(struct pleat_standard_input *input)
{
    pleat_interrupt_remove(NULL);
    if (*input->path)
        (void)unlink(input->path);
}
