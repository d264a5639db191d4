/* peer.c - the process of this node behind a rank of a communicator.
 *
 * When a communicator is met first its ranks are translated to ranks of MPI_COMM_WORLD, and that is
 * kept until it is freed. The places of the ranks of MPI_COMM_WORLD are looked up in the segment.
 * Processes of another MPI_COMM_WORLD (spawned, connected) are TURN_NOBODY.
 */
#include "fold/peer.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "fold/real.h"
#include "fold/turn.h"

#define ROW_BITS 5
#define ROWS (1 << ROW_BITS)
#define WAYS 4

struct comm {
    uintptr_t handle;
    int size;   /* 0: this entry is empty */
    int *world; /* for each rank, its rank in MPI_COMM_WORLD; negative: it is not there */
};

struct place {
    int32_t index;   /* index on this node; TURN_NOBODY: not known */
    uint32_t misses; /* number of failed lookups so far */
};

static struct comm comms[ROWS][WAYS];
static uint8_t next_to_go[ROWS];
static struct place *places;
static int places_count;

/* Counts communicators freed by any thread: another communicator may get the same handle. */
static _Atomic uint32_t freed;
static uint32_t freed_seen;

int fold_peers_begin(int size)
{
    places = size > 0 ? malloc((size_t)size * sizeof(*places)) : NULL;
    if (size > 0 && !places)
        return -1;
    for (int i = 0; i < size; i++)
        places[i] = (struct place){.index = TURN_NOBODY};
    places_count = size;
    return 0;
}

static void forget_all(void)
{
    for (size_t row = 0; row < ROWS; row++)
        for (size_t i = 0; i < WAYS; i++) {
            free(comms[row][i].world);
            comms[row][i] = (struct comm){0};
        }
}

void fold_peers_end(void)
{
    forget_all();
    free(places);
    places = NULL;
    places_count = 0;
}

void fold_comm_is_freed(void)
{
    atomic_fetch_add(&freed, 1);
}

/* Processes take their places one after the other, and those of other nodes never do. So a failed
 * lookup is repeated after 1, 2, 4, ... uses. */
static int32_t place_of(int rank)
{
    if (rank < 0 || rank >= places_count)
        return TURN_NOBODY;
    struct place *place = &places[rank];
    if (place->index != TURN_NOBODY)
        return place->index;
    uint32_t misses = ++place->misses;
    if (!(misses & (misses - 1)))
        place->index = turn_place(rank);
    return place->index;
}

/* ---- communicators other than MPI_COMM_WORLD ---- */

static struct comm *row_of(MPI_Comm comm, size_t *row)
{
    *row = (size_t)(((uint64_t)(uintptr_t)comm * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - ROW_BITS));
    return comms[*row];
}

static struct comm *find(MPI_Comm comm)
{
    uint32_t now = atomic_load(&freed);
    if (now != freed_seen) {
        forget_all();
        freed_seen = now;
    }
    size_t number;
    struct comm *row = row_of(comm, &number);
    for (int i = 0; i < WAYS; i++)
        if (row[i].size && row[i].handle == (uintptr_t)comm)
            return &row[i];
    return NULL;
}

/* Translates every rank of `group` to its rank in MPI_COMM_WORLD; the caller frees the result. */
static int *translate(MPI_Group group, int size)
{
    MPI_Group world;
    int *ranks = malloc(2 * (size_t)size * sizeof(*ranks));
    if (!ranks || fold_mpi.comm_group(fold_mpi.world, &world)) {
        free(ranks);
        return NULL;
    }
    for (int i = 0; i < size; i++)
        ranks[size + i] = i;
    int code = fold_mpi.group_translate_ranks(group, size, ranks + size, world, ranks);
    for (int i = 0; i < size; i++)
        if (code || ranks[i] < 0) /* also if it is MPI_UNDEFINED */
            ranks[i] = -1;
    (void)fold_mpi.group_free(&world);
    return ranks;
}

static struct comm *keep(MPI_Comm comm, int size, int *world)
{
    size_t number;
    struct comm *row = row_of(comm, &number);
    struct comm *kept = NULL;
    for (int i = 0; !kept && i < WAYS; i++)
        kept = row[i].size ? NULL : &row[i];
    if (!kept)
        kept = &row[next_to_go[number]++ % WAYS];
    free(kept->world);
    *kept = (struct comm){.handle = (uintptr_t)comm, .size = size, .world = world};
    return kept;
}

static struct comm *learn(MPI_Comm comm)
{
    int inter = 0;
    int size = 0;
    MPI_Group group;
    if (!places_count || fold_mpi.comm_test_inter(comm, &inter) ||
        (inter ? fold_mpi.comm_remote_group : fold_mpi.comm_group)(comm, &group))
        return NULL;
    int *world = NULL;
    if (!fold_mpi.group_size(group, &size) && size > 0)
        world = translate(group, size);
    (void)fold_mpi.group_free(&group);
    return world ? keep(comm, size, world) : NULL;
}

bool fold_comm_known(MPI_Comm comm)
{
    return comm == fold_mpi.world || find(comm);
}

int32_t fold_peer(MPI_Comm comm, int rank, bool ask)
{
    if (rank < 0)
        return rank == MPI_PROC_NULL ? TURN_NOBODY : TURN_ANYBODY;
    if (comm == fold_mpi.world)
        return place_of(rank);
    const struct comm *known = find(comm);
    if (!known && ask)
        known = learn(comm);
    return known && rank < known->size ? place_of(known->world[rank]) : TURN_NOBODY;
}
