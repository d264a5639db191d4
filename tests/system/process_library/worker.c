/* worker.c - a process that does with libpleat-process what lines on standard input say, and
 * answers each with a line: what the function returned, and what it found; for an error its text.
 *
 * usage: worker [WINDOW_MESSAGES [WINDOW_BYTES [FINISH_MS [ANSWER_MS]]]]
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pleat-process.h"

enum { ROOM = 1 << 25, WORDS = 32 };

static struct pleat_processes *all;
static struct pleat_error err;
static char *room;
static char *words[WORDS];
static int count;

static long number(int word)
{
    return word < count ? strtol(words[word], NULL, 10) : 0;
}

static void answer(int rc, const char *more)
{
    printf("%d %s\n", rc, rc < 0 ? err.text : more);
}

/* The bytes of a message with a number: told apart by it. */
static void fill(unsigned char *bytes, size_t size, unsigned long value)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)((value * 2654435761UL + i * 40503UL) >> 7);
    if (size >= sizeof(value))
        memcpy(bytes, &value, sizeof(value));
}

/* stream TO TYPE FIRST COUNT SIZE TIMEOUT: messages in a row; says how many were sent. */
static void stream(void)
{
    size_t size = (size_t)number(5);
    unsigned long first = (unsigned long)number(3), sent = 0;
    int rc = 0;
    while (sent < (unsigned long)number(4)) {
        fill((unsigned char *)room, size, first + sent);
        rc = pleat_process_send(all, (int32_t)number(1), (int32_t)number(2), room, size,
                                (int)number(6), &err);
        if (rc)
            break;
        sent++;
    }
    char text[32];
    snprintf(text, sizeof(text), "%lu", sent);
    answer(rc, text);
}

/* expect FROM TYPE FIRST COUNT SIZE TIMEOUT: they come in this row; says how many did. */
static void expect(void)
{
    size_t size = (size_t)number(5);
    unsigned char *wanted = malloc(size + 1);
    unsigned long first = (unsigned long)number(3), got = 0;
    struct pleat_process_message message;
    char text[64] = "";
    int rc = 0;
    while (got < (unsigned long)number(4)) {
        rc = pleat_process_receive(all, (int32_t)number(1), (int32_t)number(2), room, ROOM,
                                   &message, (int)number(6), &err);
        if (rc)
            break;
        fill(wanted, size, first + got);
        if (message.bytes != size || memcmp(wanted, room, size) != 0) {
            rc = 99;
            break;
        }
        got++;
    }
    free(wanted);
    snprintf(text, sizeof(text), "%lu", got);
    answer(rc, text);
}

static void receive(int probe)
{
    struct pleat_process_message message = {0};
    char text[256] = "";
    int rc = probe ? pleat_process_probe(all, (int32_t)number(1), (int32_t)number(2), &message,
                                         (int)number(3), &err)
                   : pleat_process_receive(all, (int32_t)number(1), (int32_t)number(2), room,
                                           count > 4 ? (size_t)number(4) : ROOM, &message,
                                           (int)number(3), &err);
    if (rc == 0)
        snprintf(text, sizeof(text), "%d %d %zu %.*s", message.from, message.type, message.bytes,
                 probe ? 0 : (int)(message.bytes < 100 ? message.bytes : 100), room);
    answer(rc, text);
}

/* add [PROGRAM ARGUMENT...]; wish PRIORITY SITE NODE VARIABLE */
static void add(void)
{
    const char *argv[WORDS + 1] = {0}, *variables[2] = {0};
    struct pleat_process_wish wish = {0};
    char text[16];
    int32_t process = -1;
    int is_wish = strcmp(words[0], "wish") == 0;
    for (int i = 1; i < count; i++)
        argv[i - 1] = words[i];
    if (is_wish) {
        wish.priority = (int)number(1);
        wish.site = words[2];
        wish.node = words[3];
        variables[0] = words[4];
        wish.variables = variables;
    } else if (count > 1) {
        wish.argv = argv;
    }
    int rc = pleat_process_add(all, is_wish || count > 1 ? &wish : NULL, &process, &err);
    snprintf(text, sizeof(text), "%d", process);
    answer(rc, text);
}

static void list(int group)
{
    int32_t ids[2048];
    int length = group ? pleat_process_group_list(all, words[1], ids, 2048)
                       : pleat_process_list(all, ids, 2048);
    printf("%d", length);
    for (int i = 0; i < length && i < 2048; i++)
        printf(" %d", ids[i]);
    puts("");
}

static void about(void)
{
    struct pleat_process_info info = {0};
    char text[128];
    int rc = pleat_process_about(all, (int32_t)number(1), &info, &err);
    snprintf(text, sizeof(text), "%d %d %d %d %d", info.state, info.parent, info.reason, info.code,
             info.signal);
    answer(rc, text);
}

static void groups(void)
{
    char name[64];
    const int32_t process = (int32_t)number(1);
    const int found = pleat_process_group_name(all, process, -1, NULL, 0);
    printf("%d", found);
    for (int i = 0; i < found; i++) {
        pleat_process_group_name(all, process, i, name, sizeof(name));
        printf(" %s", name);
    }
    puts("");
}

/* notice TIMEOUT: by the descriptor */
static void notice(void)
{
    struct pleat_process_news news = {0};
    char text[128] = "";
    struct pollfd wait = {.fd = pleat_process_descriptor(all, &err), .events = POLLIN};
    int rc = pleat_process_notice(all, &news);
    if (rc == 0 && poll(&wait, 1, (int)number(1)) > 0)
        rc = pleat_process_notice(all, &news);
    if (rc == 1)
        snprintf(text, sizeof(text), "%d %d %d %d %d %lld", news.news, news.process, news.reason,
                 news.code, news.signal, (long long)news.lost);
    answer(rc, text);
}

static void group_send(void)
{
    int sent = -1;
    char text[16];
    int rc = pleat_process_group_send(all, words[1], (int32_t)number(2), words[3], strlen(words[3]),
                                      (int)number(4), &sent, &err);
    snprintf(text, sizeof(text), "%d", sent);
    answer(rc, text);
}

/* A child of fork can use nothing, and nothing hangs there. */
static void forked(void)
{
    int status = -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        char byte = 0;
        alarm(5);
        _exit(pleat_process_send(all, 0, 1, &byte, 1, 0, &err) == PLEAT_E_STATE &&
                      pleat_processes_finish(all, &err) == PLEAT_E_STATE &&
                      pleat_process_list(all, NULL, 0) == 0 && pleat_process_leaving(all) == 0
                  ? 0
                  : 1);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    answer(status, "");
}

static void idle(void)
{
    const struct timespec time = {.tv_sec = number(1) / 1000,
                                  .tv_nsec = number(1) % 1000 * 1000000};
    nanosleep(&time, NULL);
    answer(0, "");
}

static void act(void)
{
    const char *what = words[0];
    if (strcmp(what, "send") == 0) /* send TO TYPE TIMEOUT TEXT */
        answer(pleat_process_send(all, (int32_t)number(1), (int32_t)number(2), words[4],
                                  strlen(words[4]), (int)number(3), &err),
               "");
    else if (strcmp(what, "receive") == 0 || strcmp(what, "probe") == 0)
        receive(*what == 'p');
    else if (strcmp(what, "stream") == 0)
        stream();
    else if (strcmp(what, "expect") == 0)
        expect();
    else if (strcmp(what, "add") == 0 || strcmp(what, "wish") == 0)
        add();
    else if (strcmp(what, "cancel") == 0)
        answer(pleat_process_cancel(all, (int32_t)number(1), &err), "");
    else if (strcmp(what, "stop") == 0)
        answer(pleat_process_stop(all, (int32_t)number(1), &err), "");
    else if (strcmp(what, "list") == 0)
        list(0);
    else if (strcmp(what, "members") == 0)
        list(1);
    else if (strcmp(what, "groups") == 0)
        groups();
    else if (strcmp(what, "about") == 0)
        about();
    else if (strcmp(what, "notice") == 0)
        notice();
    else if (strcmp(what, "leaving") == 0)
        answer(pleat_process_leaving(all), "");
    else if (strcmp(what, "join") == 0)
        answer(pleat_process_group_join(all, words[1], &err), "");
    else if (strcmp(what, "leave") == 0)
        answer(pleat_process_group_leave(all, words[1], &err), "");
    else if (strcmp(what, "tell") == 0) /* tell GROUP TYPE TEXT TIMEOUT */
        group_send();
    else if (strcmp(what, "iteration") == 0)
        pleat_process_iteration(all, number(1));
    else if (strcmp(what, "returning") == 0)
        answer(pleat_process_returning(all, (int)number(1), &err), "");
    else if (strcmp(what, "fork") == 0)
        forked();
    else if (strcmp(what, "idle") == 0)
        idle();
    else
        answer(98, "no such command");
}

int main(int argc, char **argv)
{
    struct pleat_process_settings settings = {
        .window_messages = argc > 1 ? strtoul(argv[1], NULL, 10) : 0,
        .window_bytes = argc > 2 ? strtoul(argv[2], NULL, 10) : 0,
        .finish_ms = argc > 3 ? atoi(argv[3]) : 0,
        .answer_ms = argc > 4 ? atoi(argv[4]) : 0};
    static char line[4096];
    setvbuf(stdout, NULL, _IOLBF, 0);
    room = malloc(ROOM);
    int rc = pleat_processes_begin(&all, &settings, &err);
    char text[64];
    snprintf(text, sizeof(text), "%d %d %d", pleat_process_self(all), pleat_process_parent(all),
             pleat_process_maximum(all));
    answer(rc, text);
    while (rc > 0 && fgets(line, sizeof(line), stdin)) {
        count = 0;
        for (char *word = strtok(line, " \n"); word && count < WORDS; word = strtok(NULL, " \n"))
            words[count++] = word;
        for (int i = count; i < WORDS; i++)
            words[i] = NULL;
        if (count && strcmp(words[0], "exit") == 0)
            break;
        if (count)
            act();
    }
    if (rc > 0)
        answer(pleat_processes_finish(all, &err), "");
    free(room);
    return rc < 0;
}
