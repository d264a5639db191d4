// two.cpp - two processes of an evolving job as ranks of one communicator, in C++.
#include <cstdio>
#include <pleat.hpp>
#include <unistd.h>

int main(int argc, char **argv)
{
    pleat::processes all;
    pleat::prepare_mpi(all);
    MPI_Init(&argc, &argv);
    const bool joins = all.begun() == PLEAT_PROCESS_JOINED;
    MPI_Comm comm = joins ? MPI_COMM_NULL : MPI_COMM_SELF;
    pleat::join(all, comm, joins ? all.parent() : all.add().process, 60000);
    int own = joins ? 2 : 1, total = 0, size = 0;
    MPI_Allreduce(&own, &total, 1, MPI_INT, MPI_SUM, comm);
    pleat::leave(comm, joins);
    if (!joins) {
        MPI_Comm_size(comm, &size);
        std::printf("%d of %d\n", total, size);
        MPI_Comm_free(&comm);
    }
    MPI_Finalize();
    while (!joins && all.list().size() > 1) // the run ends with process 0: the other one is to end before
        usleep(10000);
    return joins && comm != MPI_COMM_NULL;
}
