/* Two ranks of MPI. usage: peer_mpi PERCENT */
#include <mpi.h>
#include <stdlib.h>

#include "agent/cases.h"

static int other;

static void send_bytes(const void *bytes, size_t count)
{
    MPI_Send(bytes, (int)count, MPI_BYTE, other, 1, MPI_COMM_WORLD);
}

static void receive_bytes(void *bytes, size_t count)
{
    MPI_Recv(bytes, (int)count, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    const struct wire wire = {send_bytes, receive_bytes};
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    cases_run(&wire, rank == 0, argc > 1 ? atoi(argv[1]) : 100);
    MPI_Finalize();
    return 0;
}
