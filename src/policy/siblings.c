#include "policy/siblings.h"

int32_t pleat_view_missing(const struct pleat_view *view, uint32_t lead)
{
    int32_t missing = pleat_view_total(view, lead);
    for (uint32_t c = lead; c != PLEAT_NONE; c = pleat_view_sibling(view, c))
        if (view->components[c].state != PLEAT_QUEUED)
            missing -= view->components[c].target;
    return missing;
}
