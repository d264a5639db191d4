/* Identifies a program, so that it never loads another program's state: which launch of its run,
 * which file, which arguments, which MPI, and what it registered.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/session.h"

/* FNV-1a, which suffices to tell programs apart. */
uint64_t pleat_session_hash(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Hashes this process's arguments; if they cannot be read they do not count. */
static uint64_t hash_arguments(uint64_t hash)
{
    char bytes[4096];
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return hash;
    for (ssize_t got; (got = read(fd, bytes, sizeof(bytes))) > 0;)
        hash = pleat_session_hash(hash, bytes, (size_t)got);
    close(fd);
    return hash;
}

static uint64_t launch_number(void)
{
    const char *text = getenv(PLEAT_LAUNCH_ENV);
    return text ? strtoull(text, NULL, 10) : 0;
}

void pleat_session_identify(struct pleat_state_header *own)
{
    static const int mpi = PLEAT_MPI_KIND;
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    path[length > 0 ? length : 0] = '\0';
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t count = strlen(name);
    uint64_t hash = pleat_session_hash(UINT64_C(0xcbf29ce484222325), path, strlen(path) + 1);
    *own = (struct pleat_state_header){.launch = launch_number()};
    own->program = pleat_session_hash(hash_arguments(hash), &mpi, sizeof(mpi));
    memcpy(own->name, name, count < sizeof(own->name) ? count : sizeof(own->name) - 1);
}

uint64_t pleat_session_grids(const struct pleat_session *session)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const struct pleat_object *object = session->objects; object; object = object->next) {
        uint64_t chosen = object->ops->chosen ? object->ops->chosen(object) : 0;
        hash = pleat_session_hash(hash, &chosen, sizeof(chosen));
    }
    return hash;
}

uint64_t pleat_session_shape(const struct pleat_session *session)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < session->values.count; i++) {
        const struct pleat_value *value = &session->values.items[i];
        hash = pleat_session_hash(hash, value->name, strlen(value->name) + 1);
        hash = pleat_session_hash(hash, &value->bytes, sizeof(value->bytes));
    }
    for (const struct pleat_object *object = session->objects; object; object = object->next) {
        uint64_t shape = object->ops->shape(object);
        hash = pleat_session_hash(hash, object->name, strlen(object->name) + 1);
        hash = pleat_session_hash(hash, &shape, sizeof(shape));
    }
    return hash;
}
