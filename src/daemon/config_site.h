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
/* Begins the text of a block; adds an option; ends it. PLEAT_E_INVALID: that cannot be an option,
 * or its value. The text is for config_site_read. */
void config_site_begin(struct pleat_string *block, const char *name);
int config_site_add(struct pleat_string *block, const char *key, const char *value,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
void config_site_end(struct pleat_string *block);
/* Reads the text of one block, with all the checks of pleat.conf. PLEAT_E_INVALID: err says what is
 * wrong, and names no line. To be released with config_site_finish. */
int config_site_read(const char *block, struct pleat_config_site *site,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* A checked block; NULL: a site of the kind local with the defaults. PLEAT_E_NOMEM. */
int config_site_take(cfg_t *from, struct pleat_config_site *site) PLEAT_MUST_CHECK;
void config_site_finish(struct pleat_config_site *site);

#endif
