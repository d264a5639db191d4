/* checkpoint.h - the checkpoint that is wanted of a malleable run, which its ranks write at an
 * adaptation point. There is one at a time, and the mailbox has room for one request: a resize goes
 * first, unless ranks are writing already.
 *
 * Its outcome is told as `checkpointed` or `checkpoint_failed`.
 */
#ifndef PLEAT_AGENT_CHECKPOINT_H
#define PLEAT_AGENT_CHECKPOINT_H

#include "agent/malleable.h"

/* Wants a checkpoint at `path`; leave: all ranks leave then. To be posted at the next look. 0 also
 * where the same was wanted before: if it is over its outcome is told again. PLEAT_E_BUSY: another
 * one is wanted. */
int pleat_wish_take(struct pleat_malleable *malleable, uint64_t id, const char *path, bool leave,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
/* If a rank was asked for a checkpoint by a signal, tells that until the checkpoint is wanted
 * here. */
void pleat_wish_tell_wanted(struct pleat_malleable *malleable);
/* The checkpoint is not wanted any more. If ranks are writing it already its outcome follows. */
void pleat_wish_withdraw(struct pleat_malleable *malleable, uint64_t id);
/* Takes note of what has become of the checkpoint. True: the mailbox is busy with it. */
bool pleat_wish_look(struct pleat_malleable *malleable, const struct pleat_mailbox_status *status);
/* Posts the checkpoint; the mailbox has no other request, and the ranks have begun. */
void pleat_wish_post(struct pleat_malleable *malleable, const struct pleat_mailbox_status *status);
/* The run is over. */
void pleat_wish_over(struct pleat_malleable *malleable);
/* The wanted checkpoint, if there is one, cannot be written any more. */
void pleat_wish_fail(struct pleat_malleable *malleable, const char *text);

#endif
