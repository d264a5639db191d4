/* checkpointing.h - what is registered, as a checkpoint (checkpoint/checkpoint.h): written where
 * all ranks are inside an adaptation point, and gone on from when a program is started.
 */
#ifndef PLEAT_APP_CHECKPOINTING_H
#define PLEAT_APP_CHECKPOINTING_H

#include "app/session.h"
#include "checkpoint/checkpoint.h"

/* Writes a checkpoint, after pleat_save_measure. Collective; of the paths rank 0's counts. Returns
 * 0: the file is on the disk, and *bytes is its size; PLEAT_SAVE_NOT: it was not written, *err says
 * why on all ranks, and an older file is as it was; negative: the session is broken. */
int pleat_checkpoint_all(struct pleat_session *session, const char *path, uint64_t *bytes,
                         struct pleat_error *err) PLEAT_MUST_CHECK;

/* Whether the program is to go on from a checkpoint (the environment says so), and if so opens it:
 * session->from. For rank 0. NULL: there is none, or it is for another launch of the same
 * script. */
int pleat_from_find(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Tells the other ranks which checkpoint rank 0 has found. Collective. *code: this rank's error. */
int pleat_from_share(struct pleat_session *session, int *code,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* Checks what rank 0 found, and everything in it, then loads what is registered. Collective;
 * negative on all ranks or on none. */
int pleat_from_load(struct pleat_session *session, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Closes it. Accepts a session without a checkpoint. */
void pleat_from_close(struct pleat_session *session);

#endif
