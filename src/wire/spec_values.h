/* spec_values.h - single members of a job's JSON, read into the spec; for spec.c
 *
 * What is copied belongs to the spec, also after an error: pleat_spec_finish() frees it. A member
 * that is null counts as absent, but for a list. All return 0 or a code: PLEAT_E_INVALID,
 * PLEAT_E_TOOBIG, PLEAT_E_NOMEM; err names the member.
 */
#ifndef PLEAT_WIRE_SPEC_VALUES_H
#define PLEAT_WIRE_SPEC_VALUES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pleat-error.h"

/* Copies a text; *out stays as it is where the member is absent and not required. */
int pleat_spec_copy_text(const json_t *object, const char *name, bool required, char **out,
                         struct pleat_error *err);
/* The same of one that may be absent, and else has from 1 to `most` bytes. */
int pleat_spec_copy_bounded(const json_t *object, const char *name, size_t most, char **out,
                            struct pleat_error *err);
/* Copies a list of `most` texts at most, with a NULL behind the last; it must be there. */
int pleat_spec_copy_list(const json_t *object, const char *name, size_t most, char ***out,
                         struct pleat_error *err);
/* Copies a text that is one of `choices` (NULL ends them); where absent, the fallback. */
int pleat_spec_read_choice(const json_t *object, const char *name, const char *const *choices,
                           const char *fallback, char **out, struct pleat_error *err);
/* Reads seconds into microseconds; 0 where absent or null. */
int pleat_spec_read_seconds(const json_t *object, const char *name, int64_t *us,
                            struct pleat_error *err);
/* The same, but -1 where absent or null: the configuration's default holds. */
int pleat_spec_read_seconds_or_default(const json_t *object, const char *name, int64_t *us,
                                       struct pleat_error *err);

#endif
