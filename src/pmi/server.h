/* server.h - the other end of PMI-1, by which the processes of an MPICH program find each other.
 *
 * Every process has a stream to the server and says lines of words NAME=VALUE, the first one
 * `cmd=...`; it waits for the answer before it says the next one. They put what they want the
 * others to know (addresses, names of shared memory) under a key, meet in a barrier, and get it.
 * What is spoken here is what MPICH's own process manager answers to programs of MPICH 3 and 4 on
 * one node. Starting more processes and publishing names are refused: Debian's MPICH can neither.
 *
 * Pure: no input or output, no clock. What the processes say is not trusted: anything is read to an
 * end, what is kept has limits.
 */
#ifndef PLEAT_PMI_SERVER_H
#define PLEAT_PMI_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

#define PLEAT_PMI_LINE_MAX 4096               /* bytes, with the newline */
#define PLEAT_PMI_KEPT_MAX (64 * 1024 * 1024) /* bytes of all keys and values */
#define PLEAT_PMI_BARRIER_OUT "cmd=barrier_out\n"

struct pleat_pmi;

enum pleat_pmi_outcome {
    PLEAT_PMI_GOES_ON,
    PLEAT_PMI_RELEASES, /* all are in the barrier: PLEAT_PMI_BARRIER_OUT goes to every process */
    PLEAT_PMI_ABORTS,   /* the process calls for the end of all (pleat_pmi_abort_code) */
    PLEAT_PMI_NONSENSE, /* this is no PMI-1; nothing more can be read of the process */
    PLEAT_PMI_NO_MEMORY
};

/* Of one process. */
enum pleat_pmi_life {
    PLEAT_PMI_SILENT,  /* it has not said anything, and may be no MPI program */
    PLEAT_PMI_JOINED,  /* it is between MPI_Init and MPI_Finalize */
    PLEAT_PMI_FINISHED /* it has called MPI_Finalize */
};

/* For `size` (at least 1) processes. `name` is what they are told their common memory is called: at
 * most 63 bytes, no blank. NULL: no memory. */
struct pleat_pmi *pleat_pmi_new(uint32_t size, const char *name);
void pleat_pmi_free(struct pleat_pmi *pmi);

/* Takes what process `rank` said, and appends to *answer what goes back to it. Goes on where the
 * bytes before ended, which may be within a line. Stops at the first outcome but GOES_ON, having
 * used *used bytes: after RELEASES the rest is for another call. */
enum pleat_pmi_outcome pleat_pmi_take(struct pleat_pmi *pmi, uint32_t rank, const char *bytes,
                                      size_t count, size_t *used, struct pleat_string *answer);

enum pleat_pmi_life pleat_pmi_life(const struct pleat_pmi *pmi, uint32_t rank);
/* After ABORTS. */
int pleat_pmi_abort_code(const struct pleat_pmi *pmi);
/* Has a process asked for what is refused (to start others)? */
bool pleat_pmi_refused(const struct pleat_pmi *pmi);

#endif
