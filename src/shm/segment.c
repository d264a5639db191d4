#include "shm/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

static int map(const struct pleat_segment_kind *kind, int fd, size_t bytes, void **at,
               struct pleat_error *err)
{
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED)
        return pleat_error_sys(err, errno, "cannot map a %s of %zu bytes", kind->called, bytes);
    *at = mapped;
    return 0;
}

int pleat_segment_create(const struct pleat_segment_kind *kind, size_t bytes, void **at, int *fd,
                         struct pleat_error *err)
{
    int made = memfd_create(kind->memfd, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (made < 0)
        return pleat_error_sys(err, errno, "cannot create the memory of a %s", kind->called);
    int code = 0;
    if (ftruncate(made, (off_t)bytes) || fcntl(made, F_ADD_SEALS, SEALS))
        code = pleat_error_sys(err, errno, "cannot size a %s to %zu bytes", kind->called, bytes);
    else
        code = map(kind, made, bytes, at, err);
    if (code) {
        close(made);
        return code;
    }
    struct pleat_segment_header *header = *at;
    header->version = kind->version;
    header->magic = kind->magic;
    *fd = made;
    return 0;
}

static int check_header(const struct pleat_segment_kind *kind, const char *path,
                        const struct pleat_segment_header *header, struct pleat_error *err)
{
    if (header->magic != kind->magic)
        return pleat_error_set(err, PLEAT_E_CORRUPT, "%s is not a %s: wrong magic number", path,
                               kind->called);
    if (header->version != kind->version)
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "the %s %s has version %u, this %s speaks %u: use the library that "
                               "belongs to the running pleat (if Pleat was upgraded while jobs "
                               "ran: when they have ended, 'pleat stop' ends the agent from "
                               "before, and then the job can be submitted again)",
                               kind->called, path, header->version, kind->library, kind->version);
    return 0;
}

/* The header comes first: another version may have another size. */
static int check_file(const struct pleat_segment_kind *kind, const char *path, int fd,
                      size_t *bytes, struct pleat_error *err)
{
    struct pleat_segment_header header;
    struct stat st;
    if (fstat(fd, &st))
        return pleat_error_sys(err, errno, "cannot look at the %s %s", kind->called, path);
    int seals = fcntl(fd, F_GET_SEALS);
    if (!S_ISREG(st.st_mode) || seals < 0 || (seals & SEALS) != SEALS)
        return pleat_error_set(err, PLEAT_E_CORRUPT,
                               "%s is not a %s (no sealed memory): was %s set by hand?", path,
                               kind->called, kind->environment);
    if (pread(fd, &header, sizeof(header), 0) == (ssize_t)sizeof(header)) {
        int code = check_header(kind, path, &header, err);
        if (code)
            return code;
    }
    if (st.st_size < (off_t)kind->least || st.st_size > (off_t)kind->most)
        return pleat_error_set(err, PLEAT_E_CORRUPT, "%s is not a %s: it has %lld bytes", path,
                               kind->called, (long long)st.st_size);
    *bytes = (size_t)st.st_size;
    return 0;
}

int pleat_segment_open(const struct pleat_segment_kind *kind, const char *path, void **at,
                       size_t *bytes, struct pleat_error *err)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return pleat_error_sys(err, errno, "cannot open the %s %s (has its agent ended?)",
                               kind->called, path);
    void *mapped = NULL;
    int code = check_file(kind, path, fd, bytes, err);
    if (!code)
        code = map(kind, fd, *bytes, &mapped, err);
    close(fd);
    if (!code)
        *at = mapped;
    return code;
}

int pleat_segment_contradicts(const struct pleat_segment_kind *kind, const char *path, size_t bytes,
                              struct pleat_error *err)
{
    return pleat_error_set(
        err, PLEAT_E_CORRUPT,
        "the %s %s says that it is for other counts than its %zu bytes have room "
        "for",
        kind->called, path, bytes);
}
