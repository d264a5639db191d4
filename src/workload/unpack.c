#include "workload/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct pleat_unpack {
    struct archive *archive;
    const char *name;
    int fd;
    char *begin; /* the first bytes, until they are used */
    size_t length;
    char piece[65536];
};

bool pleat_unpack_needed(const char *begin, size_t length)
{
    static const struct {
        const char *bytes;
        size_t length;
    } kinds[] = {{"\x1f\x8b", 2},
                 {"BZh", 3},
                 {"\xfd"
                  "7zXZ",
                  5},
                 {"\x28\xb5\x2f\xfd", 4}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (length >= kinds[i].length && !memcmp(begin, kinds[i].bytes, kinds[i].length))
            return true;
    return false;
}

static la_ssize_t read_packed(struct archive *archive, void *context, const void **bytes)
{
    struct pleat_unpack *unpack = context;
    ssize_t got;
    if (unpack->length > 0) {
        *bytes = unpack->begin;
        got = (ssize_t)unpack->length;
        unpack->length = 0;
        return got;
    }
    do {
        got = read(unpack->fd, unpack->piece, sizeof(unpack->piece));
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        archive_set_error(archive, errno, "%s", strerror(errno));
    *bytes = unpack->piece;
    return got;
}

static int failed(const struct pleat_unpack *unpack, struct pleat_error *err)
{
    const char *why = archive_error_string(unpack->archive);
    return pleat_error_set(err, PLEAT_E_INVALID, "%s: cannot be unpacked: %s", unpack->name,
                           why ? why : "it is damaged");
}

int pleat_unpack_open(struct pleat_unpack **unpack, int fd, const char *begin, size_t length,
                      const char *name, struct pleat_error *err)
{
    struct archive_entry *entry;
    struct pleat_unpack *fresh = calloc(1, sizeof(*fresh));
    if (fresh)
        *fresh =
            (struct pleat_unpack){archive_read_new(), name, fd, malloc(length + 1), length, ""};
    if (!fresh || !fresh->archive || !fresh->begin) {
        pleat_unpack_close(fresh);
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    memcpy(fresh->begin, begin, length);
    archive_read_support_filter_gzip(fresh->archive);
    archive_read_support_filter_bzip2(fresh->archive);
    archive_read_support_filter_xz(fresh->archive);
    archive_read_support_filter_zstd(fresh->archive);
    archive_read_support_format_raw(fresh->archive);
    int rc = 0;
    if (archive_read_open(fresh->archive, fresh, NULL, read_packed, NULL) != ARCHIVE_OK ||
        archive_read_next_header(fresh->archive, &entry) != ARCHIVE_OK)
        rc = failed(fresh, err);
    if (rc)
        pleat_unpack_close(fresh);
    else
        *unpack = fresh;
    return rc;
}

int pleat_unpack_read(struct pleat_unpack *unpack, char *bytes, size_t size, size_t *got,
                      struct pleat_error *err)
{
    la_ssize_t count = archive_read_data(unpack->archive, bytes, size);
    if (count < 0)
        return failed(unpack, err);
    *got = (size_t)count;
    return 0;
}

void pleat_unpack_close(struct pleat_unpack *unpack)
{
    if (!unpack)
        return;
    archive_read_free(unpack->archive);
    free(unpack->begin);
    free(unpack);
}
