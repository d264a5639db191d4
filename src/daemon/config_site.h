/* config_site.h - a site in pleat.conf: the keys that all sites have, and those of each kind, from
 * the kinds' own tables (site/option.h). */
#ifndef PLEAT_DAEMON_CONFIG_SITE_H
#define PLEAT_DAEMON_CONFIG_SITE_H

#include "config/parse.h"
#include "daemon/config.h"

enum { CONFIG_SITE_KEYS_MAX = 96 };

/* What a block `site` may have, of all kinds. false: there are more than the array has room for. */
bool config_site_schema(cfg_opt_t keys[CONFIG_SITE_KEYS_MAX]);
/* Sets the checks of a block `site` that has these keys. */
void config_site_checks(cfg_t *cfg, const cfg_opt_t *keys);
/* A checked block; NULL: a site of the kind local with the defaults. PLEAT_E_NOMEM. */
int config_site_take(cfg_t *from, struct pleat_config_site *site) PLEAT_MUST_CHECK;
void config_site_finish(struct pleat_config_site *site);

#endif
