/* What the server answers to processes that speak PMI-1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "pmi/server.h"

/* Says all of `text`; the outcome of its last part. */
static enum pleat_pmi_outcome say(struct pleat_pmi *pmi, uint32_t rank, const char *text,
                                  const char *expected)
{
    struct pleat_string answer = {0};
    enum pleat_pmi_outcome outcome = PLEAT_PMI_GOES_ON;
    size_t count = strlen(text);
    for (size_t at = 0, used; at < count; at += used) {
        outcome = pleat_pmi_take(pmi, rank, text + at, count - at, &used, &answer);
        assert_true(used > 0 && used <= count - at);
    }
    assert_string_equal(answer.text ? answer.text : "", expected);
    pleat_string_finish(&answer);
    return outcome;
}

/* What MPICH 4.0.2 says in MPI_Init and MPI_Finalize, and what it is answered. */
static void test_a_program(void **state)
{
    (void)state;
    struct pleat_pmi *pmi = pleat_pmi_new(2, "kvs");
    assert_int_equal(pleat_pmi_life(pmi, 0), PLEAT_PMI_SILENT);
    for (uint32_t rank = 0; rank < 2; rank++) {
        say(pmi, rank, "cmd=init pmi_version=1 pmi_subversion=1\n",
            "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n");
        say(pmi, rank, "cmd=get_maxes\n",
            "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=900\n");
        say(pmi, rank, "cmd=get_appnum\n", "cmd=appnum appnum=0\n");
        say(pmi, rank, "cmd=get_my_kvsname\n", "cmd=my_kvsname kvsname=kvs\n");
        say(pmi, rank, "cmd=get kvsname=kvs key=PMI_process_mapping\n",
            "cmd=get_result rc=0 msg=success value=(vector,(0,1,2))\n");
        assert_int_equal(pleat_pmi_life(pmi, rank), PLEAT_PMI_JOINED);
    }
    say(pmi, 0, "cmd=put kvsname=kvs key=-bcast-1-0 value=2F64\n",
        "cmd=put_result rc=0 msg=success\n");
    assert_int_equal(say(pmi, 0, "cmd=barrier_in\n", ""), PLEAT_PMI_GOES_ON);
    assert_int_equal(say(pmi, 1, "cmd=barrier_in\n", ""), PLEAT_PMI_RELEASES);
    say(pmi, 1, "cmd=get kvsname=kvs key=-bcast-1-0\n",
        "cmd=get_result rc=0 msg=success value=2F64\n");
    say(pmi, 1, "cmd=get kvsname=kvs key=-bcast-1\n",
        "cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
    say(pmi, 1, "cmd=get_universe_size\n", "cmd=universe_size size=-1\n");
    assert_int_equal(say(pmi, 1, "cmd=barrier_in\n", ""), PLEAT_PMI_GOES_ON);
    assert_int_equal(say(pmi, 0, "cmd=barrier_in\n", ""), PLEAT_PMI_RELEASES);
    say(pmi, 0, "cmd=finalize\n", "cmd=finalize_ack\n");
    assert_int_equal(pleat_pmi_life(pmi, 0), PLEAT_PMI_FINISHED);
    assert_int_equal(pleat_pmi_life(pmi, 1), PLEAT_PMI_JOINED);
    assert_false(pleat_pmi_refused(pmi));
    pleat_pmi_free(pmi);
}

static void test_begun_again(void **state)
{
    (void)state;
    struct pleat_pmi *pmi = pleat_pmi_new(1, "kvs");
    say(pmi, 0,
        "cmd=init\ncmd=put key=a value=1\ncmd=finalize\ncmd=init\ncmd=put key=a value=22\n"
        "cmd=get key=a\n",
        "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\ncmd=put_result rc=0 "
        "msg=success\n"
        "cmd=finalize_ack\ncmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"
        "cmd=put_result rc=0 msg=success\ncmd=get_result rc=0 msg=success value=22\n");
    assert_int_equal(pleat_pmi_life(pmi, 0), PLEAT_PMI_JOINED);
    pleat_pmi_free(pmi);
}

static void test_abort(void **state)
{
    (void)state;
    struct pleat_pmi *pmi = pleat_pmi_new(2, "kvs");
    assert_int_equal(say(pmi, 1, "cmd=abort exitcode=7\n", ""), PLEAT_PMI_ABORTS);
    assert_int_equal(pleat_pmi_abort_code(pmi), 7);
    pleat_pmi_free(pmi);
}

static void test_refused(void **state)
{
    (void)state;
    struct pleat_pmi *pmi = pleat_pmi_new(1, "kvs");
    say(pmi, 0, "mcmd=spawn\nnprocs=2\nexecname=a\ncmd=finalize\nendcmd\n",
        "cmd=spawn_result info=not_supported rc=-1 msg=not_supported\n");
    assert_true(pleat_pmi_refused(pmi));
    assert_int_equal(pleat_pmi_life(pmi, 0), PLEAT_PMI_SILENT); /* that was no command */
    say(pmi, 0, "cmd=publish_name service=s port=p\n",
        "cmd=publish_result info=not_supported rc=-1 msg=not_supported\n");
    pleat_pmi_free(pmi);
}

static void test_nonsense(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "\n", "hello\n", "cmd=\n", "cmd=gut\n", "GET / HTTP/1.1\r\n", " cmd=init\n"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct pleat_pmi *pmi = pleat_pmi_new(2, "kvs");
        assert_int_equal(say(pmi, 0, bad[i], ""), PLEAT_PMI_NONSENSE);
        pleat_pmi_free(pmi);
    }
    struct pleat_pmi *pmi = pleat_pmi_new(2, "kvs");
    struct pleat_string answer = {0};
    size_t used;
    assert_int_equal(pleat_pmi_take(pmi, 0, "cmd=in\0it\n", 10, &used, &answer),
                     PLEAT_PMI_NONSENSE);
    /* twice in one barrier */
    assert_int_equal(say(pmi, 1, "cmd=barrier_in\n", ""), PLEAT_PMI_GOES_ON);
    assert_int_equal(say(pmi, 1, "cmd=barrier_in\n", ""), PLEAT_PMI_NONSENSE);
    pleat_pmi_free(pmi);
    pleat_string_finish(&answer);
}

static void test_limits(void **state)
{
    (void)state;
    struct pleat_pmi *pmi = pleat_pmi_new(1, "kvs");
    char line[PLEAT_PMI_LINE_MAX + 2];
    snprintf(line, sizeof(line), "cmd=put key=%070d value=1\n", 1);
    say(pmi, 0, line, "cmd=put_result rc=-1 msg=key_length\n");
    snprintf(line, sizeof(line), "cmd=put key=a value=%0901d\n", 1);
    say(pmi, 0, line, "cmd=put_result rc=-1 msg=value_length\n");
    memset(line, 'x', sizeof(line));
    line[sizeof(line) - 1] = '\0';
    assert_int_equal(say(pmi, 0, line, ""), PLEAT_PMI_GOES_ON); /* of the byte that is left over */
    struct pleat_string answer = {0};
    size_t used;
    pleat_pmi_free(pmi);
    pmi = pleat_pmi_new(1, "kvs");
    assert_int_equal(pleat_pmi_take(pmi, 0, line, sizeof(line) - 1, &used, &answer),
                     PLEAT_PMI_NONSENSE);
    assert_int_equal(used, PLEAT_PMI_LINE_MAX);
    pleat_string_finish(&answer);
    /* all that is kept has a limit, too */
    size_t kept = 0;
    for (int i = 0; kept <= PLEAT_PMI_KEPT_MAX; i++) {
        snprintf(line, sizeof(line), "cmd=put key=k%d value=%0900d\n", i, 1);
        enum pleat_pmi_outcome outcome = pleat_pmi_take(pmi, 0, line, strlen(line), &used, &answer);
        assert_int_equal(outcome, PLEAT_PMI_GOES_ON);
        if (strstr(answer.text, "msg=too_much"))
            break;
        pleat_string_finish(&answer);
        kept += 900;
    }
    assert_true(kept <= PLEAT_PMI_KEPT_MAX);
    pleat_string_finish(&answer);
    pleat_pmi_free(pmi);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_program), cmocka_unit_test(test_begun_again),
        cmocka_unit_test(test_abort),     cmocka_unit_test(test_refused),
        cmocka_unit_test(test_nonsense),  cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
