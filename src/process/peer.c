#include "process/peer.h"

#include <stdlib.h>
#include <string.h>

/* Where it is, or where it belongs. Numbers rise, so that it is in general at the end. */
static size_t place_of(const struct pleat_peers *peers, int32_t id)
{
    size_t low = 0, high = peers->count;
    if (high && peers->items[high - 1]->id < id)
        return high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (peers->items[middle]->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct pleat_peer *pleat_peers_find(const struct pleat_peers *peers, int32_t id)
{
    size_t place = place_of(peers, id);
    return place < peers->count && peers->items[place]->id == id ? peers->items[place] : NULL;
}

struct pleat_peer *pleat_peers_get(struct pleat_peers *peers, int32_t id)
{
    size_t place = place_of(peers, id);
    if (place < peers->count && peers->items[place]->id == id)
        return peers->items[place];
    struct pleat_peer *made = calloc(1, sizeof(*made));
    if (!made || pleat_array_reserve(peers, 1)) {
        free(made);
        return NULL;
    }
    made->id = id;
    made->parent = made->code = -1;
    made->asked = -1;
    memmove(peers->items + place + 1, peers->items + place,
            (peers->count - place) * sizeof(struct pleat_peer *));
    peers->items[place] = made;
    peers->count++;
    return made;
}

void pleat_peers_finish(struct pleat_peers *peers)
{
    for (size_t i = 0; i < peers->count; i++) {
        struct pleat_peer *peer = peers->items[i];
        pleat_outward_forget(&peer->out, UINT64_MAX);
        pleat_peer_leave_all(peer);
        free(peer->address);
        free(peer);
    }
    pleat_array_finish(peers);
}

static int group_place(const struct pleat_peer *peer, const char *name)
{
    for (int i = 0; i < peer->group_count; i++)
        if (strcmp(peer->groups[i], name) == 0)
            return i;
    return -1;
}

bool pleat_peer_in_group(const struct pleat_peer *peer, const char *name)
{
    return group_place(peer, name) >= 0;
}

int pleat_peer_join(struct pleat_peer *peer, const char *name)
{
    if (pleat_peer_in_group(peer, name))
        return 0;
    if (peer->group_count == PLEAT_PEER_GROUPS)
        return PLEAT_E_TOOBIG;
    char *copy = strdup(name);
    if (!copy)
        return PLEAT_E_NOMEM;
    peer->groups[peer->group_count++] = copy;
    return 0;
}

void pleat_peer_leave(struct pleat_peer *peer, const char *name)
{
    int place = group_place(peer, name);
    if (place >= 0) {
        free(peer->groups[place]);
        peer->groups[place] = peer->groups[--peer->group_count];
    }
}

void pleat_peer_leave_all(struct pleat_peer *peer)
{
    while (peer->group_count)
        free(peer->groups[--peer->group_count]);
}

struct pleat_kept *pleat_kept_make(const void *body, size_t count)
{
    struct pleat_kept *kept = malloc(sizeof(*kept) + PLEAT_HEAD_BYTES + count);
    if (!kept)
        return NULL;
    kept->next = NULL;
    atomic_init(&kept->users, 1);
    kept->number = 0;
    kept->size = PLEAT_HEAD_BYTES + count;
    if (count)
        memcpy(kept->bytes + PLEAT_HEAD_BYTES, body, count);
    return kept;
}

void pleat_kept_drop(struct pleat_kept *kept)
{
    if (atomic_fetch_sub(&kept->users, 1) == 1)
        free(kept);
}

void pleat_outward_forget(struct pleat_outward *out, uint64_t number)
{
    while (out->first && out->first->number <= number) {
        struct pleat_kept *kept = out->first;
        if (out->unsent == kept)
            out->unsent = kept->next;
        out->first = kept->next;
        pleat_kept_drop(kept);
    }
    if (!out->first)
        out->last = NULL;
}

void pleat_came_append(struct pleat_came_list *all, struct pleat_came *came)
{
    struct pleat_came_list *of = &came->from->in.waiting;
    came->next = came->next_of = NULL;
    came->before = all->last;
    came->before_of = of->last;
    *(all->last ? &all->last->next : &all->first) = came;
    *(of->last ? &of->last->next_of : &of->first) = came;
    all->last = of->last = came;
}

void pleat_came_remove(struct pleat_came_list *all, struct pleat_came *came)
{
    struct pleat_came_list *of = &came->from->in.waiting;
    *(came->before ? &came->before->next : &all->first) = came->next;
    *(came->next ? &came->next->before : &all->last) = came->before;
    *(came->before_of ? &came->before_of->next_of : &of->first) = came->next_of;
    *(came->next_of ? &came->next_of->before_of : &of->last) = came->before_of;
}
