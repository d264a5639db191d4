/* server.h - the server's side of PMI-1, by which the processes of an MPICH program find each
 * other.
 *
 * Every process has a stream to the server. It sends lines of words NAME=VALUE, of which the first
 * is `cmd=...`, and waits for the answer before it sends the next one. A process puts what the
 * others must know (addresses, names of shared memory) under a key; all meet in a barrier, and get
 * it. The server answers as MPICH's own process manager answers programs of MPICH 3 and 4 on one
 * node. Starting more processes and publishing names are refused, since Debian's MPICH can do
 * neither.
 *
 * Pure: no input or output, no clock. What processes send is not trusted: any bytes are handled,
 * and what is kept is limited.
 */
#ifndef PLEAT_PMI_SERVER_H
#define PLEAT_PMI_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

#define PLEAT_PMI_LINE_MAX 4096                       /* bytes of a line, with the newline */
#define PLEAT_PMI_KEPT_MAX ((size_t)64 * 1024 * 1024) /* bytes of all keys and values */
#define PLEAT_PMI_BARRIER_OUT "cmd=barrier_out\n"

struct pleat_pmi;

enum pleat_pmi_outcome {
    PLEAT_PMI_GOES_ON,
    PLEAT_PMI_RELEASES, /* all are in the barrier: send PLEAT_PMI_BARRIER_OUT to every process */
    PLEAT_PMI_ABORTS,   /* the process wants all to end, with pleat_pmi_abort_code */
    PLEAT_PMI_NONSENSE, /* not PMI-1: nothing more can be read from the process */
    PLEAT_PMI_NO_MEMORY
};

/* The state of one process. */
enum pleat_pmi_life {
    PLEAT_PMI_SILENT,  /* the process has sent nothing, and may not be an MPI program */
    PLEAT_PMI_JOINED,  /* the process is between MPI_Init and MPI_Finalize */
    PLEAT_PMI_FINISHED /* the process has called MPI_Finalize */
};

/* Makes a server for `size` (at least 1) processes. name: what processes are told as the name of
 * their common memory, at most 63 bytes without a blank. NULL: out of memory. */
struct pleat_pmi *pleat_pmi_new(uint32_t size, const char *name);
void pleat_pmi_free(struct pleat_pmi *pmi);

/* Takes bytes that process `rank` has sent, and appends the answer to *answer. It goes on where the
 * bytes before ended, which may be inside a line. It stops at the first outcome but GOES_ON, after
 * *used bytes; after RELEASES the rest is for another call. */
enum pleat_pmi_outcome pleat_pmi_take(struct pleat_pmi *pmi, uint32_t rank, const char *bytes,
                                      size_t count, size_t *used, struct pleat_string *answer);

enum pleat_pmi_life pleat_pmi_life(const struct pleat_pmi *pmi, uint32_t rank);
/* The exit code that MPI_Abort was called with; valid after ABORTS. */
int pleat_pmi_abort_code(const struct pleat_pmi *pmi);
/* Whether a process has asked for something that is refused, such as starting processes. */
bool pleat_pmi_refused(const struct pleat_pmi *pmi);

#endif
