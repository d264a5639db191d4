/* request.h - which requests receive messages, and from which process. For the thread that called
 * MPI_Init, in a call that is told (hint.h). */
#ifndef PLEAT_FOLD_REQUEST_H
#define PLEAT_FOLD_REQUEST_H

#include <mpi.h>
#include <stdbool.h>

enum fold_request_kind { FOLD_RECEIVES, FOLD_PREPARED_RECEIVE, FOLD_PREPARED_SEND };

void fold_request_add(MPI_Request request, enum fold_request_kind kind, MPI_Comm comm, int rank);
void fold_request_add_matched(MPI_Request request); /* receives a message found by a probe */
void fold_request_start(MPI_Request request);
void fold_request_forget(MPI_Request request);
void fold_request_cancel(MPI_Request request);
/* Begins a call that waits or looks for these requests, which the MPI will overwrite. waits: also
 * tells from which process it waits, if that is a single one. */
void fold_requests_begin(int count, const MPI_Request *requests, bool waits);
void fold_request_done(int index); /* index among these requests */
void fold_requests_done_all(void);
void fold_requests_done_some(int count, const int *indices);

#endif
