/* sweep.h - the sweep over what the paper leaves unsaid: where each shape holds, and its best
 * reading. */
#ifndef PLEAT_EXPERIMENTS_KOALA_SWEEP_H
#define PLEAT_EXPERIMENTS_KOALA_SWEEP_H

#include "experiments/koala-malleable/settings.h"
#include "experiments/koala-malleable/shapes.h"

/* The best readings are run with seeds that had no part in choosing them: the same, plus this. */
enum { KOALA_OTHER_SEEDS = 100000 };

struct koala_sweep {
    size_t settings, seeds; /* of the sweep */
    bool *holds;            /* by setting and shape: does it hold there? */
    /* For each shape the setting in which it holds with the most other shapes, of those in which it
     * holds at all: first of the credible ones, then of all; SIZE_MAX: of none. In the last place
     * the credible setting in which most shapes hold. Ties: the one that differs from the face
     * values in fewest dimensions, then the first. */
    size_t best[KOALA_SHAPES + 1];
    size_t farthest; /* the setting in which EGS with W'm is worst, compared with all others */
    /* Runs of these settings with seeds of their own, in the same order; where there is none:
     * empty. */
    struct pleat_numbers confirmed;
};

/* Runs the sweep, and then the best settings. Finish it in any case. */
int koala_sweep_run(struct pleat_study *study, struct koala_sweep *sweep,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
void koala_sweep_finish(struct koala_sweep *sweep);

/* The response time of EGS with W'm over that of the run under PWA that comes closest to it. */
struct pleat_estimate koala_far_worse(const struct pleat_numbers *numbers, size_t setting);

/* Does a shape hold in its best setting, with the seeds that it was not chosen by? */
bool koala_sweep_confirms(const struct koala_sweep *sweep, size_t shape);

/* Which of the best settings that is, by their order: 'A', 'B', ...; '-': there is none. */
char koala_sweep_letter(const struct koala_sweep *sweep, size_t shape);

/* The tables: where each shape holds, of the settings with each level, and its best reading. */
void koala_sweep_write(struct pleat_study *study, const struct koala_sweep *sweep,
                       const struct pleat_numbers *named);

/* Runs near the setting in which most shapes hold, and with longer and longer changes of size; the
 * tables of them. */
int koala_nearby_run(struct pleat_study *study, const struct koala_sweep *sweep,
                     struct pleat_numbers *nearby, struct pleat_error *err) PLEAT_MUST_CHECK;
void koala_nearby_write(struct pleat_study *study, const struct pleat_numbers *nearby,
                        const struct koala_sweep *sweep);

/* One run of a setting; where it stands among the settings of a sweep: koala_at. */
int koala_run_one(const struct pleat_study *study, size_t setting, uint64_t seed,
                  const struct koala_unsaid *unsaid, double *metrics,
                  struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
