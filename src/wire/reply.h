/* reply.h - reading what the daemon sent.
 *
 * The readers never fail: a member that is absent or of another type gives the fallback, so a
 * daemon of another version, or a damaged answer, shows as "-" and never as a crash.
 */
#ifndef PLEAT_WIRE_REPLY_H
#define PLEAT_WIRE_REPLY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Borrowed from the object. */
const char *pleat_reply_text(const json_t *object, const char *name, const char *fallback);
int64_t pleat_reply_int(const json_t *object, const char *name, int64_t fallback);
/* Within [low, high], which are also what lies beyond them. */
int pleat_reply_small(const json_t *object, const char *name, int low, int high);
double pleat_reply_real(const json_t *object, const char *name); /* NAN where absent */
bool pleat_reply_true(const json_t *object, const char *name);
/* The array, or NULL; json_array_size(NULL) is 0, so both can be walked. Borrowed. */
json_t *pleat_reply_array(const json_t *object, const char *name);
bool pleat_reply_is(const json_t *object, const char *name, const char *text);

#endif
