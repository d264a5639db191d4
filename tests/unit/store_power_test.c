/* Power is lost. What the store writes is recorded (the calls of this program and of SQLite come
 * here first), and a directory is made again as a disk may have it at every barrier: all that was
 * written; only what was synced; what was synced and some of the rest, in sectors. Each time all
 * that was committed must be there, also while records are moved aside, checkpoints written, and a
 * damaged log is salvaged. Then: every sync and every write fails once. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "base/random.h"
#include "store/salvage.h"
#include "store_fixture.h"

enum { SECTOR = 512, OPS_MAX = 20000, NODES_MAX = 200, ACKS_MAX = 400, SEEDS = 2 };

enum op_kind { OP_WRITE, OP_TRUNCATE, OP_CREATE, OP_MKDIR, OP_RENAME, OP_UNLINK, OP_SYNC };

struct op {
    enum op_kind kind;
    int node; /* of WRITE, TRUNCATE, CREATE, SYNC of a file; -1: SYNC of a directory */
    off_t at; /* TRUNCATE: the size */
    size_t size;
    unsigned char *bytes;
    char name[96], to[96]; /* below the directory of the test */
};

static struct op ops[OPS_MAX];
static int op_count, node_count;
static ino_t inodes[NODES_MAX];
static bool recording;
static char root[64];
static struct {
    int op;
    int64_t records;
} acks[ACKS_MAX];
static int ack_count;

/* The call that fails, counted from 1; 0: none. */
static int fail_sync, fail_write, syncs, writes;

/* ---- the calls ---- */

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static const char *below_root(const char *path)
{
    size_t length = strlen(root);
    if (!recording || !*root || strncmp(path, root, length) != 0)
        return NULL;
    return path[length] == '/' ? path + length + 1 : path[length] ? NULL : path + length;
}

static struct op *add(enum op_kind kind, const char *name)
{
    assert_in_range(op_count, 0, OPS_MAX - 1);
    struct op *op = &ops[op_count++];
    memset(op, 0, sizeof(*op));
    op->kind = kind;
    op->node = -1;
    snprintf(op->name, sizeof(op->name), "%s", name);
    return op;
}

/* The file that is open, or -1: it is none of the test's. */
static int node_of(int fd)
{
    struct stat st;
    if (!recording || fstat(fd, &st) || !S_ISREG(st.st_mode))
        return -1;
    for (int i = node_count; i > 0; i--)
        if (inodes[i - 1] == st.st_ino)
            return i - 1;
    return -1;
}

static void record_write(int fd, const void *bytes, size_t size, off_t at)
{
    int node = node_of(fd);
    if (node < 0)
        return;
    struct op *op = add(OP_WRITE, "");
    op->node = node;
    op->at = at;
    op->size = size;
    op->bytes = malloc(size ? size : 1);
    memcpy(op->bytes, bytes, size);
}

static bool write_fails(int fd)
{
    return node_of(fd) >= 0 && ++writes == fail_write;
}

#pragma GCC visibility push(default) /* found by SQLite before the C library's */

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at)
{
    if (write_fails(fd)) {
        errno = ENOSPC;
        return -1;
    }
    ssize_t count = NEXT(pwrite64)(fd, bytes, size, at);
    if (count > 0)
        record_write(fd, bytes, (size_t)count, at);
    return count;
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at)
{
    return pwrite64(fd, bytes, size, at);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    off_t at = recording ? lseek(fd, 0, SEEK_CUR) : 0;
    if (write_fails(fd)) {
        errno = ENOSPC;
        return -1;
    }
    ssize_t count = NEXT(write)(fd, bytes, size);
    if (count > 0)
        record_write(fd, bytes, (size_t)count, at);
    return count;
}

int ftruncate64(int fd, off64_t size)
{
    int node = node_of(fd);
    if (node >= 0) {
        struct op *op = add(OP_TRUNCATE, "");
        op->node = node;
        op->at = size;
    }
    return NEXT(ftruncate64)(fd, size);
}

int ftruncate(int fd, off_t size)
{
    return ftruncate64(fd, size);
}

static int sync_fd(int fd)
{
    char link[64], path[PATH_MAX];
    struct stat st;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t length = recording ? readlink(link, path, sizeof(path) - 1) : -1;
    path[length > 0 ? length : 0] = '\0';
    const char *name = below_root(path);
    if (!name || fstat(fd, &st))
        return 0;
    if (++syncs == fail_sync) {
        errno = EIO;
        return -1;
    }
    add(OP_SYNC, name)->node = S_ISDIR(st.st_mode) ? -1 : node_of(fd);
    return 0;
}

int fsync(int fd)
{
    return sync_fd(fd);
}

int fdatasync(int fd)
{
    return sync_fd(fd);
}

static int opened(const char *path, int flags, mode_t mode)
{
    const char *name = below_root(path);
    bool fresh = name && (flags & O_CREAT) && access(path, F_OK) != 0;
    int fd = NEXT(open64)(path, flags, mode);
    struct stat st;
    if (fd >= 0 && name && (flags & O_TRUNC) && !fresh && node_of(fd) >= 0)
        add(OP_TRUNCATE, "")->node = node_of(fd);
    if (fd >= 0 && fresh && fstat(fd, &st) == 0) {
        assert_in_range(node_count, 0, NODES_MAX - 1);
        inodes[node_count] = st.st_ino;
        add(OP_CREATE, name)->node = node_count++;
    }
    return fd;
}

int open64(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    return opened(path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
    va_end(args);
    return opened(path, flags, mode);
}

int mkdir(const char *path, mode_t mode)
{
    const char *name = below_root(path);
    int rc = NEXT(mkdir)(path, mode);
    if (!rc && name)
        add(OP_MKDIR, name);
    return rc;
}

int rename(const char *from, const char *to)
{
    const char *name = below_root(from);
    int rc = NEXT(rename)(from, to);
    if (!rc && name)
        snprintf(add(OP_RENAME, name)->to, sizeof(ops->to), "%s", below_root(to));
    return rc;
}

int unlink(const char *path)
{
    const char *name = below_root(path);
    int rc = NEXT(unlink)(path);
    if (!rc && name)
        add(OP_UNLINK, name);
    return rc;
}

#pragma GCC visibility pop

/* ---- a disk after a power loss ---- */

enum survival { ALL, SYNCED, SOME };

struct disk {
    struct {
        unsigned char *bytes;
        size_t size;
    } nodes[NODES_MAX];
    struct {
        char name[96];
        int node; /* -1: a directory; -2: no entry */
    } names[NODES_MAX];
    int name_count;
};

static int find_name(struct disk *disk, const char *name)
{
    for (int i = 0; i < disk->name_count; i++)
        if (disk->names[i].node != -2 && !strcmp(disk->names[i].name, name))
            return i;
    return -1;
}

static void set_name(struct disk *disk, const char *name, int node)
{
    int i = find_name(disk, name);
    if (i < 0)
        i = disk->name_count++;
    assert_in_range(i, 0, NODES_MAX - 1);
    snprintf(disk->names[i].name, sizeof(disk->names[i].name), "%s", name);
    disk->names[i].node = node;
}

static void resize(struct disk *disk, int node, size_t size)
{
    disk->nodes[node].bytes = realloc(disk->nodes[node].bytes, size + 1);
    if (size > disk->nodes[node].size)
        memset(disk->nodes[node].bytes + disk->nodes[node].size, 0, size - disk->nodes[node].size);
    disk->nodes[node].size = size;
}

static bool is_name_op(enum op_kind kind)
{
    return kind == OP_CREATE || kind == OP_MKDIR || kind == OP_RENAME || kind == OP_UNLINK;
}

static bool is_in(const char *name, const char *directory)
{
    const char *slash = strrchr(name, '/');
    size_t length = slash ? (size_t)(slash - name) : 0;
    return strlen(directory) == length && !strncmp(name, directory, length);
}

/* Whether a later sync before `end` has put it on the disk. */
static bool is_synced(int i, int end)
{
    for (int later = i + 1; later < end; later++)
        if (ops[later].kind == OP_SYNC &&
            (is_name_op(ops[i].kind) ? ops[later].node < 0 && is_in(ops[i].name, ops[later].name)
                                     : ops[later].node == ops[i].node))
            return true;
    return false;
}

static void apply_write(struct disk *disk, const struct op *op, bool whole,
                        struct pleat_random *random)
{
    size_t end = (size_t)op->at + op->size;
    for (size_t done = 0; done < op->size; done += SECTOR) {
        size_t part = op->size - done < SECTOR ? op->size - done : SECTOR;
        if (!whole && pleat_random_below(random, 2))
            continue;
        if (disk->nodes[op->node].size < (size_t)op->at + done + part)
            resize(disk, op->node, whole ? end : (size_t)op->at + done + part);
        memcpy(disk->nodes[op->node].bytes + (size_t)op->at + done, op->bytes + done, part);
    }
}

static void apply_name(struct disk *disk, const struct op *op)
{
    if (op->kind == OP_RENAME) {
        int i = find_name(disk, op->name);
        int node = i < 0 ? -2 : disk->names[i].node;
        if (i >= 0)
            disk->names[i].node = -2;
        set_name(disk, op->to, node);
    } else if (op->kind == OP_UNLINK) {
        set_name(disk, op->name, -2);
    } else {
        set_name(disk, op->name, op->kind == OP_CREATE ? op->node : -1);
    }
}

/* Names change in their order, data in any. */
static void make_disk(struct disk *disk, int end, enum survival survival, uint64_t seed)
{
    struct pleat_random random;
    int names_end = end;
    pleat_random_init(&random, seed);
    if (survival != ALL) {
        names_end = 0;
        for (int i = 0; i < end; i++)
            if (is_name_op(ops[i].kind) && is_synced(i, end))
                names_end = i + 1;
        if (survival == SOME)
            names_end += (int)pleat_random_below(&random, (uint64_t)(end - names_end + 1));
    }
    for (int i = 0; i < end; i++) {
        const struct op *op = &ops[i];
        if (is_name_op(op->kind) && i < names_end)
            apply_name(disk, op);
        bool there = survival == ALL || is_synced(i, end);
        if (op->kind == OP_WRITE && (there || survival == SOME))
            apply_write(disk, op, there, &random);
        if (op->kind == OP_TRUNCATE &&
            (there || (survival == SOME && pleat_random_below(&random, 2))))
            resize(disk, op->node, (size_t)op->at);
    }
}

static void write_disk(struct disk *disk, const char *directory)
{
    char path[PATH_MAX];
    for (int i = 0; i < disk->name_count; i++) {
        snprintf(path, sizeof(path), "%s/%s", directory, disk->names[i].name);
        if (disk->names[i].node == -1)
            assert_int_equal(mkdir(path, 0700), 0);
    }
    for (int i = 0; i < disk->name_count; i++) {
        int node = disk->names[i].node;
        snprintf(path, sizeof(path), "%s/%s", directory, disk->names[i].name);
        if (node < 0)
            continue;
        FILE *file = fopen(path, "w"); /* not there where its directory is not */
        if (!file)
            continue;
        if (disk->nodes[node].size)
            assert_int_equal(fwrite(disk->nodes[node].bytes, disk->nodes[node].size, 1, file), 1);
        fclose(file);
    }
    for (int i = 0; i < NODES_MAX; i++)
        free(disk->nodes[i].bytes);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
    (void)st;
    (void)kind;
    (void)where;
    return remove(path);
}

static void empty(const char *directory)
{
    (void)nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    assert_int_equal(mkdir(directory, 0700), 0);
}

/* As pleatd opens it. */
static struct pleat_store *recovered(const char *path, struct pleat_error *err)
{
    struct pleat_store *store = NULL;
    struct pleat_salvage result;
    int rc = pleat_store_open(path, sizeof(struct record), &store, err);
    if (rc == PLEAT_E_CORRUPT || rc == PLEAT_E_INVALID) {
        rc = pleat_store_salvage(path, sizeof(struct record), INT64_MAX, 1, &result, err);
        if (!rc)
            rc = pleat_store_open(path, sizeof(struct record), &store, err);
    }
    return rc ? NULL : store;
}

/* All that was committed when op `end` was next is there, from the first record on, and nothing
 * that was not. */
static void check_at(int end, enum survival survival, uint64_t seed)
{
    static struct disk disk;
    char directory[80], path[96];
    struct pleat_error err = {0};
    int64_t committed = 0, most = 0, read = 0;
    for (int i = 0; i < ack_count; i++) {
        if (acks[i].op <= end)
            committed = acks[i].records;
        else if (!most)
            most = acks[i].records;
    }
    snprintf(directory, sizeof(directory), "%s-after", root);
    snprintf(path, sizeof(path), "%s/log", directory);
    empty(directory);
    memset(&disk, 0, sizeof(disk));
    make_disk(&disk, end, survival, seed);
    write_disk(&disk, directory);
    struct pleat_store *store = recovered(path, &err);
    if (!store)
        fail_msg("before op %d, survival %d, seed %d: %s", end, survival, (int)seed, err.text);
    int64_t last = pleat_store_last_seq(store);
    if (last < committed || last > (most ? most : committed))
        fail_msg("before op %d (%d %s), survival %d, seed %d: %lld records, %lld were committed",
                 end, ops[end].kind, ops[end].name, survival, (int)seed, (long long)last,
                 (long long)committed);
    if (pleat_store_read(store, 1, check_record, &read, &err) || read != last)
        fail_msg("before op %d, survival %d, seed %d: %lld of %lld records: %s", end, survival,
                 (int)seed, (long long)read, (long long)last, err.text);
    pleat_store_close(store);
}

static bool is_barrier(int i)
{
    return i == op_count || ops[i].kind == OP_SYNC || is_name_op(ops[i].kind);
}

static void check_all(int from)
{
    for (int i = from; i <= op_count; i++) {
        if (!is_barrier(i) && (i == 0 || !is_barrier(i - 1)))
            continue;
        check_at(i, ALL, 0);
        check_at(i, SYNCED, 0);
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
            check_at(i, SOME, seed * 1000 + (uint64_t)i);
    }
}

/* ---- a life ---- */

static void acknowledge(int64_t records)
{
    assert_in_range(ack_count, 0, ACKS_MAX - 1);
    acks[ack_count].op = op_count;
    acks[ack_count++].records = records;
}

/* Tries again until it can, as pleatd does. */
static void commit_some(struct pleat_store *store, int64_t count)
{
    int64_t first = pleat_store_last_seq(store) + 1;
    for (int tries = 0;; tries++) {
        struct pleat_note note = {.kind = "state", .job = first, .data = "{}"};
        int rc = pleat_store_begin(store, NULL);
        for (int64_t value = first; !rc && value < first + count; value++)
            rc = append(store, value, NULL);
        if (!rc)
            rc = pleat_store_append_note(store, &note, NULL, NULL);
        if (!rc)
            rc = pleat_store_commit(store, NULL);
        if (!rc)
            break;
        assert_int_equal(rc, PLEAT_E_SYSTEM);
        assert_int_equal(pleat_store_last_seq(store), first - 1);
        assert_in_range(tries, 0, 3);
    }
    acknowledge(first + count - 1);
}

/* As pleatd makes one: what fails is left until the next time. */
static void checkpoint(struct pleat_store *store, int64_t *before)
{
    int64_t seq = pleat_store_last_seq(store);
    bool aside = *before && pleat_store_set_aside(store, *before, NULL) == 0;
    int rc = pleat_store_begin(store, NULL);
    if (!rc)
        rc = pleat_store_put_checkpoint(store, "a state", 7, NULL);
    if (!rc && aside)
        rc = pleat_store_trim(store, *before, NULL);
    if (!rc)
        rc = pleat_store_commit(store, NULL);
    pleat_store_rollback(store);
    if (!rc)
        *before = seq;
}

static void begin_recording(void)
{
    for (int i = 0; i < op_count; i++)
        free(ops[i].bytes);
    op_count = node_count = ack_count = syncs = writes = 0;
    empty(root);
    recording = true;
}

static void live(const char *path)
{
    struct pleat_store *store = open_store(path);
    int64_t before = 0;
    execute_sql(store, "PRAGMA wal_autocheckpoint = 12");
    for (int i = 0; i < 24; i++) {
        commit_some(store, 1 + i % 3);
        if (i % 6 == 5)
            checkpoint(store, &before);
    }
    pleat_store_close(store);
}

static void test_power_is_lost(void **state)
{
    (void)state;
    char path[96];
    snprintf(path, sizeof(path), "%s/log", root);
    begin_recording();
    live(path);
    recording = false;
    check_all(0);
}

/* The header is garbled; the salvage, and what is written afterwards, is interrupted. */
static void test_power_is_lost_in_a_salvage(void **state)
{
    (void)state;
    char path[96];
    struct pleat_error err = {0};
    snprintf(path, sizeof(path), "%s/log", root);
    begin_recording();
    live(path);
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, "This was a header, once.", 24, 0), 24);
    assert_int_equal(fsync(fd), 0);
    close(fd);
    int from = op_count;
    struct pleat_store *store = recovered(path, &err);
    assert_non_null(store);
    commit_some(store, 3);
    pleat_store_close(store);
    recording = false;
    check_all(from);
}

/* Each sync (EIO) and each write (ENOSPC) fails once: what is said to be committed is there, power
 * lost or not. */
static void fail_each(int *which, const int *counted)
{
    char path[96];
    snprintf(path, sizeof(path), "%s/log", root);
    begin_recording();
    live(path);
    recording = false;
    int count = *counted, opening;
    begin_recording();
    pleat_store_close(open_store(path));
    recording = false;
    opening = *counted; /* one that fails there is refused */
    for (int i = opening + 1; i <= count; i++) {
        begin_recording();
        *which = i;
        live(path);
        *which = 0;
        recording = false;
        check_at(op_count, ALL, 0);
        check_at(op_count, SYNCED, 0);
        check_at(op_count, SOME, (uint64_t)i);
    }
}

static void test_every_sync_fails_once(void **state)
{
    (void)state;
    fail_each(&fail_sync, &syncs);
}

static void test_every_write_fails_once(void **state)
{
    (void)state;
    fail_each(&fail_write, &writes);
}

static int set_up(void **state)
{
    (void)state;
    strcpy(root, "/tmp/pleat-power-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char after[80];
    begin_recording(); /* lets go of what was recorded */
    recording = false;
    snprintf(after, sizeof(after), "%s-after", root);
    empty(after);
    return rmdir(after) || rmdir(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_power_is_lost),
        cmocka_unit_test(test_power_is_lost_in_a_salvage),
        cmocka_unit_test(test_every_sync_fails_once),
        cmocka_unit_test(test_every_write_fails_once),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
