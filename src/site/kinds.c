/* The table of kinds of sites. */
#include <string.h>

#include "site/site.h"

static const struct pleat_site_ops *const kinds[] = {
#define SITE(kind) &pleat_site_##kind,
#include "site/kinds.def"
#undef SITE
};

const struct pleat_site_ops *pleat_site_find(const char *kind)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (!strcmp(kinds[i]->name, kind))
            return kinds[i];
    return NULL;
}

const struct pleat_site_ops *pleat_site_kind_at(size_t index)
{
    return index < sizeof(kinds) / sizeof(kinds[0]) ? kinds[index] : NULL;
}

void pleat_site_kinds_add(struct pleat_string *text)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        pleat_string_addf(text, "%s%s", i ? " or " : "", kinds[i]->name);
}
