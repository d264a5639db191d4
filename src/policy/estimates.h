/* estimates.h - when running components are expected to end, and how long waiting ones would run.
 */
#ifndef PLEAT_POLICY_ESTIMATES_H
#define PLEAT_POLICY_ESTIMATES_H

#include "policy/view.h"

/* When a running component is expected to end; now, if it is past its estimate. */
static inline int64_t pleat_view_expected_end(const struct pleat_view *view,
                                              const struct pleat_component *component)
{
    return component->expected_end_us > view->now_us ? component->expected_end_us : view->now_us;
}

/* When a running component will likely end: as its program expects, if the program says; else by
 * its estimate. PLEAT_NEVER: nothing is known, or that time is past. */
static inline int64_t pleat_view_likely_end(const struct pleat_view *view,
                                            const struct pleat_component *component)
{
    int64_t said_us = pleat_view_declaration(view, component)->expected_us;
    if (said_us > 0 && said_us >= view->now_us)
        return said_us;
    return component->expected_end_us >= view->now_us ? component->expected_end_us : PLEAT_NEVER;
}

/* The expected run at another size than the reference size; for pleat_view_expected_run. */
int64_t pleat_view_scaled_run(const struct pleat_component *component, int32_t processors);

/* How long a component is expected to run on `processors` processors: its user's estimate, taken to
 * be for its reference size and to scale linearly. PLEAT_NEVER: there is no estimate. */
static inline int64_t pleat_view_expected_run(const struct pleat_component *component,
                                              int32_t processors)
{
    if (component->estimate_us <= 0)
        return PLEAT_NEVER;
    if (component->reference <= 0 || component->reference == processors)
        return component->estimate_us;
    return pleat_view_scaled_run(component, processors);
}

/* When a component that starts now on `processors` processors is expected to end; PLEAT_NEVER. */
static inline int64_t pleat_view_end_of(const struct pleat_view *view, uint32_t component,
                                        int32_t processors)
{
    int64_t run_us = pleat_view_expected_run(&view->components[component], processors);
    return run_us < PLEAT_NEVER - view->now_us ? view->now_us + run_us : PLEAT_NEVER;
}

#endif
