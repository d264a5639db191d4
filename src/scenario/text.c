#include "scenario/text.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "workload/decimal.h"
#include "workload/unpack.h"

enum { PIECE = 64 * 1024 };

/* ---- files ---- */

/* Appends what can be read until the end, or until there are `most` bytes. unpack NULL: as it is in
 * the file. */
static int read_on(int fd, struct pleat_unpack *unpack, const char *path, size_t most,
                   struct pleat_string *text, struct pleat_error *err)
{
    char piece[PIECE];
    size_t got = 1;
    while (got > 0 && text->length < most) {
        size_t wanted = most - text->length < PIECE ? most - text->length : PIECE;
        int rc = 0;
        if (unpack) {
            rc = pleat_unpack_read(unpack, piece, wanted, &got, err);
        } else {
            ssize_t count = read(fd, piece, wanted);
            if (count < 0 && errno == EINTR)
                continue;
            if (count < 0)
                return pleat_error_sys(err, errno, "cannot read %s", path);
            got = (size_t)count;
        }
        if (rc)
            return rc;
        pleat_string_add_bytes(text, piece, got);
        if (text->failed)
            return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    return 0;
}

int pleat_text_read(const char *path, size_t most, struct pleat_string *text,
                    struct pleat_error *err)
{
    bool standard_input = !strcmp(path, "-");
    struct pleat_unpack *unpack = NULL;
    struct pleat_string begin = {0};
    int fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return pleat_error_sys(err, errno, "cannot open %s", path);
    int rc = read_on(fd, NULL, path, PLEAT_UNPACK_BYTES, &begin, err);
    if (!rc && pleat_unpack_needed(begin.text ? begin.text : "", begin.length)) {
        rc = pleat_unpack_open(&unpack, fd, begin.text, begin.length, path, err);
    } else if (!rc && begin.length > 0) {
        pleat_string_add_bytes(text, begin.text, begin.length);
    }
    if (!rc)
        rc = read_on(fd, unpack, path, most, text, err);
    pleat_unpack_close(unpack);
    pleat_string_finish(&begin);
    if (!standard_input)
        close(fd);
    return rc;
}

char pleat_text_first(const char *text, size_t length)
{
    size_t at = length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
    while (at < length && (pleat_is_blank(text[at]) || text[at] == '\r' || text[at] == '\n'))
        at++;
    return at < length ? text[at] : '\0';
}

/* ---- JSON ---- */

int pleat_text_json(const char *text, size_t length, const char *name, json_t **json,
                    struct pleat_error *err)
{
    json_error_t why;
    size_t skip = length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
    json_t *read = json_loadb(text + skip, length - skip, JSON_REJECT_DUPLICATES, &why);
    if (!read && json_error_code(&why) == json_error_out_of_memory)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    if (!read)
        return pleat_error_set(err, PLEAT_E_INVALID, "%s:%d:%d: this is no JSON: %s", name,
                               why.line, why.column, why.text);
    if (!json_is_object(read)) {
        json_decref(read);
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s:1:1: a JSON object is expected, with 'jobs' in it", name);
    }
    *json = read;
    return 0;
}

int pleat_member_wrong(const struct pleat_member_place *place, const char *key, const char *fmt,
                       ...)
{
    char what[300];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof(what), fmt, args);
    va_end(args);
    return pleat_error_set(place->err, PLEAT_E_INVALID, "%s: %s%s%s: %s", place->name, place->where,
                           *place->where && *key ? "." : "", key, what);
}

int pleat_member_real(const struct pleat_member_place *place, const json_t *object, const char *key,
                      double low, double high, double *value)
{
    const json_t *member = json_object_get(object, key);
    if (!member || json_is_null(member))
        return 0;
    double number = json_number_value(member);
    if (!json_is_number(member) || !(number >= low && number <= high))
        return pleat_member_wrong(place, key, "must be a number from %g to %g", low, high);
    *value = number;
    return 1;
}

int pleat_member_whole(const struct pleat_member_place *place, const json_t *object,
                       const char *key, int64_t low, int64_t high, int64_t *value)
{
    double number = 0;
    int rc = pleat_member_real(place, object, key, (double)low, (double)high, &number);
    if (rc <= 0)
        return rc;
    if (floor(number) < number)
        return pleat_member_wrong(place, key, "must be a whole number");
    *value = (int64_t)number;
    return 1;
}

int pleat_member_text(const struct pleat_member_place *place, const json_t *object, const char *key,
                      const char **value)
{
    const json_t *member = json_object_get(object, key);
    if (!member || json_is_null(member))
        return 0;
    if (!json_is_string(member))
        return pleat_member_wrong(place, key, "must be a text");
    *value = json_string_value(member);
    return 1;
}
