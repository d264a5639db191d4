/* core_scenarios_hand.h - a core fed by hand: the test plays users, sites, applications and time.
 *
 * After every event everything is recounted. Policies grow and shrink nobody (malleability none);
 * a test asks for a resize itself, as user or in the place of a policy. */
#ifndef PLEAT_TESTS_UNIT_CORE_SCENARIOS_HAND_H
#define PLEAT_TESTS_UNIT_CORE_SCENARIOS_HAND_H

#include "test.h"

#include "core/core.h"

#define SECONDS INT64_C(1000000)

struct hand {
    struct pleat_core *core;
    struct pleat_effects effects; /* all since hand_init */
    struct pleat_events decisions;
    int64_t now_us;
    size_t mark; /* effects from here on are new: see hand_new */
    struct pleat_error err;
    uint32_t asked; /* the number of the latest ask */
    uint16_t flags; /* of the jobs submitted from now on */
    uint32_t node;  /* on which claims are given from now on */
    uint8_t sizes_kind;
};

/* One site of `capacity` processors, threshold 0. */
void hand_init(struct hand *hand, int32_t capacity);
void hand_finish(struct hand *hand);
/* Applies, and lets the policies decide. The result of apply. */
int hand_feed(struct hand *hand, struct pleat_event event);
/* Time passes, then TIME is applied. */
void hand_sleep(struct hand *hand, int64_t us);
/* pleatd was restarted: the core is loaded from what it was saved as. */
void hand_restart(struct hand *hand);
void hand_policy(struct hand *hand, enum pleat_question question, const char *name);
void hand_parameter(struct hand *hand, enum pleat_parameter which, int64_t value);

const struct pleat_component *hand_component(const struct hand *hand, uint32_t component);
const struct pleat_site *hand_site(const struct hand *hand);
/* How many effects of a kind were given since the mark. */
int hand_count(const struct hand *hand, unsigned kind);
/* The latest effect of a kind; fails the test where there is none. */
struct pleat_effect hand_last(const struct hand *hand, unsigned kind);
/* Sets the mark: only later effects are counted. */
void hand_mark(struct hand *hand);
/* The outcome with which a resize ended since the mark; NONE: none did. */
enum pleat_outcome hand_outcome(const struct hand *hand);

/* The last resize ended like that (since the mark), and so is the job now. */
void hand_expect(const struct hand *hand, uint32_t component, enum pleat_outcome outcome,
                 enum pleat_component_state state, int32_t processors);
/* It is in a resize, which is at that step. */
void hand_at_step(const struct hand *hand, uint32_t component, enum pleat_resize_step step);
/* The notice of a mandatory shrink passes, then the grace. */
void hand_enforce(struct hand *hand);

/* ---- users ---- */
uint32_t hand_submit(struct hand *hand, enum pleat_job_kind kind, int32_t minimum, int32_t maximum,
                     int32_t initial);
/* A malleable job that runs on `size`. */
uint32_t hand_run(struct hand *hand, int32_t minimum, int32_t maximum, int32_t size);
int hand_demand(struct hand *hand, uint32_t component, int32_t size, bool mandatory);
int hand_limits(struct hand *hand, uint32_t component, int32_t minimum, int32_t maximum);
int hand_cancel(struct hand *hand, uint32_t component);
/* -1, -1, 0: as configured, no limit. */
int hand_terms(struct hand *hand, uint32_t component, int64_t notice_us, int64_t lifetime_us,
               int64_t limit_us);
/* ---- in the place of a policy ---- */
int hand_resize(struct hand *hand, uint32_t component, int32_t size, uint32_t waiter);
/* ---- the site ---- */
/* Answers a claim or release effect. */
int hand_claimed(struct hand *hand, struct pleat_effect claim, int32_t count);
int hand_claim_failed(struct hand *hand, struct pleat_effect claim, enum pleat_reason reason);
int hand_lost(struct hand *hand, struct pleat_effect claim);
/* Answers all releases since the last such call; how many. */
int hand_release_all(struct hand *hand);
/* ---- the application ---- */
int hand_started(struct hand *hand, uint32_t component);
int hand_exited(struct hand *hand, uint32_t component, int32_t code);
/* EXITED or START_FAILED, with a reason. */
int hand_ended(struct hand *hand, uint16_t kind, uint32_t component, enum pleat_reason reason);
int hand_relaunched(struct hand *hand, uint32_t component, int32_t size, bool from_state);
/* ANSWER, APPLIED, VACATED, RESIZE_FAILED, WITHDRAWN of the latest resize of a job. */
int hand_change(struct hand *hand, uint16_t kind, uint32_t component, int32_t size);
/* It asks to be on `processors`; with the flags of ASKED. */
int hand_asks_so(struct hand *hand, uint32_t component, int32_t processors, uint16_t flags);
/* ... and cannot go on without, but waits no longer than that. */
int hand_asks_within(struct hand *hand, uint32_t component, int32_t processors, int64_t limit_us);
int hand_asks(struct hand *hand, uint32_t component, int32_t processors, bool mandatory);
/* It has no answer yet. */
void hand_asks_still(const struct hand *hand, uint32_t component);
/* It has the answer, and was told so once since the mark. */
void hand_answered(const struct hand *hand, uint32_t component, enum pleat_ask_state state,
                   enum pleat_ask_reason reason);
/* Gives the latest claim, which must be the component's, on a node, and starts its job. */
void hand_gets(struct hand *hand, uint32_t component, uint32_t node);
/* A growth is claimed and applied; a shrink applied, vacated and released. */
void hand_grows(struct hand *hand, uint32_t component, int32_t size);
void hand_shrinks(struct hand *hand, uint32_t component, int32_t size);

#endif
