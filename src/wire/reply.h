/* reply.h - reads members of what the daemon sent.
 *
 * No function fails: for a member that is absent or of another type it returns the fallback. So the
 * answer of another version's daemon, or a damaged one, shows as "-" and never crashes a client.
 */
#ifndef PLEAT_WIRE_REPLY_H
#define PLEAT_WIRE_REPLY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Borrowed from the object, or the fallback. */
const char *pleat_reply_text(const json_t *object, const char *name, const char *fallback);
int64_t pleat_reply_int(const json_t *object, const char *name, int64_t fallback);
/* The member, limited to [low, high]. */
int pleat_reply_small(const json_t *object, const char *name, int low, int high);
double pleat_reply_real(const json_t *object, const char *name); /* NAN: absent */
bool pleat_reply_true(const json_t *object, const char *name);
/* The array, borrowed, or NULL. Both can be walked, as json_array_size(NULL) is 0. */
json_t *pleat_reply_array(const json_t *object, const char *name);
bool pleat_reply_is(const json_t *object, const char *name, const char *text);

#endif
