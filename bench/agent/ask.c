/* What the agent does for a program that asks for processes, as that program sees it.
 *
 * - ask full N GO: when the file GO is there, adds N processes, which are prepared, and stops them;
 * - ask away N GO: adds one that is prepared on another host, which then adds N others, as above;
 * - ask empty N: adds N processes one after another, none of which is prepared; stops each;
 * - ask many N GO LATER: adds N processes at once, and waits until all are there; then asks LATER
 *   times for one more, for which there is no processor, every 0.1 s; waits until GO is there;
 * - ask flood N: asks for N processes as fast as it can, while there is no processor;
 * - ask bare N: starts itself N times without Pleat, and waits for its first message.
 *
 * Run by `pleat run --evolving`, but for `bare`. Process 0 prints lines NAME VALUE; a value for
 * each process: microseconds. Each other process sends a byte when it begins, and waits until it is
 * to leave. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pleat-process.h"

enum { HERE = 1, ADD = 2, WAIT_MS = 120000, PROCESSES_MAX = 4096 };

static struct pleat_processes *all;
static struct pleat_error err;

static double now_us(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static _Noreturn void fail(const char *what, const char *why)
{
    fprintf(stderr, "ask: %s: %s\n", what, why);
    exit(1);
}

static void check(const char *what, int rc)
{
    if (rc < 0)
        fail(what, err.text);
}

static void pause_ms(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static void wait_for_file(const char *path)
{
    while (access(path, F_OK) != 0)
        pause_ms(5);
}

/* ---- what has become of a process ---- */

/* Waits until a process sends its first message. */
static void wait_for_byte(int32_t process)
{
    char byte;
    int rc = pleat_process_receive(all, process, HERE, &byte, 1, NULL, WAIT_MS, &err);
    check("the first message", rc);
    if (rc)
        fail("the first message", "it does not come");
}

/* Waits until a process is gone: the descriptor is readable while there is a notice. */
static void wait_until_gone(int32_t process)
{
    struct pleat_process_news news;
    double until_us = now_us() + WAIT_MS * 1e3;
    while (now_us() < until_us) {
        while (pleat_process_notice(all, &news))
            if (news.news == PLEAT_PROCESS_NEWS_GONE && news.process == process)
                return;
        struct timespec moment = {0, 20000};
        nanosleep(&moment, NULL);
    }
    fail("a process that was stopped", "it does not go");
}

/* Adds one, which has to be there at once, or must not be. Returns what the call took. */
static double add(int wanted, int32_t *process)
{
    double begun_us = now_us();
    int rc = pleat_process_add(all, NULL, process, &err);
    double took_us = now_us() - begun_us;
    check("add", rc);
    if (rc != wanted)
        fail("add", wanted == PLEAT_PROCESS_ADDED_READY ? "no process is prepared"
                                                        : "a process is prepared already");
    return took_us;
}

static void stop(int32_t process)
{
    double begun_us = now_us();
    check("stop", pleat_process_stop(all, process, &err));
    double took_us = now_us() - begun_us;
    wait_until_gone(process);
    printf("stop_call %.3f\nstop %.3f\n", took_us, now_us() - begun_us);
}

/* ---- the cases ---- */

static void full(int count, const char *go)
{
    static int32_t ids[PROCESSES_MAX];
    wait_for_file(go);
    for (int i = 0; i < count; i++) {
        double begun_us = now_us();
        printf("add_full %.3f\n", add(PLEAT_PROCESS_ADDED_READY, &ids[i]));
        wait_for_byte(ids[i]);
        printf("first_full %.3f\n", now_us() - begun_us);
    }
    for (int i = 0; i < count; i++)
        stop(ids[i]);
}

/* What each of them takes, in microseconds, as the process sees it that asks. */
struct taken {
    double add, first;
};

/* Another process of the run adds `count`, and sends back what that takes. */
static void away(int count, const char *go)
{
    int32_t other;
    wait_for_file(go);
    (void)add(PLEAT_PROCESS_ADDED_READY, &other);
    wait_for_byte(other);
    check("send", pleat_process_send(all, other, ADD, &count, sizeof(count), WAIT_MS, &err));
    for (int i = 0; i < count; i++) {
        struct taken taken;
        int rc = pleat_process_receive(all, other, ADD, &taken, sizeof(taken), NULL, WAIT_MS, &err);
        check("what it takes", rc);
        if (rc)
            fail("what it takes", "it does not come");
        printf("add_away %.3f\nfirst_away %.3f\n", taken.add, taken.first);
    }
}

static void add_away(void)
{
    int count = 0;
    check("how many", pleat_process_receive(all, pleat_process_parent(all), ADD, &count,
                                            sizeof(count), NULL, WAIT_MS, &err));
    for (int i = 0; i < count; i++) {
        int32_t process;
        struct taken taken;
        double begun_us = now_us();
        taken.add = add(PLEAT_PROCESS_ADDED_READY, &process);
        wait_for_byte(process);
        taken.first = now_us() - begun_us;
        check("send", pleat_process_send(all, pleat_process_parent(all), ADD, &taken, sizeof(taken),
                                         WAIT_MS, &err));
    }
}

static void empty(int count)
{
    for (int i = 0; i < count; i++) {
        int32_t process;
        double begun_us = now_us();
        printf("add_empty %.3f\n", add(PLEAT_PROCESS_ADDED_LATER, &process));
        wait_for_byte(process);
        printf("first_empty %.3f\n", now_us() - begun_us);
        stop(process);
    }
}

static void many(int count, const char *go, int later)
{
    static int32_t ids[PROCESSES_MAX];
    double begun_us = now_us();
    for (int i = 0; i < count; i++)
        printf("many_add %.3f\n", add(PLEAT_PROCESS_ADDED_LATER, &ids[i]));
    for (int i = 0; i < count; i++)
        wait_for_byte(ids[i]);
    printf("many_all %.3f\n", now_us() - begun_us);
    printf("many_known %d\n", pleat_process_list(all, NULL, 0) - 1);
    for (int i = 0; i < later; i++) {
        int32_t process;
        pause_ms(100);
        printf("late_add %.3f\n", add(PLEAT_PROCESS_ADDED_LATER, &process));
        check("cancel", pleat_process_cancel(all, process, &err));
    }
    puts("many_asked 1");
    fflush(stdout);
    wait_for_file(go);
}

static void flood(int count)
{
    static int32_t waiting[PROCESSES_MAX];
    int later = 0, refused = 0;
    double begun_us = now_us();
    for (int i = 0; i < count; i++) {
        int32_t process;
        int rc = pleat_process_add(all, NULL, &process, &err);
        if (rc == PLEAT_PROCESS_ADDED_LATER && later < PROCESSES_MAX)
            waiting[later++] = process;
        else if (rc == PLEAT_E_BUSY && strstr(err.text, "flood"))
            refused++;
        else
            fail("flood", rc < 0 ? err.text : "a process came although there is no processor");
    }
    printf("flood_us %.3f\nflood_waiting %d\nflood_refused %d\n", now_us() - begun_us, later,
           refused);
    begun_us = now_us();
    for (int i = 0; i < later; i++)
        check("cancel", pleat_process_cancel(all, waiting[i], &err));
    printf("cancel_us %.3f\n", now_us() - begun_us);
}

/* fork and exec of this program, until its first byte is read from a pipe. */
static void bare(int count, const char *program)
{
    for (int i = 0; i < count; i++) {
        int pipes[2];
        char byte;
        if (pipe(pipes))
            fail("a pipe", strerror(errno));
        double begun_us = now_us();
        pid_t pid = fork();
        if (pid == 0) {
            dup2(pipes[1], STDOUT_FILENO);
            close(pipes[0]);
            close(pipes[1]);
            execl(program, program, "hello", NULL);
            _exit(127);
        }
        close(pipes[1]);
        if (pid < 0 || read(pipes[0], &byte, 1) != 1)
            fail("a bare start", "the program says nothing");
        printf("bare %.3f\n", now_us() - begun_us);
        close(pipes[0]);
        waitpid(pid, NULL, 0);
    }
}

/* One that was added, or, started bare, is alone: its first message is a byte. */
static void serve(void)
{
    char byte = 1;
    struct pleat_process_message message;
    int rc = 0;
    if (pleat_process_parent(all) != PLEAT_PROCESS_NONE)
        check("send",
              pleat_process_send(all, pleat_process_parent(all), HERE, &byte, 1, WAIT_MS, &err));
    while (!pleat_process_leaving(all) && rc != PLEAT_E_CLOSED) {
        rc = pleat_process_probe(all, 0, PLEAT_PROCESS_TYPE, &message, WAIT_MS, &err);
        if (!rc && message.type == ADD)
            add_away();
    }
}

static int lead(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "", *go = argc > 3 ? argv[3] : "/";
    int count = argc > 2 ? atoi(argv[2]) : 0;
    if (count < 1 || (count > PROCESSES_MAX && strcmp(what, "flood") != 0))
        fail(what, "how many?");
    if (!strcmp(what, "full"))
        full(count, go);
    else if (!strcmp(what, "away"))
        away(count, go);
    else if (!strcmp(what, "empty"))
        empty(count);
    else if (!strcmp(what, "many"))
        many(count, go, argc > 4 ? atoi(argv[4]) : 0);
    else if (!strcmp(what, "flood"))
        flood(count);
    else
        fail(what, "there is no such case");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "bare")) {
        bare(atoi(argv[2]), "/proc/self/exe");
        return 0;
    }
    int begun = pleat_processes_begin(&all, NULL, &err);
    check("begin", begun);
    if (argc > 1 && !strcmp(argv[1], "hello")) { /* alone: as far as the others get */
        if (write(STDOUT_FILENO, "!", 1) != 1)
            return 1;
        check("finish", pleat_processes_finish(all, &err));
        return 0;
    }
    int code = 0;
    if (pleat_process_self(all) == 0)
        code = lead(argc, argv);
    else if (begun != PLEAT_PROCESS_LEAVE)
        serve();
    fflush(stdout);
    check("finish", pleat_processes_finish(all, &err));
    return code;
}
