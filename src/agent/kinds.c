#include "agent/kind.h"

const struct pleat_run_kind *const pleat_kinds[] = {
    &pleat_kind_plain,
    &pleat_kind_malleable,
    &pleat_kind_script,
    &pleat_kind_spread,
    &pleat_kind_part,
    &pleat_kind_folded,   /* which may have parts, or be one */
    &pleat_kind_evolving, /* and its processes: */
    &pleat_kind_process,
    &pleat_kind_far,
    NULL,
};
