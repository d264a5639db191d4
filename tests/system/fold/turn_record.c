/* turn_record.c - instead of src/fold/turn*.c: writes down what the wrappers tell, a line of JSON
 * in $FOLD_RECORD.RANK when the process leaves. Every rank is at the place of its number. */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fold/turn.h"

#define PLACES 64

static struct {
    bool on;
    int32_t index, rank;
    pid_t pid;
    long sent[PLACES], received[PLACES], sent_nobody, received_nobody, received_anybody;
    long receiving, activity, calls, waits, progressed;
    bool several;       /* threads may call MPI */
    atomic_long beside; /* what others than the first of them told */
} record;

bool turn_is_on(void)
{
    return record.on;
}

bool turn_is_told(void)
{
    return record.on && !getenv("FOLD_RECORD_UNTOLD");
}

bool turn_polls_alone(void)
{
    return turn_has_room();
}

bool turn_has_room(void)
{
    return false;
}

void turn_prefer(uint8_t quiet, uint8_t contended)
{
    (void)quiet;
    (void)contended;
}

bool turn_attach(int32_t index, int32_t rank)
{
    if (record.on || !getenv("FOLD_RECORD"))
        return false;
    record.on = true;
    record.index = index;
    record.rank = rank;
    record.pid = getpid();
    return true;
}

void turn_program(int size)
{
    (void)size;
}

void turn_threads(bool several)
{
    record.several = several;
}

bool turn_is_for_all(void)
{
    return record.several;
}

static void print_list(FILE *out, const char *name, const long *list)
{
    fprintf(out, ",\"%s\":[", name);
    for (int i = 0; i < PLACES; i++)
        fprintf(out, "%s%ld", i ? "," : "", list[i]);
    fprintf(out, "]");
}

void turn_leave(void)
{
    char path[4096];
    if (!record.on)
        return;
    record.on = false;
    (void)snprintf(path, sizeof(path), "%s.%s%d", getenv("FOLD_RECORD"),
                   record.pid == getpid() ? "" : "child-of-", record.rank);
    FILE *out = fopen(path, "a");
    if (!out)
        return;
    fprintf(out, "{\"index\":%d,\"rank\":%d", record.index, record.rank);
    print_list(out, "sent", record.sent);
    print_list(out, "received", record.received);
    fprintf(out,
            ",\"sent_nobody\":%ld,\"received_nobody\":%ld,\"received_anybody\":%ld,"
            "\"receiving\":%ld,\"activity\":%ld,\"calls\":%ld,\"waits\":%ld,\"progressed\":%ld,"
            "\"several\":%s,\"beside\":%ld}\n",
            record.sent_nobody, record.received_nobody, record.received_anybody, record.receiving,
            record.activity, record.calls, record.waits, record.progressed,
            record.several ? "true" : "false", atomic_load(&record.beside));
    fclose(out);
}

int32_t turn_place(int32_t rank)
{
    return rank < PLACES ? rank : TURN_NOBODY;
}

void turn_sent(int32_t to)
{
    if (to < 0)
        record.sent_nobody++;
    else
        record.sent[to]++;
}

void turn_receiving(int32_t from)
{
    (void)from;
    record.receiving++;
}

void turn_received(int32_t from)
{
    if (from == TURN_ANYBODY)
        record.received_anybody++;
    else if (from < 0)
        record.received_nobody++;
    else
        record.received[from]++;
}

/* Another thread than the one that called MPI_Init. */
static bool is_beside(void)
{
    return syscall(SYS_gettid) != getpid();
}

void turn_activity(void)
{
    if (is_beside())
        atomic_fetch_add(&record.beside, 1);
    else
        record.activity++;
}

void turn_call(void)
{
    record.calls++;
}

bool turn_wait(void)
{
    if (is_beside())
        atomic_fetch_add(&record.beside, 1);
    else
        record.waits++;
    syscall(SYS_sched_yield);
    return true;
}

void turn_progressed(void)
{
    record.progressed++;
}
