/* libpleat's freeing.c: what a resize leaves is freed by a thread, all of it, and nothing before it
 * is to be. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "app/freeing.h"

#define PAGES 256

static uint64_t page;
static bool no_threads;
static int threads;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *argument), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *argument), void *argument);

/* The thread gets no signals: the program's are for its own threads. */
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *argument), void *argument)
{
    sigset_t blocked;
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &blocked), 0);
    assert_true(sigismember(&blocked, SIGTERM) && sigismember(&blocked, SIGUSR1));
    threads++;
    return no_threads ? EAGAIN : __real_pthread_create(thread, attributes, run, argument);
}

static int64_t bytes_of(int fd)
{
    struct stat status;
    assert_int_equal(fstat(fd, &status), 0);
    return (int64_t)status.st_blocks * 512;
}

static int full_file(void)
{
    int fd = memfd_create("test", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(fallocate(fd, 0, 0, (off_t)(PAGES * page)), 0);
    return fd;
}

static struct pleat_free_piece pages_of(int fd, uint64_t first, uint64_t count)
{
    return (struct pleat_free_piece){.fd = fd, .first = first * page, .bytes = count * page};
}

static bool is_mapped(void *at)
{
    unsigned char there;
    return !mincore(at, (size_t)page, &there);
}

/* The mapping keeps its pages until it is unmapped, so both have to go. */
static void free_some(struct pleat_freeing *freeing)
{
    int fd = full_file();
    void *at = mmap(NULL, (size_t)(PAGES * page), PROT_READ, MAP_SHARED, fd, 0);
    sigset_t after;
    assert_ptr_not_equal(at, MAP_FAILED);
    pleat_free_later(freeing, (struct pleat_free_piece){.at = at, .bytes = PAGES * page});
    pleat_free_later(freeing, pages_of(fd, 0, 100));
    pleat_free_later(freeing, pages_of(fd, 150, 0));
    pleat_free_later(freeing, pages_of(fd, 200, PAGES - 200));
    assert_int_equal(bytes_of(fd), (int64_t)(PAGES * page));
    assert_true(is_mapped(at));
    pleat_freeing_begin(freeing);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &after), 0);
    assert_false(sigismember(&after, SIGTERM) || sigismember(&after, SIGUSR1));
    pleat_freeing_end(freeing);
    assert_int_equal(bytes_of(fd), (int64_t)(100 * page));
    assert_false(is_mapped(at));
    close(fd);
}

static void test_all_is_freed(void **state)
{
    struct pleat_freeing freeing = {0};
    (void)state;
    threads = 0;
    free_some(&freeing);
    free_some(&freeing);
    assert_int_equal(threads, 2);
}

static void test_without_a_thread(void **state)
{
    struct pleat_freeing freeing = {0};
    (void)state;
    no_threads = true;
    free_some(&freeing);
    no_threads = false;
    free_some(&freeing);
}

static void test_nothing_to_free(void **state)
{
    struct pleat_freeing freeing = {0};
    (void)state;
    threads = 0;
    pleat_freeing_begin(&freeing);
    pleat_freeing_end(&freeing);
    pleat_freeing_end(&freeing);
    assert_int_equal(threads, 0);
}

/* Without a thread having begun. */
static void test_more_than_can_be_noted(void **state)
{
    struct pleat_freeing freeing = {0};
    int fd = full_file();
    (void)state;
    for (uint64_t i = 0; i < PAGES; i += 2)
        pleat_free_later(&freeing, pages_of(fd, i, 1));
    pleat_freeing_end(&freeing);
    assert_int_equal(bytes_of(fd), (int64_t)(PAGES / 2 * page));
    close(fd);
}

static void test_noted_while_others_are_freed(void **state)
{
    struct pleat_freeing freeing = {0};
    int fd = full_file();
    (void)state;
    for (uint64_t i = 0; i < PAGES; i++) {
        pleat_free_later(&freeing, pages_of(fd, i, 1));
        pleat_freeing_begin(&freeing);
    }
    pleat_freeing_end(&freeing);
    assert_int_equal(bytes_of(fd), 0);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_is_freed),
        cmocka_unit_test(test_without_a_thread),
        cmocka_unit_test(test_nothing_to_free),
        cmocka_unit_test(test_more_than_can_be_noted),
        cmocka_unit_test(test_noted_while_others_are_freed),
    };
    page = (uint64_t)sysconf(_SC_PAGESIZE);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
