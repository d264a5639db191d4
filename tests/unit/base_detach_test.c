/* What is shed of a job's environment; limits as a text. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/detach.h"
#include "base/limits.h"
#include "base/rank_env.h"

static void test_environment(void **state)
{
    (void)state;
    char *const inside[] = {(char[]){"PLEAT_RUN=abc:7"},
                            (char[]){"PATH=/bin"},
                            (char[]){"PLEAT_DIR=/d"},
                            (char[]){"PLEAT_TEST_CRASH_AFTER=3"},
                            (char[]){"PLEATED=kept"},
                            (char[]){"OMPI_COMM_WORLD_RANK=0"},
                            (char[]){"PMIX_RANK=0"},
                            (char[]){"PMI_FD=9"},
                            (char[]){"LD_PRELOAD=/a.so:/x/libpleat-fold-mpich.so /b.so"},
                            (char[]){"EMPTY="},
                            NULL};
    static const char *const left[] = {
        "PATH=/bin",    "PLEAT_DIR=/d",           "PLEAT_TEST_CRASH_AFTER=3",
        "PLEATED=kept", "LD_PRELOAD=/a.so:/b.so", "EMPTY="};
    char *preload;
    bool changed;
    char **made = pleat_detach_environment(inside, &preload, &changed);
    assert_non_null(made);
    assert_true(changed && pleat_detach_is_inside(inside));
    for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
        assert_string_equal(made[i], left[i]);
    assert_null(made[sizeof(left) / sizeof(left[0])]);
    char *preload_again;
    char **again = pleat_detach_environment(made, &preload_again, &changed);
    assert_false(changed || preload_again || pleat_detach_is_inside(again));
    free(again);
    free(preload);
    free(made);

    char *const alone[] = {(char[]){"LD_PRELOAD=libpleat-fold.so"}, NULL};
    made = pleat_detach_environment(alone, &preload, &changed);
    assert_true(changed);
    assert_null(made[0]);
    free(preload);
    free(made);
}

static void test_ranks(void **state)
{
    (void)state;
    char *const rank[] = {(char[]){"PATH=/bin"}, (char[]){"PMI_RANK=0"}, NULL};
    char *const none[] = {(char[]){"OMPI_MCA_btl=self"}, (char[]){"PMI_RANKS=0"}, NULL};
    assert_true(pleat_rank_env_is_rank(rank));
    assert_false(pleat_rank_env_is_rank(none));
    static const char *const theirs[] = {
        "OMPI_MCA_pml=ob1",  "PMIX_RANK=0",       "PMI_FD=3",      "MPIR_CVAR_X=1",
        "HYDI_CONTROL_FD=3", "MPI_LOCALRANKID=0", "PRTE_X=1",      "SLURM_PROCID=0",
        "HYDRA_RMK=user",    "PMI2_X=1",          "PE_HOSTFILE=/x"};
    static const char *const others[] = {"MPICH_ASYNC_PROGRESS=1",
                                         "OMP_NUM_THREADS=2",
                                         "UCX_TLS=all",
                                         "PATH=/bin",
                                         "SLURMED=1",
                                         "MPI=openmpi"};
    for (size_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++)
        assert_true(pleat_rank_env_is(theirs[i]));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(pleat_rank_env_is(others[i]));
    const char *both = "LD_PRELOAD=/x/libpleat-loopback.so:/own.so:/x/libpleat-fold-openmpi.so";
    assert_true(pleat_rank_env_preloads(both));
    assert_false(pleat_rank_env_preloads("LD_PRELOAD=/own.so"));
    assert_false(pleat_rank_env_preloads("X=libpleat-fold"));
    char *kept = pleat_rank_env_preload(both);
    assert_string_equal(kept, "LD_PRELOAD=/own.so");
    free(kept);
}

static void test_no_agent(void **state)
{
    (void)state;
    static const char *const dead[] = {"", "x", "1:1", "99999999:5", "-3:1"};
    for (size_t i = 0; i < sizeof(dead) / sizeof(dead[0]); i++) {
        setenv("PLEAT_AGENT_PID", dead[i], 1);
        assert_int_equal(pleat_detach_agent(), 0);
    }
    unsetenv("PLEAT_AGENT_PID");
}

static void test_limits_text(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "nofile",     "nofile=",     "nofile=1",   "nofile=1:",
        "nofile=2:1", "nofile=-1:2", "files=1:2",  "nofile=1:2,core=0:0",
        "=1:2",       "nofile=1:2x", "nofile=*:5", " nofile=1:2"};
    struct pleat_limits limits, again;
    struct pleat_string text = {0};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(pleat_limits_parse(wrong[i], &limits, NULL), PLEAT_E_INVALID);
    assert_int_equal(pleat_limits_parse("core=0:* nofile=1024:4096", &limits, NULL), 0);
    assert_int_equal(limits.values[RLIMIT_CORE].rlim_cur, 0);
    assert_true(limits.values[RLIMIT_CORE].rlim_max == RLIM_INFINITY);
    assert_true(limits.values[RLIMIT_AS].rlim_cur == RLIM_INFINITY);
    pleat_limits_text(&limits, &text);
    assert_string_equal(text.text, "core=0:* nofile=1024:4096");
    pleat_string_finish(&text);

    pleat_limits_here(&limits);
    pleat_limits_text(&limits, &text);
    assert_true(text.length < PLEAT_LIMITS_TEXT_MAX);
    assert_int_equal(pleat_limits_parse(text.text ? text.text : "", &again, NULL), 0);
    assert_memory_equal(&limits, &again, sizeof(limits));
    assert_int_equal(pleat_limits_set(&again), 0);
    pleat_string_finish(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_no_agent),
        cmocka_unit_test(test_limits_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
