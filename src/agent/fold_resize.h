/* fold_resize.h - requests to a folded run. A resize is done at once, whatever the processes do;
 * its outcome is kept (outcomes.h). */
#ifndef PLEAT_AGENT_FOLD_RESIZE_H
#define PLEAT_AGENT_FOLD_RESIZE_H

#include "agent/folded.h"

/* The partition becomes `slots` (bind.h) at once. Tells `applied` with `target`, and `vacated` when
 * no process of the run may use a processor that was given up; vacates: also where none is given up
 * here, but on other nodes. Returns 0 also where this resize was done before: then its outcome is
 * told again. PLEAT_E_STATE: the run has exited. An error changes nothing. */
int pleat_folded_resize(struct pleat_folded *folded, uint64_t resize, uint32_t target,
                        const json_t *slots, bool vacates,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* Answers how much of an offer the run would accept: at most one processor for each process. */
int pleat_folded_ask(struct pleat_folded *folded, uint64_t resize, uint32_t offered,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* Tells the outcome of a resize. A resize that never arrived will not happen, and that is told. */
void pleat_folded_withdraw(struct pleat_folded *folded, uint64_t resize);
/* Takes back a resize of a run on several nodes: the partition becomes `slots` again, whether the
 * resize has been done here or not. Tells `withdrawn` when no process of the run may use another
 * processor any more. Errors as pleat_folded_resize. */
int pleat_folded_take_back(struct pleat_folded *folded, uint64_t resize, uint32_t target,
                           const json_t *slots, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
