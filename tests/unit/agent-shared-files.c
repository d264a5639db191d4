/* What killed MPI processes left in shared memory goes, and nothing else. */
#include "test.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/shared_files.h"

static char folder[] = "/tmp/shared-files-XXXXXX";

static int make(const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    int fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, 4096), 0);
    return fd;
}

static bool is_there(const char *name)
{
    char path[128];
    struct stat st;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return lstat(path, &st) == 0;
}

static void drop(const char *name)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    (void)unlink(path);
}

static void age(int fd, time_t seconds)
{
    const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    assert_int_equal(futimens(fd, times), 0);
}

/* ---- a file is mapped, and its descriptor closed, between the two looks at this process ---- */

static int moving = -1; /* its descriptor */
static void *moved;
static int looks;

static void looked_at(const char *path)
{
    char own[32];
    const int length = snprintf(own, sizeof(own), "/proc/%d/", (int)getpid());
    if (moving < 0 || strncmp(path, own, (size_t)length) != 0 || ++looks < 2)
        return;
    moved = mmap(NULL, 4096, PROT_READ, MAP_SHARED, moving, 0);
    close(moving);
    moving = -1;
}

/* What the agent calls to look. */
DIR *opendir(const char *path)
{
    union {
        void *symbol;
        DIR *(*call)(const char *);
    } real = {.symbol = dlsym(RTLD_NEXT, "opendir")};
    looked_at(path);
    return real.call(path);
}

FILE *fopen(const char *restrict path, const char *restrict how)
{
    union {
        void *symbol;
        FILE *(*call)(const char *, const char *);
    } real = {.symbol = dlsym(RTLD_NEXT, "fopen")};
    looked_at(path);
    return real.call(path, how);
}

static void what_is_mapped_meanwhile_stays(void **state)
{
    (void)state;
    char own[] = "/tmp/shared-files-XXXXXX";
    assert_non_null(mkdtemp(own));
    memcpy(folder, own, sizeof(own));
    moving = make("mpich_shar_tmpmoving");
    assert_int_equal(pleat_shared_files_sweep(folder, 0), 0);
    assert_int_equal(looks, 2);
    assert_true(moved != MAP_FAILED && is_there("mpich_shar_tmpmoving"));
    munmap(moved, 4096);
    assert_int_equal(pleat_shared_files_sweep(folder, 0), 1);
    assert_int_equal(rmdir(folder), 0);
}

static void what_nobody_holds_goes(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(pleat_shared_files_sweep(folder, 0), 0);
    int old = make("mpich_shar_tmpold");
    age(old, 1000);
    close(old);
    close(make("mpich_shar_tmpABCdef"));
    close(make("ucx_shm_posix_12ab"));
    close(make("open_mpi.0000")); /* where a process was killed while it tried shared memory */
    close(make("somebody_elses"));
    int open_one = make("ucx_shm_posix_open");
    int mapped_one = make("mpich_shar_tmpmapped");
    void *memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, mapped_one, 0);
    assert_true(memory != MAP_FAILED);
    close(mapped_one);
    assert_int_equal(pleat_shared_files_sweep(folder, 2000), 3);
    assert_false(is_there("mpich_shar_tmpABCdef") || is_there("ucx_shm_posix_12ab") ||
                 is_there("open_mpi.0000"));
    assert_true(is_there("mpich_shar_tmpold") && is_there("somebody_elses"));
    assert_true(is_there("ucx_shm_posix_open") && is_there("mpich_shar_tmpmapped"));
    /* once they are let go */
    close(open_one);
    munmap(memory, 4096);
    assert_int_equal(pleat_shared_files_sweep(folder, 0), 3);
    assert_true(is_there("somebody_elses"));
    drop("somebody_elses");
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(pleat_shared_files_sweep(folder, 0), 0); /* there is no such folder */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_nobody_holds_goes),
                                       cmocka_unit_test(what_is_mapped_meanwhile_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
