/* peer.h - the process of this node behind a rank of a communicator. For the thread that called
 * MPI_Init, in a call that is told (hint.h); fold_comm_is_freed for any. */
#ifndef PLEAT_FOLD_PEER_H
#define PLEAT_FOLD_PEER_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* The index on this node of a rank of comm (for an intercommunicator, of its remote group).
 * TURN_NOBODY: it is not on this node or not known; TURN_ANYBODY: MPI_ANY_SOURCE. Only with `ask`
 * it calls MPI, which needs a valid comm. */
int32_t fold_peer(MPI_Comm comm, int rank, bool ask);
bool fold_comm_known(MPI_Comm comm);
/* A handle is being freed, and may come to mean another communicator. */
void fold_comm_is_freed(void);

/* size: number of processes of MPI_COMM_WORLD; 0: there is none (sessions). */
int fold_peers_begin(int size);
void fold_peers_end(void);

#endif
