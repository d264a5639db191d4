/* parse.h - configuration files by libconfuse, with what is wrong in them in an error. libconfuse
 * has one scanner for the whole process: so threads wait for each other here, and a check that it
 * calls while it reads a text must not read another text. */
#ifndef PLEAT_CONFIG_PARSE_H
#define PLEAT_CONFIG_PARSE_H

#include <confuse.h>

#include "base/error.h"

/* What a file may have, with the defaults. NULL: out of memory. The caller adds checks, which say
 * what is wrong by cfg_error, and closes it. */
cfg_t *pleat_config_open(cfg_opt_t *options);
/* Reads a text that was made fit (config/text.h). PLEAT_E_INVALID: err has the first mistake, and
 * begins with "NAME:LINE: "; PLEAT_E_NOMEM. */
int pleat_config_parse(cfg_t *cfg, const char *name, const char *text,
                       struct pleat_error *err) PLEAT_MUST_CHECK;
/* In a check: the text cannot be read any further, by no fault of a line in it. The error is the
 * one that pleat_config_parse gives back, unless there was one before. */
void pleat_config_fail(cfg_t *cfg, const struct pleat_error *err);
/* Frees what pleat_config_open made. */
void pleat_config_close(cfg_t *cfg);

#endif
