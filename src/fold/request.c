/* request.c - which requests receive messages, and from which process.
 *
 * A small table that forgets. If many requests are open, a new one replaces another of its row, and
 * a message received through the replaced one is not counted. A request that ended while nothing
 * was told (turn_is_told) may stay; when another request gets its handle, a message too many is
 * counted as received. Both only make the choice of the next process worse.
 */
#include "fold/request.h"

#include <stdint.h>
#include <stdlib.h>

#include "fold/hint.h"
#include "fold/peer.h"

#define ROW_BITS 8
#define ROWS (1 << ROW_BITS)
#define WAYS 4
#define OPEN_MAX 65536 /* requests of one call; nothing is told of calls with more */

struct entry {
    uintptr_t request; /* 0: this entry is empty */
    int32_t peer;
    uint8_t kind; /* enum fold_request_kind */
    bool started;
};

static struct entry table[ROWS][WAYS];
static uint8_t next_to_go[ROWS];

/* The requests of the current call. */
static uintptr_t *opened;
static int opened_room, opened_count;

static uintptr_t key_of(MPI_Request request)
{
    return (uintptr_t)request;
}

static size_t row_of(uintptr_t key)
{
    return (size_t)(((uint64_t)key * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - ROW_BITS));
}

static struct entry *find(uintptr_t key)
{
    struct entry *row = table[row_of(key)];
    for (int i = 0; i < WAYS; i++)
        if (row[i].request == key)
            return &row[i];
    return NULL;
}

static struct entry *room_for(uintptr_t key)
{
    size_t number = row_of(key);
    struct entry *empty = NULL;
    for (int i = WAYS - 1; i >= 0; i--) {
        struct entry *entry = &table[number][i];
        if (entry->request == key)
            return entry;
        if (!entry->request)
            empty = entry;
    }
    return empty ? empty : &table[number][next_to_go[number]++ % WAYS];
}

void fold_request_add(MPI_Request request, enum fold_request_kind kind, MPI_Comm comm, int rank)
{
    uintptr_t key = key_of(request);
    if (rank == MPI_PROC_NULL || !key)
        return;
    *room_for(key) = (struct entry){.request = key,
                                    .peer = fold_peer(comm, rank, true),
                                    .kind = (uint8_t)kind,
                                    .started = kind == FOLD_RECEIVES};
}

void fold_request_add_matched(MPI_Request request)
{
    uintptr_t key = key_of(request);
    if (key)
        *room_for(key) = (struct entry){
            .request = key, .peer = TURN_ANYBODY, .kind = FOLD_RECEIVES, .started = true};
}

void fold_request_start(MPI_Request request)
{
    struct entry *entry = find(key_of(request));
    if (!entry)
        turn_activity(); /* the request is of a kind that is not in the table */
    else if (entry->kind == FOLD_PREPARED_SEND)
        turn_sent(entry->peer);
    else
        entry->started = true;
}

void fold_request_forget(MPI_Request request)
{
    struct entry *entry = find(key_of(request));
    if (entry)
        entry->request = 0;
}

void fold_request_cancel(MPI_Request request)
{
    struct entry *entry = find(key_of(request));
    if (!entry)
        return;
    entry->started = false;
    if (entry->kind == FOLD_RECEIVES)
        entry->request = 0;
}

static bool make_room(int count)
{
    if (count <= opened_room)
        return true;
    if (count > OPEN_MAX)
        return false;
    uintptr_t *more = realloc(opened, (size_t)count * sizeof(*more));
    if (!more)
        return false;
    opened = more;
    opened_room = count;
    return true;
}

/* The one process from which all requests of the call wait for messages, as far as is known. */
static int32_t sender_of_all(void)
{
    int32_t sender = TURN_ANYBODY;
    for (int i = 0; i < opened_count; i++) {
        const struct entry *entry = find(opened[i]);
        if (!entry || !entry->started || entry->peer == sender)
            continue;
        if (sender != TURN_ANYBODY)
            return TURN_ANYBODY;
        sender = entry->peer;
    }
    return sender;
}

void fold_requests_begin(int count, const MPI_Request *requests, bool waits)
{
    opened_count = requests && count > 0 && make_room(count) ? count : 0;
    for (int i = 0; i < opened_count; i++)
        opened[i] = key_of(requests[i]);
    if (waits)
        turn_receiving(sender_of_all());
}

void fold_request_done(int index)
{
    if (index < 0 || index >= opened_count) /* also if it is MPI_UNDEFINED: there was none */
        return;
    struct entry *entry = find(opened[index]);
    if (!entry || !entry->started)
        return;
    turn_received(entry->peer);
    entry->started = false;
    if (entry->kind == FOLD_RECEIVES)
        entry->request = 0;
}

void fold_requests_done_all(void)
{
    for (int i = 0; i < opened_count; i++)
        fold_request_done(i);
}

void fold_requests_done_some(int count, const int *indices)
{
    for (int i = 0; indices && i < count; i++)
        fold_request_done(indices[i]);
}
