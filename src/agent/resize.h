/* resize.h - requests to a malleable run, and what its mailbox says to them.
 *
 * At most one request (ask or resize) is outstanding. The outcome of each is kept (outcomes.h).
 */
#ifndef PLEAT_AGENT_RESIZE_H
#define PLEAT_AGENT_RESIZE_H

#include "agent/malleable.h"
#include "agent/relaunch_plan.h"

/* Asks what the application would accept of `request`, or resizes the application. relaunch: the
 * plan where request->relaunch is set, else NULL. slots: those of the run at the new size; NULL:
 * the slots stay. Returns 0 where the request is taken, also where it was made before: its outcome
 * is a notification. PLEAT_E_BUSY: another request is outstanding. PLEAT_E_TOOBIG: the mailbox has
 * not that much room. PLEAT_E_STATE: the run has exited. */
int pleat_malleable_request(struct pleat_malleable *malleable, bool ask,
                            const struct pleat_mailbox_request *request,
                            const struct pleat_relaunch_order *relaunch, const json_t *slots,
                            struct pleat_error *err) PLEAT_MUST_CHECK;
/* Takes a request back where that is still possible: then `withdrawn` follows. Otherwise the
 * outcome of the request is told, now or when there is one. A request that never arrived is
 * withdrawn at once. */
int pleat_malleable_withdraw(struct pleat_malleable *malleable, uint64_t resize,
                             struct pleat_error *err) PLEAT_MUST_CHECK;
/* Whether a resize (not an ask) is outstanding; *resize is its number. */
bool pleat_malleable_outstanding(const struct pleat_malleable *malleable, uint64_t *resize);
/* Looks at the mailbox, and goes on with the outstanding request. */
void pleat_malleable_look(struct pleat_malleable *malleable);

#endif
