/* policies.h - all policies there are; registry.c lists them for users. */
#ifndef PLEAT_POLICY_POLICIES_H
#define PLEAT_POLICY_POLICIES_H

#include "policy/policy.h"

extern const struct pleat_policy pleat_policy_pra, pleat_policy_pwa;
extern const struct pleat_policy pleat_policy_arrival, pleat_policy_sjf, pleat_policy_ljf;
extern const struct pleat_policy pleat_policy_order_priority, pleat_policy_edf;
extern const struct pleat_policy pleat_policy_fcfs, pleat_policy_scan, pleat_policy_easy;
extern const struct pleat_policy pleat_policy_conservative;
extern const struct pleat_policy pleat_policy_worst_fit, pleat_policy_close_to_files;
extern const struct pleat_policy pleat_policy_cluster_minimization;
extern const struct pleat_policy pleat_policy_flexible_cluster_minimization;
extern const struct pleat_policy pleat_policy_round_robin;
extern const struct pleat_policy pleat_policy_available, pleat_policy_minimum;
extern const struct pleat_policy pleat_policy_fpsma, pleat_policy_egs, pleat_policy_none;
extern const struct pleat_policy pleat_policy_malleability_priority, pleat_policy_egs_once;
extern const struct pleat_policy pleat_policy_remap, pleat_policy_sweet_spot;
extern const struct pleat_policy pleat_policy_equipartition, pleat_policy_malleability_folding;

/* our own */
extern const struct pleat_policy pleat_policy_pwa_next;

/* Utrera 2010 */
extern const struct pleat_policy pleat_policy_launcher;
extern const struct pleat_policy pleat_policy_backfill_abort, pleat_policy_backfill_malleability;
extern const struct pleat_policy pleat_policy_backfill_abort_due;
extern const struct pleat_policy pleat_policy_backfill_malleability_due;
extern const struct pleat_policy pleat_policy_psa, pleat_policy_psa_idle;
extern const struct pleat_policy pleat_policy_asp_max, pleat_policy_asp_max_idle;
extern const struct pleat_policy pleat_policy_moldability_folding, pleat_policy_largest;
extern const struct pleat_policy pleat_policy_fjt, pleat_policy_fjt_figure, pleat_policy_fjt_1;
extern const struct pleat_policy pleat_policy_halving, pleat_policy_partition;
extern const struct pleat_policy pleat_policy_buffer_none;
extern const struct pleat_policy pleat_policy_periodic, pleat_policy_prediction;

#endif
