/* checkpointing.h - what is registered, as a checkpoint (checkpoint/checkpoint.h): written where
 * all ranks are inside an adaptation point, and gone on from when a program is started.
 */
#ifndef PLEAT_APP_CHECKPOINTING_H
#define PLEAT_APP_CHECKPOINTING_H

#include "app/session.h"
#include "checkpoint/checkpoint.h"

/* Writes a checkpoint, after pleat_save_measure. Collective; path: rank 0's counts. Returns 0: it
 * is on the disk, and *bytes is its size; PLEAT_SAVE_NOT: it is not, on any rank, *err says why,
 * and what was there before is there; negative: the session is broken. */
int pleat_checkpoint_all(struct pleat_session *session, const char *path, uint64_t *bytes,
                         struct pleat_error *err) PLEAT_MUST_CHECK;

/* Whether the program is to go on from a checkpoint (the environment says so), and if so opens it:
 * session->from. For rank 0. NULL: there is none, or it is another launch's of the same script. */
int pleat_from_find(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Tells the other ranks what rank 0 has found. Collective. *code: this rank's error. */
int pleat_from_share(struct pleat_session *session, int *code,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* Checks what rank 0 found, and everything in it, then loads what is registered. Collective;
 * negative on all ranks or on none. */
int pleat_from_load(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Accepts a session without one. */
void pleat_from_close(struct pleat_session *session);

#endif
