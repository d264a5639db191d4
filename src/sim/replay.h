/* replay.h - a recorded log, decided again.
 *
 * The same build must give the same decisions from the same inputs. This proves that policies see
 * only what is in the log, and that daemon and simulator share them. */
#ifndef PLEAT_SIM_REPLAY_H
#define PLEAT_SIM_REPLAY_H

#include "core/core.h"

struct pleat_replay_result {
    size_t records, passes, decisions;
    size_t different; /* index of the first record that came out differently; = records: none */
    struct pleat_event decided; /* what the policies decided there (kind 0: nothing) */
};

/* Applies the inputs of a log in order and asks the policies at every PASS; decisions are compared
 * with the logged ones byte by byte. 0: compared to the end or to the first difference, see
 * result. PLEAT_E_CORRUPT: an input cannot be applied, err says which. PLEAT_E_NOMEM. */
int pleat_replay_policies(const struct pleat_event *records, size_t count,
                          struct pleat_replay_result *result,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* The same for the records that follow a saved state (pleat_core_save), where earlier records are
 * gone. Also PLEAT_E_UNSUPPORTED: a newer version saved it. */
int pleat_replay_policies_after(const struct pleat_string *state, const struct pleat_event *records,
                                size_t count, struct pleat_replay_result *result,
                                struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
