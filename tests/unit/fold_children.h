/* fold_children.h - forked processes that take turns as those of an MPI program do, for tests. The
 * processes 2i and 2i+1 play ping-pong through memory; nobody waits for anybody else, so one that
 * is harmed stops nobody but its partner, and that one only as long as it is said to be alive. */
#ifndef PLEAT_TESTS_UNIT_FOLD_CHILDREN_H
#define PLEAT_TESTS_UNIT_FOLD_CHILDREN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "shm/fold-layout.h"
#include "shm/fold-pool.h"

#define CHILDREN_MAX 16

struct child_box {
    _Alignas(64) _Atomic uint32_t received; /* balls that it got */
    _Atomic uint32_t gone;                  /* nobody need wait for it any more */
    _Atomic uint32_t held;                  /* it does what `hold` says until it is 0 again */
};

enum child_hold { CHILD_FREE, CHILD_SLEEPS, CHILD_COMPUTES };

struct children {
    struct pleat_fold *fold;
    int fd;
    uint32_t count, rounds;
    struct child_box *boxes;
    pid_t pids[CHILDREN_MAX];
    _Atomic uint32_t *all_attached;
    int pipe[2]; /* what a sleeping one reads from */
};

/* A segment with these settings, the processes in turn on the first `processors` CPUs that this
 * test may use (the same one again where there are fewer). */
void children_prepare(struct children *children, uint32_t count, uint32_t processors,
                      const char *settings);
/* The same, as a run of the pool whose descriptor is `fd`. */
void children_prepare_pooled(struct children *children, uint32_t count, uint32_t processors,
                             const char *settings, struct pleat_fold_pool *pool, int fd);
/* As children_prepare does it, again. */
void children_partition(struct children *children, uint32_t processors);
void children_start(struct children *children, uint32_t rounds);
/* Waits for one, and checks that it ended well. */
void children_wait(struct children *children, uint32_t index);
void children_wait_all(struct children *children);
/* Kills what is left. */
void children_finish(struct children *children);

#endif
