/* wrap_check.c - declares every call of calls.def again, beside mpi.h: a row that differs from
 * mpi.h does not compile.
 */
#include <mpi.h>

#include "fold/calls.h"

typedef MPI_Comm Comm;
typedef MPI_Datatype Type;
typedef MPI_Request Request;
typedef MPI_Win Win;
typedef MPI_File File;
typedef MPI_Info Info;
typedef MPI_Op Op;
typedef MPI_Group Group;

#define CALL(name, n, meaning, ...)                                                                \
    int MPI_##name(PARAMETERS_##n(__VA_ARGS__));                                                   \
    int PMPI_##name(PARAMETERS_##n(__VA_ARGS__));
#define OWN(name, n, ...)                                                                          \
    int MPI_##name(PARAMETERS_##n(__VA_ARGS__));                                                   \
    int PMPI_##name(PARAMETERS_##n(__VA_ARGS__));
#include "fold/calls.def"
