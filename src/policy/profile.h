/* profile.h - how many processors of a site are expected to be free over time: the "list of used
 * nodes" of backfilling (Mu'alem and Feitelson 2001, 2.1-2.2), as steps sorted by time.
 *
 * The last step is for ever. Finding and taking cost time proportional to the number of steps.
 */
#ifndef PLEAT_POLICY_PROFILE_H
#define PLEAT_POLICY_PROFILE_H

#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

struct pleat_profile_step {
    int64_t from_us;
    int32_t free; /* until the next step; below 0 where more are needed than there are */
};

PLEAT_ARRAY(pleat_profile_steps, struct pleat_profile_step);

/* A zeroed profile has no steps: call begin. */
struct pleat_profile {
    struct pleat_profile_steps steps;
};

/* Forgets all steps: from a time on `free` processors are free, for ever. 0 or PLEAT_E_NOMEM. */
int pleat_profile_begin(struct pleat_profile *profile, int64_t from_us,
                        int32_t free) PLEAT_MUST_CHECK;
void pleat_profile_finish(struct pleat_profile *profile);

/* Takes processors for a time, or gives them back (below 0). Nothing before the profile's begin;
 * to_us PLEAT_NEVER: for ever. 0 or PLEAT_E_NOMEM, and nothing is changed. */
int pleat_profile_take(struct pleat_profile *profile, int64_t from_us, int64_t to_us,
                       int32_t processors) PLEAT_MUST_CHECK;

/* The earliest time, not before from_us, from which `processors` are free for length_us
 * (PLEAT_NEVER: for ever); PLEAT_NEVER: there is none. */
int64_t pleat_profile_earliest(const struct pleat_profile *profile, int64_t from_us,
                               int64_t length_us, int32_t processors);

/* The same for a component whose processors are taken in the profile already, from place_us on for
 * length_us. It gives them up for a start before before_us; place_us: there is no such start. */
int64_t pleat_profile_earlier(const struct pleat_profile *profile, int64_t from_us,
                              int64_t length_us, int32_t processors, int64_t place_us,
                              int64_t before_us);

/* How many processors are free all the time from from_us, not before the profile's begin, for
 * length_us. */
int32_t pleat_profile_least(const struct pleat_profile *profile, int64_t from_us,
                            int64_t length_us);

/* Forgets what was before a time. */
void pleat_profile_advance(struct pleat_profile *profile, int64_t now_us);

#endif
