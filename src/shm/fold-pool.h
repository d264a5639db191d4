/* fold-pool.h - memory that several folded runs share, so that a process hands its processor to one
 * of another run: coscheduling, "time-sharing" in the first column of table 4.4 (Utrera 2010).
 *
 * An agent has one pool for the runs with share=time, and runs of one owner are all that it has.
 * The pool is a memfd that only its owner can open, as the segment of a run is (fold.h). It has a
 * line for each CPU, and a slot for each process of these runs. A run keeps its segment for all
 * that concerns itself: settings, partition, counts. Its processes have their slots in the pool,
 * and each is in the local queue of its CPU, with those of all other runs there (Utrera 2010,
 * table 4.2).
 *
 * What fold.h says of its words holds here: they are advice, a wrong one costs a turn, and nobody
 * waits for ever for a process that is dead. Several managers (agents, fold-run) may use one pool
 * at the same time. The slots of a run whose manager is killed stay taken as long as the pool is
 * there.
 */
#ifndef PLEAT_SHM_FOLD_POOL_H
#define PLEAT_SHM_FOLD_POOL_H

#include "shm/fold.h"

#define PLEAT_FOLD_POOL_SLOTS 4096u /* processes of all runs of a pool */

struct pleat_fold_pool;

/* Makes a pool; *fd is close-on-exec. PLEAT_E_NOMEM, PLEAT_E_SYSTEM. */
int pleat_fold_pool_create(struct pleat_fold_pool **pool, int *fd,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* Maps a pool that another process has made. */
int pleat_fold_pool_open(const char *path, struct pleat_fold_pool **pool,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* Unmaps it. Accepts NULL. */
void pleat_fold_pool_close(struct pleat_fold_pool *pool);

/* The processes of the run will share their processors in time with those of the pool's other runs.
 * Before the first partition, and before any process opens the segment. Processes open the pool
 * beside the segment, at /proc/PID/fd/`fd`. The pool is borrowed until pleat_fold_pool_leave.
 * PLEAT_E_TOOBIG: the pool has no room for so many processes. */
int pleat_fold_pool_join(struct pleat_fold *fold, struct pleat_fold_pool *pool, int fd,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* Gives the slots back; processors that the run's processes had go to those of other runs. Nothing
 * of the run's processes is known afterwards. Does nothing for a run that has not joined. */
void pleat_fold_pool_leave(struct pleat_fold *fold);
/* How many runs are in the pool. */
uint32_t pleat_fold_pool_runs(const struct pleat_fold_pool *pool);

#endif
