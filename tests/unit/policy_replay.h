/* policy_replay.h - rigid jobs of a workload through the core and its policies, at one site that
 * answers at once: at every instant all ends, then all submissions, then a pass. */
#ifndef PLEAT_TESTS_UNIT_POLICY_REPLAY_H
#define PLEAT_TESTS_UNIT_POLICY_REPLAY_H

#include "test.h"

#include "core/core.h"

struct replay_job {
    int64_t submit_us, run_us, estimate_us; /* estimate 0: none */
    int64_t due_us;                         /* 0: none */
    int64_t begin_us; /* advance reservation; 0: none. Set to 0 where refused */
    int32_t processors;
    int16_t priority;
    int64_t start_us;    /* found out; PLEAT_NEVER */
    int64_t promised_us; /* the first promise that it got; PLEAT_NEVER */
};

struct replay {
    int32_t processors;
    const char *queue, *order;
    bool check;   /* recount the core's indexes after every instant */
    bool forgets; /* before every pass, what policies observed and left for the next one */
    uint64_t passes, decisions;
};

/* Jobs are sorted by submission and fit the site. Fails the test where something goes wrong. */
void replay_run(struct replay *replay, struct replay_job *jobs, size_t count);

#endif
