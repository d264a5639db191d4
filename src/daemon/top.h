/* top.h - the answer to `top`: all that a live view shows, of bounded size */
#ifndef PLEAT_DAEMON_TOP_H
#define PLEAT_DAEMON_TOP_H

#include <jansson.h>

#include "base/error.h"

struct daemon;

int top_to_json(struct daemon *d, int64_t limit, int64_t ended, json_t **result,
                struct pleat_error *err);

#endif
