#include "cli/jobs/far_terminal.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/common/reply.h"
#include "cli/jobs/output.h"
#include "client/client.h"

#define AGAIN_NS 50000000L
/* Keys are this program's again when pleatd was away for so long. */
#define LOST_US (2 * PLEAT_US_PER_S)

/* Threads use it until the program ends. */
static struct {
    int64_t job;
    bool asks;   /* a thread asks pleatd about it */
    int end;     /* of the socket */
    int wake[2]; /* a pipe: the terminal may have another size */
    atomic_bool there, lost;
} far = {.end = -1, .wake = {-1, -1}};

int pleat_far_terminal_begin(void)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return -1;
    if (fcntl(ends[0], F_SETFL, O_NONBLOCK) || pipe2(far.wake, O_CLOEXEC) ||
        fcntl(far.wake[1], F_SETFL, O_NONBLOCK)) {
        close(ends[0]);
        close(ends[1]);
        return -1;
    }
    far.end = ends[1];
    return ends[0];
}

bool pleat_far_terminal_is_there(void)
{
    return atomic_load(&far.there);
}

bool pleat_far_terminal_is_lost(void)
{
    return atomic_load(&far.lost);
}

void pleat_far_terminal_resized(void)
{
    if (far.wake[1] >= 0)
        (void)!write(far.wake[1], "", 1); /* if it is full, it will be read */
}

/* Connects to pleatd, as soon as there is one: the main thread starts it, or ends the program.
 * Closes the client that was lost. NULL: that cannot be. */
static struct pleat_client *reach(struct pleat_client *lost)
{
    const struct timespec pause = {0, AGAIN_NS};
    int64_t since_us = pleat_clock_monotonic_us();
    struct pleat_client *client = NULL;
    struct pleat_paths paths;
    pleat_client_close(lost);
    if (pleat_paths_init(&paths, NULL))
        return NULL;
    while (pleat_client_open(&paths, &client, NULL)) {
        client = NULL;
        if (pleat_clock_monotonic_us() - since_us > LOST_US)
            atomic_store(&far.lost, true);
        nanosleep(&pause, NULL);
    }
    atomic_store(&far.lost, false);
    return client;
}

/* A call failed. NULL: it is of no use to call again. */
static struct pleat_client *go_on(struct pleat_client *client)
{
    if (pleat_client_is_lost(client))
        return reach(client);
    pleat_client_close(client);
    return NULL;
}

static void begin_thread(void *(*run)(void *arg))
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* signals are left to the main thread */
    if (pthread_create(&thread, NULL, run, NULL) == 0)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- keys ---- */

/* What is handed over to the run of the job. */
struct keys {
    int64_t run; /* 0: none takes them */
    int64_t offset;
    char bytes[4096];
    size_t count;
};

/* Waits for keys. False: there will be none. */
static bool read_keys(struct keys *keys)
{
    ssize_t got = read(far.end, keys->bytes, sizeof(keys->bytes));
    keys->count = got > 0 ? (size_t)got : 0;
    return got > 0;
}

/* False: the job is over, or no keys will come. */
static bool take_answer(struct keys *keys, const json_t *answer)
{
    int64_t run = pleat_reply_int(answer, "run", 0);
    if (pleat_reply_true(answer, "over"))
        return false;
    if (pleat_reply_true(answer, "taken")) {
        keys->offset += (int64_t)keys->count;
        return read_keys(keys);
    }
    if (!run || run == keys->run)
        return true;
    keys->run = run; /* keys that an earlier run has not taken are this one's */
    keys->offset = 0;
    return keys->count || read_keys(keys);
}

static void *pass_keys(void *arg)
{
    static struct keys keys;
    struct pleat_client *client = reach(NULL);
    (void)arg;
    while (client) {
        json_t *answer = NULL;
        struct pleat_error err;
        json_t *params =
            json_pack("{s:I, s:I, s:I, s:b}", "job", (json_int_t)far.job, "run",
                      (json_int_t)keys.run, "offset", (json_int_t)keys.offset, "end", 0);
        int status =
            pleat_client_call_with(client, "input", params, keys.bytes, keys.count, &answer, &err);
        bool over = !status && !take_answer(&keys, answer);
        json_decref(answer);
        if (over)
            break;
        if (status)
            client = go_on(client);
    }
    pleat_client_close(client);
    return NULL;
}

/* ---- the size ---- */

static void *pass_size(void *arg)
{
    char some[64];
    struct pleat_error err;
    struct pleat_client *client = NULL;
    (void)arg;
    while (read(far.wake[0], some, sizeof(some)) > 0) {
        int status = 1;
        while (status) {
            struct winsize size = {0};
            if (!client && !(client = reach(NULL)))
                return NULL;
            (void)ioctl(STDIN_FILENO, TIOCGWINSZ, &size);
            status =
                pleat_client_call(client, "window",
                                  json_pack("{s:I, s:i, s:i}", "job", (json_int_t)far.job, "rows",
                                            (int)size.ws_row, "columns", (int)size.ws_col),
                                  NULL, &err);
            if (status && !(client = go_on(client)))
                return NULL;
        }
    }
    return NULL;
}

/* ---- what is shown ---- */

static void set_there(bool there)
{
    static bool passing;
    if (there && !passing) {
        begin_thread(pass_keys);
        begin_thread(pass_size);
        passing = true;
    }
    if (there)
        pleat_far_terminal_resized(); /* it may have changed since the start */
    atomic_store(&far.there, there);
}

/* What pleatd says of the terminal. */
struct shown {
    int64_t run, offset; /* of the next byte that is to be shown */
};

/* False: the job is over. */
static bool take(struct shown *shown, const json_t *answer, const struct pleat_string *bytes)
{
    int64_t run = pleat_reply_int(answer, "run", -1);
    int64_t offset = pleat_reply_int(answer, "offset", 0);
    if (run < 0 || bytes->failed)
        return false;
    if (run != shown->run) {
        *shown = (struct shown){.run = run, .offset = offset};
        set_there(run != 0);
    }
    int64_t known = shown->offset > offset ? shown->offset - offset : 0;
    int64_t count = (int64_t)bytes->length;
    if (known >= count)
        return true;
    shown->offset = offset + count;
    return pleat_output_write(far.end, bytes->text + known, (size_t)(count - known)) == 0;
}

static void *show(void *arg)
{
    struct shown shown = {0};
    struct pleat_client *client = reach(NULL);
    bool goes_on = client != NULL;
    (void)arg;
    while (goes_on) {
        json_t *answer = NULL;
        struct pleat_string bytes = {0};
        struct pleat_error err;
        json_t *params = json_pack("{s:I, s:I, s:I}", "job", (json_int_t)far.job, "run",
                                   (json_int_t)shown.run, "offset", (json_int_t)shown.offset);
        int status = pleat_client_call_bytes(client, "terminal", params, &answer, &bytes, &err);
        if (!status)
            goes_on = take(&shown, answer, &bytes);
        else
            goes_on = (client = go_on(client)) != NULL;
        json_decref(answer);
        pleat_string_finish(&bytes);
    }
    pleat_client_close(client);
    (void)shutdown(far.end, SHUT_WR);
    return NULL;
}

void pleat_far_terminal_start(int64_t job)
{
    far.job = job;
    far.asks = true;
    begin_thread(show);
}

void pleat_far_terminal_end(void)
{
    if (!far.asks)
        (void)shutdown(far.end, SHUT_WR);
}
