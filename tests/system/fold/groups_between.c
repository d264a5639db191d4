/* groups_between.c - processes of two groups: made of one, met at a port, spawned. */
#include <stdlib.h>
#include <string.h>

#include "groups.h"

enum { TURNS = 6, CHILDREN = 2 };

static MPI_Comm half_of(MPI_Comm comm)
{
    MPI_Comm half;
    DO(MPI_Comm_split(comm, rank % 2, rank, &half));
    return half;
}

/* What two groups do together; each process says `out`. The sum of what all of the other group say.
 */
static int64_t across(MPI_Comm between, int64_t out)
{
    int here, there, self;
    int64_t total = 0, sum = 0;
    DO(MPI_Comm_size(between, &here));
    DO(MPI_Comm_remote_size(between, &there));
    DO(MPI_Comm_rank(between, &self));
    int64_t *all = calloc((size_t)there, sizeof(*all));
    MUST(all);
    DO(MPI_Allreduce(&out, &total, 1, MPI_INT64_T, MPI_SUM, between));
    DO(MPI_Allgather(&out, 1, MPI_INT64_T, all, 1, MPI_INT64_T, between));
    for (int i = 0; i < there; i++)
        sum += all[i];
    MUST(sum == total);
    MPI_Request requests[2];
    int64_t in = 0;
    int peer = self < there ? self : MPI_PROC_NULL;
    DO(MPI_Irecv(&in, 1, MPI_INT64_T, peer, 7, between, &requests[0]));
    DO(MPI_Isend(&out, 1, MPI_INT64_T, peer, 7, between, &requests[1]));
    DO(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    MUST(peer == MPI_PROC_NULL || in == all[peer]);
    DO(MPI_Barrier(between));
    free(all);
    return total;
}

/* The two as one. */
static int64_t merged(MPI_Comm between, bool high, int64_t out)
{
    int64_t total = 0;
    MPI_Comm one;
    DO(MPI_Intercomm_merge(between, high, &one));
    DO(MPI_Allreduce(&out, &total, 1, MPI_INT64_T, MPI_SUM, one));
    DO(MPI_Comm_free(&one));
    return total;
}

int64_t between_halves(MPI_Comm comm, int id)
{
    int64_t sum = rank;
    MPI_Comm half = half_of(comm);
    for (int round = 0; size > 1 && round < TURNS; round++) {
        MPI_Comm between;
        DO(MPI_Intercomm_create(half, 0, comm, rank % 2 ? 0 : 1, round, &between));
        sum = mix(sum, across(between, saying(rank, id, round)));
        sum = mix(sum, merged(between, rank % 2, saying(rank, id, round)));
        DO(MPI_Comm_free(&between));
    }
    DO(MPI_Comm_free(&half));
    return sum;
}

/* One half waits at a port, and the other comes. */
int64_t between_ports(MPI_Comm comm, int id)
{
    int64_t sum = rank;
    MPI_Comm half = half_of(comm);
    for (int round = 0; size > 1 && round < TURNS; round++) {
        char port[MPI_MAX_PORT_NAME];
        MPI_Comm between;
        memset(port, 0, sizeof(port));
        if (rank == 0) {
            DO(MPI_Open_port(MPI_INFO_NULL, port));
            DO(MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, round, comm));
        } else if (rank == 1) {
            DO(MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, round, comm, MPI_STATUS_IGNORE));
        }
        if (rank % 2)
            DO(MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &between));
        else
            DO(MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &between));
        sum = mix(sum, across(between, saying(rank, id, round)));
        DO(MPI_Comm_disconnect(&between));
        if (rank == 0)
            DO(MPI_Close_port(port));
    }
    DO(MPI_Comm_free(&half));
    return sum;
}

/* ---- spawned ---- */

static int64_t childs_word(int child)
{
    return 1000 + child;
}

int64_t between_spawned(MPI_Comm comm, int id)
{
    int64_t sum = rank, theirs = 0;
    for (int i = 0; i < CHILDREN; i++)
        theirs += childs_word(i);
    for (int round = 0; round < 2; round++) {
        char program[4096];
        char *programs[2] = {program, program};
        const int counts[2] = {1, CHILDREN - 1};
        const MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
        MPI_Comm children;
        MUST(strlen(program_path) < sizeof(program));
        strcpy(program, program_path);
        if (round % 2)
            DO(MPI_Comm_spawn_multiple(2, programs, MPI_ARGVS_NULL, counts, infos, 0, comm,
                                       &children, MPI_ERRCODES_IGNORE));
        else
            DO(MPI_Comm_spawn(program, MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, comm, &children,
                              MPI_ERRCODES_IGNORE));
        MUST(across(children, saying(rank, id, round)) == theirs);
        sum = mix(sum, merged(children, false, saying(rank, id, round)));
        DO(MPI_Comm_disconnect(&children));
    }
    return sum;
}

void between_child(MPI_Comm parents)
{
    (void)across(parents, childs_word(rank));
    (void)merged(parents, true, childs_word(rank));
    DO(MPI_Comm_disconnect(&parents));
}
