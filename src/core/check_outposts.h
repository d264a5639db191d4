/* check_outposts.h - recounting what components have at sites other than their own */
#ifndef PLEAT_CORE_CHECK_OUTPOSTS_H
#define PLEAT_CORE_CHECK_OUTPOSTS_H

#include "core/state.h"

/* Compares each outpost with its claims; adds to `sums`, by site, the prepared processes there. */
int core_check_outposts(const struct pleat_core *core, struct pleat_site *sums,
                        struct pleat_error *err);

#endif
