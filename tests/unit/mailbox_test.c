/* The mailbox: its limits, what it makes of damaged segments, and each step of a request. The
 * agreement between many ranks is in mailbox_agreement_test.c. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "shm/mailbox-rank.h"

static const struct pleat_mailbox_request grow = {.resize = 7, .target = 4, .mandatory = false};

struct pair {
    struct pleat_mailbox *agent;
    struct pleat_mailbox *application;
    struct pleat_mailbox_rank ranks[2];
    int fd;
    int bell[2];
};

static void path_of(int fd, char *path, size_t size)
{
    snprintf(path, size, "/proc/%d/fd/%d", (int)getpid(), fd);
}

static void pair_open(struct pair *pair)
{
    struct pleat_error err = {0};
    char path[64];
    assert_int_equal(pleat_mailbox_create(8, &pair->agent, &pair->fd, &err), 0);
    path_of(pair->fd, path, sizeof(path));
    assert_int_equal(pleat_mailbox_open(path, &pair->application, &err), 0);
    assert_int_equal(pipe2(pair->bell, O_CLOEXEC | O_NONBLOCK), 0);
    for (uint32_t rank = 0; rank < 2; rank++)
        assert_int_equal(pleat_mailbox_attach(pair->application, rank, 0, rank ? -1 : pair->bell[1],
                                              &pair->ranks[rank]),
                         0);
    assert_int_equal(pleat_mailbox_set_size(&pair->ranks[0], 2), 0);
}

static void pair_close(struct pair *pair)
{
    pleat_mailbox_close(pair->agent);
    pleat_mailbox_close(pair->application);
    close(pair->fd);
    close(pair->bell[0]);
    close(pair->bell[1]);
}

static struct pleat_mailbox_status status_of(const struct pair *pair)
{
    struct pleat_mailbox_status status;
    pleat_mailbox_status(pair->agent, &status);
    return status;
}

static int rings(const struct pair *pair)
{
    char bytes[16];
    ssize_t got = read(pair->bell[0], bytes, sizeof(bytes));
    return got > 0 ? (int)got : 0;
}

static void test_limits(void **state)
{
    (void)state;
    struct pleat_mailbox *mailbox;
    struct pleat_error err = {0};
    int fd;
    assert_int_equal(pleat_mailbox_create(0, &mailbox, &fd, &err), PLEAT_E_INVALID);
    assert_int_equal(pleat_mailbox_create(65537, &mailbox, &fd, &err), PLEAT_E_INVALID);
    assert_non_null(strstr(err.text, "65536"));
    assert_int_equal(pleat_mailbox_create(65536, &mailbox, &fd, &err), 0);
    pleat_mailbox_close(mailbox);
    close(fd);
    pleat_mailbox_close(NULL);
}

static void test_a_grow_from_post_to_acknowledge(void **state)
{
    (void)state;
    struct pair pair;
    pair_open(&pair);
    assert_true(status_of(&pair).attached);
    assert_int_equal(status_of(&pair).size, 2);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pleat_mailbox_arrive(&pair.ranks[0]), PLEAT_ARRIVAL_QUIET);
    assert_int_equal(pleat_mailbox_arrive(&pair.ranks[1]), PLEAT_ARRIVAL_QUIET);
    assert_int_equal(status_of(&pair).iteration, 1);

    assert_int_equal(pleat_mailbox_post(pair.agent, &grow), 0);
    assert_int_equal(pleat_mailbox_post(pair.agent, &grow), PLEAT_E_BUSY);
    assert_int_equal(pleat_mailbox_ask(pair.agent, &grow), PLEAT_E_BUSY);
    assert_int_equal(status_of(&pair).phase, PLEAT_MAILBOX_POSTED);
    /* Rank 0 has done 3, so it happens at 4; rank 1 passes 2 and 3 undisturbed. */
    assert_int_equal(pleat_mailbox_arrive(&pair.ranks[1]), PLEAT_ARRIVAL_QUIET);
    assert_int_equal(pleat_mailbox_arrive(&pair.ranks[0]), PLEAT_ARRIVAL_ENTER);
    assert_int_equal(status_of(&pair).phase, PLEAT_MAILBOX_ENTERED);
    assert_int_equal(pleat_mailbox_withdraw(pair.agent), PLEAT_E_STATE);
    assert_int_equal(pleat_mailbox_arrive(&pair.ranks[1]), PLEAT_ARRIVAL_QUIET);
    assert_int_equal(pleat_mailbox_arrive(&pair.ranks[1]), PLEAT_ARRIVAL_ENTER);

    struct pleat_mailbox_request request;
    assert_int_equal(pleat_mailbox_request(&pair.ranks[1], &request), 0);
    assert_int_equal(request.resize, 7);
    assert_int_equal(request.target, 4);
    assert_false(request.relaunch);
    struct pleat_mailbox_rank joiner;
    uint64_t entered;
    assert_int_equal(pleat_mailbox_entered(pair.application, &entered), 0);
    assert_int_equal(entered, 4);
    assert_int_equal(pleat_mailbox_attach(pair.application, 2, entered, -1, &joiner), 0);
    /* Ranks that are through before rank 0 says so must not enter twice. */
    assert_int_equal(pleat_mailbox_arrive(&joiner), PLEAT_ARRIVAL_QUIET);
    assert_int_equal(pleat_mailbox_arrive(&pair.ranks[1]), PLEAT_ARRIVAL_QUIET);

    const struct pleat_mailbox_cost cost = {
        .save_ns = 10, .processes_ns = 11, .redistribute_ns = 12, .total_ns = 13, .bytes = 14};
    assert_int_equal(rings(&pair), 0);
    pleat_mailbox_applied(&pair.ranks[0], 2, 3, &cost, "not saved");
    assert_int_equal(rings(&pair), 1);
    struct pleat_mailbox_status status = status_of(&pair);
    assert_int_equal(status.phase, PLEAT_MAILBOX_APPLIED);
    assert_int_equal(status.size, 3);
    assert_int_equal(status.cost.save_ns, 10);
    assert_int_equal(status.cost.processes_ns, 11);
    assert_int_equal(status.cost.redistribute_ns, 12);
    assert_int_equal(status.cost.load_ns, 0);
    assert_int_equal(status.cost.total_ns, 13);
    assert_int_equal(status.cost.bytes, 14);
    char text[64];
    pleat_mailbox_failure(pair.agent, text, sizeof(text));
    assert_string_equal(text, "not saved");
    assert_int_equal(pleat_mailbox_post(pair.agent, &grow), PLEAT_E_BUSY);
    pleat_mailbox_acknowledge(pair.agent);
    assert_int_equal(status_of(&pair).phase, PLEAT_MAILBOX_IDLE);
    assert_int_equal(pleat_mailbox_post(pair.agent, &grow), 0);
    pair_close(&pair);
}

static void test_a_relaunch_ends_one_world_and_begins_another(void **state)
{
    (void)state;
    const struct pleat_mailbox_request relaunch = {.resize = 9, .target = 5, .relaunch = true};
    struct pair pair;
    pair_open(&pair);
    pleat_mailbox_begun(&pair.ranks[0], NULL);
    assert_int_equal(rings(&pair), 1);
    assert_true(status_of(&pair).begun);
    assert_false(status_of(&pair).loaded);
    assert_int_equal(pleat_mailbox_post(pair.agent, &relaunch), 0);
    for (int rank = 1; rank >= 0; rank--)
        assert_int_equal(pleat_mailbox_arrive(&pair.ranks[rank]), PLEAT_ARRIVAL_ENTER);
    struct pleat_mailbox_request request;
    assert_int_equal(pleat_mailbox_request(&pair.ranks[1], &request), 0);
    assert_int_equal(request.target, 5);
    assert_true(request.relaunch);
    const struct pleat_mailbox_cost saved = {.save_ns = 21, .total_ns = 22, .bytes = 23};
    pleat_mailbox_saved(&pair.ranks[0], 2, &saved);
    assert_int_equal(rings(&pair), 1);
    struct pleat_mailbox_status status = status_of(&pair);
    assert_int_equal(status.phase, PLEAT_MAILBOX_SAVED);
    assert_int_equal(status.size, 2);
    assert_int_equal(status.cost.save_ns, 21);
    assert_int_equal(status.cost.bytes, 23);
    /* Nothing more comes of this mailbox. */
    assert_int_equal(pleat_mailbox_withdraw(pair.agent), PLEAT_E_STATE);
    assert_int_equal(pleat_mailbox_post(pair.agent, &grow), PLEAT_E_BUSY);
    pleat_mailbox_acknowledge(pair.agent);
    assert_int_equal(status_of(&pair).phase, PLEAT_MAILBOX_SAVED);
    assert_int_equal(pleat_mailbox_arrive(&pair.ranks[0]), PLEAT_ARRIVAL_QUIET);
    pair_close(&pair);

    /* The new world counts on from the state's iteration; a request may be there before it begins.
     */
    pair_open(&pair);
    for (uint32_t rank = 0; rank < 2; rank++)
        assert_int_equal(pleat_mailbox_attach(pair.application, rank, 1000, -1, &pair.ranks[rank]),
                         0);
    assert_int_equal(pleat_mailbox_post(pair.agent, &grow), 0);
    assert_false(status_of(&pair).begun);
    const struct pleat_mailbox_cost loaded = {.load_ns = 31, .total_ns = 31, .bytes = 23};
    pleat_mailbox_begun(&pair.ranks[0], &loaded);
    status = status_of(&pair);
    assert_true(status.begun && status.loaded);
    assert_int_equal(status.cost.load_ns, 31);
    assert_int_equal(status.iteration, 1000);
    assert_int_equal(pleat_mailbox_arrive(&pair.ranks[0]), PLEAT_ARRIVAL_ENTER);
    assert_int_equal(pleat_mailbox_arrive(&pair.ranks[1]), PLEAT_ARRIVAL_ENTER);
    pair_close(&pair);
}

/* A process for each rank that waits, which exits with 0 when it may begin from generation 3. */
static pid_t waiting_rank(struct pair *pair, uint32_t rank)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    (void)pleat_mailbox_wait_for(&pair->ranks[rank], PLEAT_NO_LIMIT);
    _exit(rank || pleat_mailbox_take_resume(pair->application) == 3 ? 0 : 1);
}

static void test_a_world_that_waits_for_the_state(void **state)
{
    (void)state;
    struct pair pair;
    pair_open(&pair);
    assert_true(status_of(&pair).waits);
    assert_int_equal(pleat_mailbox_claim(pair.application), 0);
    pair_close(&pair);

    pair_open(&pair);
    pleat_mailbox_hold(pair.agent);
    assert_int_equal(pleat_mailbox_claim(pair.application), 1);
    /* only one program can take over */
    assert_int_equal(pleat_mailbox_claim(pair.application), PLEAT_E_BUSY);
    assert_int_equal(status_of(&pair).waiting, 0);
    pid_t pids[2] = {waiting_rank(&pair, 0), -1};
    while (status_of(&pair).waiting != 1)
        usleep(100);
    assert_true(pids[0] > 0);
    int status = 0;
    pids[1] = waiting_rank(&pair, 1);
    while (status_of(&pair).waiting != 2)
        usleep(100);
    /* rank 0 rings before it sleeps */
    while (!rings(&pair))
        usleep(100);
    for (int rank = 0; rank < 2; rank++)
        assert_int_equal(waitpid(pids[rank], &status, WNOHANG), 0);
    pleat_mailbox_go(pair.agent, 3);
    for (int rank = 0; rank < 2; rank++) {
        assert_int_equal(waitpid(pids[rank], &status, 0), pids[rank]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(status_of(&pair).waiting, 0);
    /* who comes to the wait now does not sleep */
    (void)pleat_mailbox_wait_for(&pair.ranks[1], PLEAT_NO_LIMIT);
    pair_close(&pair);
}

/* Who leaves sleeps until those that take over compute. */
static void test_dismissed_when_others_compute(void **state)
{
    (void)state;
    struct pair pair;
    struct pleat_mailbox_request request = {.resize = 1, .target = 1, .beside = true};
    pair_open(&pair);
    assert_int_equal(pleat_mailbox_post(pair.agent, &request), 0);
    assert_int_equal(pleat_mailbox_request(&pair.ranks[1], &request), 0);
    assert_false(request.beside); /* it is for relaunches only */
    assert_int_equal(pleat_mailbox_withdraw(pair.agent), 0);
    request =
        (struct pleat_mailbox_request){.resize = 2, .target = 1, .relaunch = true, .beside = true};
    assert_int_equal(pleat_mailbox_post(pair.agent, &request), 0);
    assert_int_equal(pleat_mailbox_request(&pair.ranks[1], &request), 0);
    assert_true(request.beside);
    assert_false(pleat_mailbox_await_dismissal(&pair.ranks[1], 2000000));
    pid_t pid = fork();
    if (pid == 0)
        _exit(pleat_mailbox_await_dismissal(&pair.ranks[0], 60 * (int64_t)1000000000) ? 0 : 1);
    int status = 1;
    usleep(20000);
    assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
    pleat_mailbox_dismiss(pair.agent);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    pair_close(&pair);
}

static void test_a_world_that_cannot_begin(void **state)
{
    (void)state;
    struct pair pair;
    char text[64];
    pair_open(&pair);
    pleat_mailbox_cannot_begin(&pair.ranks[0], "other rows");
    assert_int_equal(rings(&pair), 1);
    pleat_mailbox_failure(pair.agent, text, sizeof(text));
    assert_string_equal(text, "other rows");
    assert_false(status_of(&pair).begun);
    assert_int_equal(status_of(&pair).phase, PLEAT_MAILBOX_IDLE);
    pair_close(&pair);
}

/* What failed half-way is no resize that failed with nothing changed. */
static void test_a_resize_that_breaks_stays_entered(void **state)
{
    (void)state;
    struct pair pair;
    char text[64];
    pair_open(&pair);
    assert_int_equal(pleat_mailbox_post(pair.agent, &grow), 0);
    assert_int_equal(pleat_mailbox_arrive(&pair.ranks[0]), PLEAT_ARRIVAL_ENTER);
    assert_int_equal(pleat_mailbox_arrive(&pair.ranks[1]), PLEAT_ARRIVAL_ENTER);
    pleat_mailbox_broken(&pair.ranks[0], "lost a rank");
    assert_int_equal(rings(&pair), 1);
    pleat_mailbox_failure(pair.agent, text, sizeof(text));
    assert_string_equal(text, "lost a rank");
    assert_int_equal(status_of(&pair).phase, PLEAT_MAILBOX_ENTERED);
    assert_int_equal(pleat_mailbox_withdraw(pair.agent), PLEAT_E_STATE);
    pair_close(&pair);
}

static void test_an_offer_is_answered_by_rank_0(void **state)
{
    (void)state;
    struct pair pair;
    pair_open(&pair);
    assert_int_equal(pleat_mailbox_ask(pair.agent, &grow), 0);
    assert_int_equal(pleat_mailbox_arrive(&pair.ranks[1]), PLEAT_ARRIVAL_QUIET);
    assert_int_equal(pleat_mailbox_arrive(&pair.ranks[0]), PLEAT_ARRIVAL_ANSWER);
    pleat_mailbox_answer(&pair.ranks[0], 3);
    assert_int_equal(rings(&pair), 1);
    assert_int_equal(status_of(&pair).phase, PLEAT_MAILBOX_ANSWERED);
    assert_int_equal(status_of(&pair).accepted, 3);
    assert_int_equal(pleat_mailbox_arrive(&pair.ranks[0]), PLEAT_ARRIVAL_QUIET);
    pleat_mailbox_acknowledge(pair.agent);
    /* An offer taken back before it was answered: the answer comes too late and changes nothing. */
    assert_int_equal(pleat_mailbox_ask(pair.agent, &grow), 0);
    assert_int_equal(pleat_mailbox_arrive(&pair.ranks[0]), PLEAT_ARRIVAL_ANSWER);
    assert_int_equal(pleat_mailbox_withdraw(pair.agent), 0);
    pleat_mailbox_answer(&pair.ranks[0], 3);
    assert_int_equal(status_of(&pair).phase, PLEAT_MAILBOX_IDLE);
    pair_close(&pair);
}

static void test_failure_withdrawal_and_finish(void **state)
{
    (void)state;
    struct pair pair;
    pair_open(&pair);
    assert_int_equal(pleat_mailbox_withdraw(pair.agent), PLEAT_E_STATE);
    assert_int_equal(pleat_mailbox_post(pair.agent, &grow), 0);
    assert_int_equal(pleat_mailbox_withdraw(pair.agent), 0);
    assert_int_equal(pleat_mailbox_arrive(&pair.ranks[0]), PLEAT_ARRIVAL_QUIET);
    assert_int_equal(pleat_mailbox_arrive(&pair.ranks[1]), PLEAT_ARRIVAL_QUIET);
    assert_int_equal(pleat_mailbox_post(pair.agent, &grow), 0);
    assert_int_equal(pleat_mailbox_arrive(&pair.ranks[0]), PLEAT_ARRIVAL_ENTER);
    pleat_mailbox_failed(&pair.ranks[0], "no room\n");
    assert_int_equal(status_of(&pair).phase, PLEAT_MAILBOX_FAILED);
    assert_int_equal(status_of(&pair).size, 2);
    char text[64];
    pleat_mailbox_failure(pair.agent, text, sizeof(text));
    assert_string_equal(text, "no room?");
    pleat_mailbox_failure(pair.agent, text, 4);
    assert_string_equal(text, "no ");
    assert_false(status_of(&pair).finished);
    pleat_mailbox_finish(&pair.ranks[0]);
    assert_true(status_of(&pair).finished);
    pair_close(&pair);
}

static void test_requests_are_checked(void **state)
{
    (void)state;
    struct pair pair;
    pair_open(&pair);
    struct pleat_mailbox_request request = {.resize = 1, .target = 0};
    assert_int_equal(pleat_mailbox_post(pair.agent, &request), PLEAT_E_INVALID);
    request.target = 9;
    assert_int_equal(pleat_mailbox_post(pair.agent, &request), PLEAT_E_TOOBIG);
    assert_int_equal(pleat_mailbox_ask(pair.agent, &request), PLEAT_E_TOOBIG);
    assert_int_equal(pleat_mailbox_attach(pair.application, 8, 0, -1, &pair.ranks[1]),
                     PLEAT_E_TOOBIG);
    assert_int_equal(pleat_mailbox_set_size(&pair.ranks[0], 9), PLEAT_E_TOOBIG);
    pair_close(&pair);
}

static void test_times_and_pids(void **state)
{
    (void)state;
    struct pair pair;
    pair_open(&pair);
    assert_int_equal(status_of(&pair).iteration_ns, 0);
    pleat_mailbox_publish(&pair.ranks[0], 3000, 3);
    assert_int_equal(status_of(&pair).iteration_ns, 1000);
    assert_int_equal(status_of(&pair).grid, 0);
    pleat_mailbox_publish(&pair.ranks[0], 0, 0);
    pleat_mailbox_publish_grid(&pair.ranks[0], UINT64_C(0x30002));
    assert_int_equal(status_of(&pair).grid, 0); /* of no iteration yet */
    pleat_mailbox_publish(&pair.ranks[0], 500, 1);
    assert_int_equal(status_of(&pair).grid, UINT64_C(0x30002));
    assert_int_equal(status_of(&pair).iterations, 1);
    int32_t pids[16];
    assert_int_equal(pleat_mailbox_pids(pair.agent, 1, 16, pids), 7);
    assert_int_equal(pids[0], getpid());
    assert_int_equal(pids[1], 0);
    assert_int_equal(pleat_mailbox_pids(pair.agent, 8, 16, pids), 0);
    assert_int_equal(pleat_mailbox_pids(pair.agent, UINT32_MAX, UINT32_MAX, pids), 0);
    pair_close(&pair);
}

/* The application can write anything into the segment: no value may lead out of it. */
static void test_scribbled_segments(void **state)
{
    (void)state;
    struct pair pair;
    pair_open(&pair);
    size_t bytes = sizeof(struct pleat_mailbox_segment) + 8 * sizeof(struct pleat_mailbox_slot);
    unsigned char *raw = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, pair.fd, 0);
    assert_true(raw != MAP_FAILED);
    for (unsigned fill = 0; fill < 256; fill++) {
        memset(raw, (int)fill, bytes);
        struct pleat_mailbox_status status = status_of(&pair);
        assert_in_range(status.size, 0, 8);
        assert_in_range(status.accepted, 0, 8);
        char text[512];
        pleat_mailbox_failure(pair.agent, text, sizeof(text));
        assert_in_range(strlen(text), 0, 191);
        int32_t pids[8];
        assert_int_equal(pleat_mailbox_pids(pair.agent, 0, 8, pids), 8);
        for (int i = 0; i < 8; i++)
            assert_true(pids[i] >= 0);
        int code = pleat_mailbox_post(pair.agent, &grow);
        assert_true(code == 0 || code == PLEAT_E_BUSY);
        code = pleat_mailbox_arrive(&pair.ranks[0]);
        assert_true(code == PLEAT_ARRIVAL_QUIET || code == PLEAT_ARRIVAL_ANSWER ||
                    code == PLEAT_ARRIVAL_ENTER || code == PLEAT_E_CORRUPT);
        struct pleat_mailbox_request request;
        code = pleat_mailbox_request(&pair.ranks[0], &request);
        assert_true(code == PLEAT_E_CORRUPT || (request.target >= 1 && request.target <= 8));
        code = pleat_mailbox_withdraw(pair.agent);
        assert_true(code == 0 || code == PLEAT_E_STATE);
        pleat_mailbox_acknowledge(pair.agent);
    }
    munmap(raw, bytes);
    pair_close(&pair);
}

static int open_fd(int fd, struct pleat_error *err)
{
    struct pleat_mailbox *mailbox = NULL;
    char path[64];
    path_of(fd, path, sizeof(path));
    int code = pleat_mailbox_open(path, &mailbox, err);
    pleat_mailbox_close(mailbox);
    return code;
}

/* A memfd of `bytes` with the given header, sealed or not; the result of opening it. */
static int open_made(size_t bytes, const struct pleat_mailbox_segment *header, bool sealed)
{
    int fd = memfd_create("segment", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
    size_t part = bytes < sizeof(*header) ? bytes : sizeof(*header);
    assert_int_equal(pwrite(fd, header, part, 0), part);
    if (sealed)
        assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
    struct pleat_error err = {0};
    int code = open_fd(fd, &err);
    assert_true(code == 0 || (err.code == code && err.text[0]));
    close(fd);
    return code;
}

static void test_bad_segments_are_refused(void **state)
{
    (void)state;
    static struct pleat_mailbox_segment good;
    good.header.magic = PLEAT_MAILBOX_MAGIC;
    good.header.version = PLEAT_MAILBOX_VERSION;
    good.header.count = 4;
    const size_t whole = sizeof(good) + 4 * sizeof(struct pleat_mailbox_slot);
    assert_int_equal(open_made(whole, &good, true), 0);
    assert_int_equal(open_made(whole, &good, false), PLEAT_E_CORRUPT);
    assert_int_equal(open_made(whole - 1, &good, true), PLEAT_E_CORRUPT);
    assert_int_equal(open_made(16, &good, true), PLEAT_E_CORRUPT);
    assert_int_equal(open_made(64 << 20, &good, true), PLEAT_E_CORRUPT);
    good.header.count = 0;
    assert_int_equal(open_made(whole, &good, true), PLEAT_E_CORRUPT);
    good.header.count = UINT32_MAX;
    assert_int_equal(open_made(whole, &good, true), PLEAT_E_CORRUPT);
    good.header.count = 4;
    good.header.version = PLEAT_MAILBOX_VERSION + 1;
    assert_int_equal(open_made(whole, &good, true), PLEAT_E_UNSUPPORTED);
    assert_int_equal(open_made(sizeof(good.header), &good, true), PLEAT_E_UNSUPPORTED);
    assert_int_equal(open_made(64 << 20, &good, true), PLEAT_E_UNSUPPORTED);
    good.header.version = PLEAT_MAILBOX_VERSION;
    good.header.magic++;
    assert_int_equal(open_made(whole, &good, true), PLEAT_E_CORRUPT);

    struct pleat_mailbox *mailbox;
    struct pleat_error err = {0};
    assert_int_equal(pleat_mailbox_open("/proc/self/exe", &mailbox, &err), PLEAT_E_SYSTEM);
    assert_int_equal(pleat_mailbox_open("/nowhere", &mailbox, &err), PLEAT_E_SYSTEM);
    assert_int_equal(pleat_mailbox_open("/dev/null", &mailbox, &err), PLEAT_E_CORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_a_grow_from_post_to_acknowledge),
        cmocka_unit_test(test_a_relaunch_ends_one_world_and_begins_another),
        cmocka_unit_test(test_a_world_that_waits_for_the_state),
        cmocka_unit_test(test_dismissed_when_others_compute),
        cmocka_unit_test(test_a_world_that_cannot_begin),
        cmocka_unit_test(test_a_resize_that_breaks_stays_entered),
        cmocka_unit_test(test_an_offer_is_answered_by_rank_0),
        cmocka_unit_test(test_failure_withdrawal_and_finish),
        cmocka_unit_test(test_requests_are_checked),
        cmocka_unit_test(test_times_and_pids),
        cmocka_unit_test(test_scribbled_segments),
        cmocka_unit_test(test_bad_segments_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
