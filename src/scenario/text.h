/* text.h - whole files as texts, unpacked; and JSON in them. */
#ifndef PLEAT_SCENARIO_TEXT_H
#define PLEAT_SCENARIO_TEXT_H

#include <jansson.h>
#include <stdint.h>

#include "base/array.h"
#include "base/error.h"

enum { PLEAT_TEXT_MOST = 1 << 30 }; /* bytes: no file of jobs is longer */

/* Reads at most `most` bytes of a file ("-": standard input) into an empty string, which the caller
 * finishes in any case. The file may be packed by gzip, bzip2, xz or zstd. PLEAT_E_SYSTEM,
 * PLEAT_E_INVALID: it is damaged. PLEAT_E_NOMEM. */
int pleat_text_read(const char *path, size_t most, struct pleat_string *text,
                    struct pleat_error *err) PLEAT_MUST_CHECK;

/* The first byte of a text that is no blank and no end of line (a mark of UTF-8 is none); 0: there
 * is none. */
char pleat_text_first(const char *text, size_t length);

/* Reads a text as a JSON object. PLEAT_E_INVALID: err begins with "NAME:LINE:COLUMN: ". */
int pleat_text_json(const char *text, size_t length, const char *name, json_t **json,
                    struct pleat_error *err) PLEAT_MUST_CHECK;

/* Where a value stands, for errors: "NAME: WHERE.KEY: ...". */
struct pleat_member_place {
    const char *name;  /* of the file */
    const char *where; /* the object: "jobs[3]" */
    struct pleat_error *err;
};

/* The members of an object. 1: it is there, and in *value; 0: it is not, and *value stays.
 * PLEAT_E_INVALID: it is no such value. */
int pleat_member_real(const struct pleat_member_place *place, const json_t *object, const char *key,
                      double low, double high, double *value) PLEAT_MUST_CHECK;
int pleat_member_whole(const struct pleat_member_place *place, const json_t *object,
                       const char *key, int64_t low, int64_t high, int64_t *value) PLEAT_MUST_CHECK;
int pleat_member_text(const struct pleat_member_place *place, const json_t *object, const char *key,
                      const char **value) PLEAT_MUST_CHECK;
/* Sets the error of a member. Returns PLEAT_E_INVALID. */
int pleat_member_wrong(const struct pleat_member_place *place, const char *key, const char *fmt,
                       ...) PLEAT_PRINTF(3, 4);

#endif
