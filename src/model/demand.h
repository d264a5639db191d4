/* demand.h - a flag of PLEAT_EV_DEMAND (model/event.h), beside PLEAT_MANDATORY. */
#ifndef PLEAT_MODEL_DEMAND_H
#define PLEAT_MODEL_DEMAND_H

/* A component that decides for itself is capped at a smaller size once it has accepted that size,
 * not before. Older versions did not set this flag: in their logs such a component is capped at
 * once, so that a mandatory shrink follows a refusal. */
enum { PLEAT_CAP_AS_ACCEPTED = 4 };

#endif
