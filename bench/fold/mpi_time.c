/* mpi_time.c - preloaded into the ranks of a program: how much of their time they spend in MPI's
 * operations (Utrera 2010, table 3.1). At the end rank 0 writes one line to standard error:
 *     MPITIME <seconds of all ranks> <of these in collective operations> <in others>
 * from the return of MPI_Init to the call of MPI_Finalize. Only what the programs of apps/plain
 * call is timed, and without what makes communicators and types. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { COLLECTIVE, POINT_TO_POINT, KINDS };

static double begun_s, spent_s[KINDS];

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#define VISIBLE __attribute__((visibility("default"))) /* MPICH's header does not say so */

#define TIMED(kind, name, parameters, arguments)                                                   \
    VISIBLE int MPI_##name parameters                                                              \
    {                                                                                              \
        double start_s = now_s();                                                                  \
        int code = PMPI_##name arguments;                                                          \
        spent_s[kind] += now_s() - start_s;                                                        \
        return code;                                                                               \
    }

TIMED(POINT_TO_POINT, Send,
      (const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm),
      (from, count, type, to, tag, comm))
TIMED(POINT_TO_POINT, Recv,
      (void *into, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
       MPI_Status *status),
      (into, count, type, from, tag, comm, status))
TIMED(POINT_TO_POINT, Isend,
      (const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
       MPI_Request *request),
      (from, count, type, to, tag, comm, request))
TIMED(POINT_TO_POINT, Irecv,
      (void *into, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
       MPI_Request *request),
      (into, count, type, from, tag, comm, request))
TIMED(POINT_TO_POINT, Wait, (MPI_Request * request, MPI_Status *status), (request, status))
TIMED(POINT_TO_POINT, Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]),
      (count, requests, statuses))
TIMED(POINT_TO_POINT, Sendrecv,
      (const void *from, int count, MPI_Datatype type, int to, int tag, void *into, int room,
       MPI_Datatype type_there, int source, int tag_there, MPI_Comm comm, MPI_Status *status),
      (from, count, type, to, tag, into, room, type_there, source, tag_there, comm, status))

TIMED(COLLECTIVE, Barrier, (MPI_Comm comm), (comm))
TIMED(COLLECTIVE, Bcast, (void *data, int count, MPI_Datatype type, int root, MPI_Comm comm),
      (data, count, type, root, comm))
TIMED(COLLECTIVE, Reduce,
      (const void *from, void *into, int count, MPI_Datatype type, MPI_Op op, int root,
       MPI_Comm comm),
      (from, into, count, type, op, root, comm))
TIMED(COLLECTIVE, Allreduce,
      (const void *from, void *into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
      (from, into, count, type, op, comm))
TIMED(COLLECTIVE, Exscan,
      (const void *from, void *into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
      (from, into, count, type, op, comm))
TIMED(COLLECTIVE, Allgather,
      (const void *from, int count, MPI_Datatype type, void *into, int room, MPI_Datatype there,
       MPI_Comm comm),
      (from, count, type, into, room, there, comm))
TIMED(COLLECTIVE, Allgatherv,
      (const void *from, int count, MPI_Datatype type, void *into, const int rooms[],
       const int places[], MPI_Datatype there, MPI_Comm comm),
      (from, count, type, into, rooms, places, there, comm))
TIMED(COLLECTIVE, Alltoall,
      (const void *from, int count, MPI_Datatype type, void *into, int room, MPI_Datatype there,
       MPI_Comm comm),
      (from, count, type, into, room, there, comm))
TIMED(COLLECTIVE, Alltoallv,
      (const void *from, const int counts[], const int starts[], MPI_Datatype type, void *into,
       const int rooms[], const int places[], MPI_Datatype there, MPI_Comm comm),
      (from, counts, starts, type, into, rooms, places, there, comm))

VISIBLE int MPI_Init(int *argc, char ***argv)
{
    int code = PMPI_Init(argc, argv);
    begun_s = now_s();
    return code;
}

VISIBLE int MPI_Finalize(void)
{
    double mine[] = {now_s() - begun_s, spent_s[COLLECTIVE], spent_s[POINT_TO_POINT]}, all[3];
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Reduce(mine, all, 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        fprintf(stderr, "MPITIME %.6f %.6f %.6f\n", all[0], all[1], all[2]);
    return PMPI_Finalize();
}
