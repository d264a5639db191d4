/* files.h - files of a component that have to be brought, and the sites at which it may be placed.
 */
#ifndef PLEAT_POLICY_FILES_H
#define PLEAT_POLICY_FILES_H

#include "policy/view.h"

/* Microseconds until the files of a component are at a site, one after another, each from where
 * that is fastest; 0 for one without; PLEAT_NEVER: there is no way. */
int64_t pleat_view_transfer(const struct pleat_view *view, const struct pleat_component *component,
                            uint32_t site);

/* Does it read files that may have to be brought to where it is placed? */
static inline bool pleat_view_has_files(const struct pleat_view *view,
                                        const struct pleat_component *component)
{
    return pleat_view_coallocation(view, component)->first_input != PLEAT_NONE;
}

/* May a component be placed at a site? Its user may want another one; the site may be closed; or
 * its files cannot be brought there. */
static inline bool pleat_view_allows(const struct pleat_view *view,
                                     const struct pleat_component *component, uint32_t site)
{
    if ((component->wanted_site != PLEAT_NONE && component->wanted_site != site) ||
        pleat_view_is_closed(view, site))
        return false;
    return !view->stages || !pleat_view_has_files(view, component) ||
           pleat_view_transfer(view, component, site) != PLEAT_NEVER;
}

#endif
