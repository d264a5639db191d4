#include "dist/spread.h"

#include <stdlib.h>

/* ---- what is where ---- */

static int by_place(const void *one, const void *other)
{
    const struct pleat_stretch *a = one;
    const struct pleat_stretch *b = other;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return a->first < b->first ? -1 : a->first > b->first;
}

size_t pleat_spread_tidy(struct pleat_stretch *stretches, size_t count)
{
    size_t left = 0;
    if (count)
        qsort(stretches, count, sizeof(*stretches), by_place);
    for (size_t i = 0; i < count; i++) {
        struct pleat_stretch one = stretches[i];
        struct pleat_stretch *last = left ? &stretches[left - 1] : NULL;
        if (one.first >= one.end)
            continue;
        one.rank = PLEAT_SPREAD_NOBODY;
        if (!last || last->node != one.node || one.first > last->end)
            stretches[left++] = one;
        else if (one.end > last->end)
            last->end = one.end;
    }
    return left;
}

/* Looks at one place. False: `node` has it, up to *until. Otherwise the next change is at *until,
 * which is not 0, and *from has it as far. */
static bool look(const struct pleat_stretch *held, size_t count, int node, uint64_t at,
                 uint64_t *until, int32_t *from)
{
    uint64_t there = 0;
    *from = PLEAT_SPREAD_NOBODY;
    for (size_t i = 0; i < count; i++) {
        const struct pleat_stretch *one = &held[i];
        const bool covers = one->first <= at && at < one->end;
        if (covers && one->node == node) {
            *until = one->end;
            return false;
        }
        if (covers && (*from == PLEAT_SPREAD_NOBODY || one->node < *from)) {
            *from = one->node;
            there = one->end;
        }
        if (one->first > at && one->first < *until)
            *until = one->first;
    }
    if (*from != PLEAT_SPREAD_NOBODY && there < *until)
        *until = there;
    return true;
}

bool pleat_spread_next(const struct pleat_stretch *held, size_t count, int node, uint64_t *at,
                       uint64_t end, struct pleat_stretch *piece)
{
    while (*at < end) {
        uint64_t until = end;
        int32_t from;
        const uint64_t first = *at;
        const bool lacks = look(held, count, node, first, &until, &from);
        *at = until;
        if (!lacks)
            continue;
        *piece = (struct pleat_stretch){first, until, from, PLEAT_SPREAD_NOBODY};
        return true;
    }
    return false;
}

/* ---- ranks and nodes ---- */

static int ranks_on(const int *of, int ranks, int node)
{
    int count = 0;
    for (int i = 0; i < ranks; i++)
        count += of[i] == node;
    return count;
}

int pleat_spread_rank(const int *of, int ranks, int node, size_t number)
{
    const int count = ranks_on(of, ranks, node);
    if (!count)
        return PLEAT_SPREAD_NOBODY;
    size_t left = number % (size_t)count;
    for (int i = 0; i < ranks; i++)
        if (of[i] == node && left-- == 0)
            return i;
    return PLEAT_SPREAD_NOBODY;
}

/* Of the nodes that stay, the one in whose share of `all` ranks the middle of rank `rank` of
 * `ranks` falls. */
static int home_of(const int *of, int ranks, const bool *stays, int nodes, int all, int rank)
{
    int64_t passed = 0;
    int last = PLEAT_SPREAD_NOBODY;
    for (int node = 0; node < nodes; node++) {
        const int here = stays[node] ? ranks_on(of, ranks, node) : 0;
        if (!here)
            continue;
        last = node;
        passed += here;
        if ((2 * (int64_t)rank + 1) * all < 2 * passed * ranks)
            break;
    }
    return last;
}

bool pleat_spread_homes(const int *of, int ranks, const bool *stays, int nodes, int *home)
{
    int all = 0;
    for (int i = 0; i < ranks; i++)
        all += stays[of[i]];
    for (int i = 0; i < ranks && all; i++)
        home[i] = stays[of[i]] ? of[i] : home_of(of, ranks, stays, nodes, all, i);
    return all > 0;
}
