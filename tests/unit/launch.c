/* What pleat_launch_compose writes for each launcher, and what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "launch/launch.h"

static const char *const app[] = {"./app", "-n", "7", "two words", NULL};

static struct pleat_launch_request request_of(enum pleat_mpi mpi, uint32_t processes)
{
    return (struct pleat_launch_request){.mpi = mpi, .processes = processes, .argv = app};
}

static char *join(char *const *list, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (; *list; list++) {
        int count = snprintf(buffer + used, size - used, "%s%s", used ? "|" : "", *list);
        assert_true(count >= 0 && (size_t)count < size - used);
        used += (size_t)count;
    }
    return buffer;
}

static void expect(const struct pleat_launch_request *request, const char *argv, const char *env)
{
    struct pleat_launch_command command;
    struct pleat_error err;
    char text[1024];
    assert_int_equal(pleat_launch_compose(request, &command, &err), 0);
    assert_string_equal(join(command.argv, text, sizeof(text)), argv);
    assert_null(command.argv[command.argc]);
    assert_string_equal(join(command.env, text, sizeof(text)), env);
    assert_null(command.env[command.env_count]);
    pleat_launch_command_finish(&command);
}

static void expect_refused(const struct pleat_launch_request *request, int code, const char *word)
{
    struct pleat_launch_command command;
    struct pleat_error err = {0};
    assert_int_equal(pleat_launch_compose(request, &command, &err), code);
    assert_int_equal(err.code, code);
    assert_non_null(strstr(err.text, word));
    assert_null(command.argv);
    assert_null(command.env);
    pleat_launch_command_finish(&command);
}

#define OPENMPI                                                                                    \
    "mpirun.openmpi|--oversubscribe|--bind-to|none|--mca|pml|ob1|--mca|btl|vader,self,tcp|"        \
    "--mca|async_mpi_finalize|1|--mca|ras|^slurm,gridengine,tm,lsf,loadleveler,alps|"              \
    "--mca|plm|^slurm,tm,lsf,alps|"
#define APP "./app|-n|7|two words"

static void test_none(void **state)
{
    (void)state;
    struct pleat_launch_request request = request_of(PLEAT_MPI_NONE, 1);
    expect(&request, APP, "");
    static const char *const env[] = {"PATH=/bin", "A=", NULL};
    request.env = env;
    request.is_root = true;
    expect(&request, APP, "PATH=/bin|A=");
    request.processes = 2;
    expect_refused(&request, PLEAT_E_UNSUPPORTED, "not an MPI program");
}

static void test_openmpi(void **state)
{
    (void)state;
    struct pleat_launch_request request = request_of(PLEAT_MPI_OPENMPI, 4);
    expect(&request, OPENMPI "--mca|mpi_yield_when_idle|0|-n|4|" APP, "EVENT_NOEPOLL=1");
    request.oversubscribed = true;
    request.is_root = true;
    expect(&request, OPENMPI "--mca|mpi_yield_when_idle|1|-n|4|" APP,
           "EVENT_NOEPOLL=1|OMPI_ALLOW_RUN_AS_ROOT=1|OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1");
}

static void test_openmpi_env(void **state)
{
    (void)state;
    /* what the user chose stays; what a surrounding mpirun or mpiexec left goes */
    static const char *const env[] = {"EVENT_NOEPOLL=0",
                                      "OMPI_MCA_btl=tcp,self",
                                      "OMPI_MCA_orte_hnp_uri=1.0;tcp://1.2.3.4:5",
                                      "PMIX_RANK=3",
                                      "OMPI_COMM_WORLD_RANK=3",
                                      "OMPI_ARGV=x",
                                      "PMI_FD=7",
                                      "HOME=/h",
                                      NULL};
    struct pleat_launch_request request = request_of(PLEAT_MPI_OPENMPI, 1);
    request.env = env;
    expect(&request,
           "mpirun.openmpi|--oversubscribe|--bind-to|none|--mca|pml|ob1|--mca|async_mpi_finalize|1|"
           "--mca|ras|^slurm,gridengine,tm,lsf,loadleveler,alps|--mca|plm|^slurm,tm,lsf,alps|"
           "--mca|mpi_yield_when_idle|0|-n|1|" APP,
           "OMPI_MCA_btl=tcp,self|HOME=/h|EVENT_NOEPOLL=1");
}

static void test_openmpi_on_loopback(void **state)
{
    (void)state;
    static const struct pleat_launch_node two[] = {{"h1", 4}, {"h2", 2}};
    struct pleat_launch_request request = request_of(PLEAT_MPI_OPENMPI, 2);
    request.loopback = "/lib/loopback.so";
    expect(&request, OPENMPI "--mca|mpi_yield_when_idle|0|-n|2|" APP,
           "EVENT_NOEPOLL=1|LD_PRELOAD=/lib/loopback.so|ASAN_OPTIONS=verify_asan_link_order=0|"
           "UCX_TLS=^tcp");
    /* what the user preloads comes after it, what he tells the sanitizer counts more */
    static const char *const env[] = {"LD_PRELOAD=their.so", "ASAN_OPTIONS=a=1", "UCX_TLS=rc",
                                      NULL};
    request.env = env;
    request.preload = "/lib/fold.so";
    expect(&request,
           OPENMPI "--mca|mpi_yield_when_idle|1|-x|"
                   "LD_PRELOAD=/lib/loopback.so:/lib/fold.so:their.so|-n|2|" APP,
           "UCX_TLS=rc|EVENT_NOEPOLL=1|LD_PRELOAD=/lib/loopback.so:their.so|"
           "ASAN_OPTIONS=verify_asan_link_order=0:a=1");
    /* one that ends early is no matter on one node */
    request.early = "/lib/early.so";
    expect(&request,
           OPENMPI "--mca|mpi_yield_when_idle|1|-x|"
                   "LD_PRELOAD=/lib/loopback.so:/lib/fold.so:their.so|-n|2|" APP,
           "UCX_TLS=rc|EVENT_NOEPOLL=1|LD_PRELOAD=/lib/loopback.so:their.so|"
           "ASAN_OPTIONS=verify_asan_link_order=0:a=1");
    /* others must be able to connect */
    request.nodes = two;
    request.node_count = 2;
    expect(&request,
           OPENMPI "--mca|mpi_yield_when_idle|1|-x|LD_PRELOAD=/lib/early.so:/lib/fold.so:their.so|"
                   "--host|h1:4,h2:2|-n|2|" APP,
           "UCX_TLS=rc|EVENT_NOEPOLL=1|LD_PRELOAD=/lib/early.so:their.so|"
           "ASAN_OPTIONS=verify_asan_link_order=0:a=1");
    request.early = NULL;
    expect(&request,
           OPENMPI "--mca|mpi_yield_when_idle|1|-x|LD_PRELOAD=/lib/fold.so:their.so|"
                   "--host|h1:4,h2:2|-n|2|" APP,
           "LD_PRELOAD=their.so|ASAN_OPTIONS=a=1|UCX_TLS=rc|EVENT_NOEPOLL=1");
}

static void test_mpich(void **state)
{
    (void)state;
    struct pleat_launch_request request = request_of(PLEAT_MPI_MPICH, 3);
    request.is_root = true;
    static const char *const env[] = {"PMI_RANK=0", "MPI_LOCALRANKID=0", "HOME=/h", NULL};
    request.env = env;
    expect(&request, "mpiexec.mpich|-rmk|user|-launcher|fork|-bind-to|none|-n|3|" APP,
           "HOME=/h|UCX_TLS=^tcp");
    request.pmi = "/bin/pleat-pmi";
    expect(&request, "/bin/pleat-pmi|-n|3|--|" APP, "HOME=/h|UCX_TLS=^tcp");
    /* what the user wants UCX to use is used */
    static const char *const theirs[] = {"UCX_TLS=rc,shm", NULL};
    request.env = theirs;
    request.preload = "/lib/fold.so";
    expect(&request, "/bin/pleat-pmi|--preload|/lib/fold.so|-n|3|--|" APP, "UCX_TLS=rc,shm");
}

static void test_several_processors_each(void **state)
{
    (void)state;
    struct pleat_launch_request request = request_of(PLEAT_MPI_OPENMPI, 3);
    request.cpus_per_task = 2;
    request.pmi = "/a b/pleat-pmi";
    expect(&request, OPENMPI "--mca|mpi_yield_when_idle|0|-n|3|/a b/pleat-pmi|--task|2|--|" APP,
           "EVENT_NOEPOLL=1");
    request.mpi = PLEAT_MPI_MPICH;
    expect(&request, "/a b/pleat-pmi|-n|3|--cpus-per-task|2|--|" APP, "UCX_TLS=^tcp");
    request.mpi = PLEAT_MPI_NONE;
    request.processes = 1;
    expect(&request, APP, "");
}

static void test_a_terminal_of_rank_0(void **state)
{
    (void)state;
    struct pleat_launch_request request = request_of(PLEAT_MPI_OPENMPI, 3);
    request.terminal = "/dev/pts/7";
    request.pmi = "/bin/pleat-pmi";
    expect(&request,
           OPENMPI "--mca|mpi_yield_when_idle|0|-n|3|/bin/pleat-pmi|--terminal|/dev/pts/7|--|" APP,
           "EVENT_NOEPOLL=1");
    request.mpi = PLEAT_MPI_MPICH;
    expect(&request, "/bin/pleat-pmi|-n|3|--terminal|/dev/pts/7|--|" APP, "UCX_TLS=^tcp");
}

static void test_preload(void **state)
{
    (void)state;
    struct pleat_launch_request request = request_of(PLEAT_MPI_OPENMPI, 2);
    request.preload = "/lib/fold.so";
    expect(&request, OPENMPI "--mca|mpi_yield_when_idle|1|-x|LD_PRELOAD=/lib/fold.so|-n|2|" APP,
           "EVENT_NOEPOLL=1");
    /* what the user preloads stays, and reaches the launcher as ever; how it waits is no matter of
     * taste any more */
    static const char *const env[] = {"LD_PRELOAD=their.so", "OMPI_MCA_mpi_yield_when_idle=0",
                                      NULL};
    request.env = env;
    expect(&request,
           OPENMPI "--mca|mpi_yield_when_idle|1|-x|LD_PRELOAD=/lib/fold.so:their.so|-n|2|" APP,
           "LD_PRELOAD=their.so|OMPI_MCA_mpi_yield_when_idle=0|EVENT_NOEPOLL=1");
    request.mpi = PLEAT_MPI_MPICH;
    request.env = NULL;
    expect(&request,
           "mpiexec.mpich|-rmk|user|-launcher|fork|-bind-to|none|-genv|LD_PRELOAD|/lib/fold.so|-n|"
           "2|" APP,
           "UCX_TLS=^tcp");
}

static void test_nodes(void **state)
{
    (void)state;
    static const struct pleat_launch_node two[] = {{"h1", 4}, {"h2", 2}};
    static const struct pleat_launch_node here[] = {{NULL, 8}};
    struct pleat_launch_request request = request_of(PLEAT_MPI_OPENMPI, 6);
    request.nodes = two;
    request.node_count = 2;
    expect(&request, OPENMPI "--mca|mpi_yield_when_idle|0|--host|h1:4,h2:2|-n|6|" APP,
           "EVENT_NOEPOLL=1");
    request.mpi = PLEAT_MPI_MPICH;
    expect(&request, "mpiexec.mpich|-rmk|user|-hosts|h1:4,h2:2|-bind-to|none|-n|6|" APP, "");
    /* what the agents of the nodes add to their own environments must not be covered up */
    request.preload = "/lib/fold.so";
    expect(&request,
           "mpiexec.mpich|-rmk|user|-hosts|h1:4,h2:2|-bind-to|none|-genvnone|-genv|LD_PRELOAD|"
           "/lib/fold.so|-n|6|" APP,
           "");
    static const char *const env[] = {"HOME=/h", "PMI_RANK=0", "A=1=2", "a,b=3", NULL};
    request.env = env;
    expect(&request,
           "mpiexec.mpich|-rmk|user|-hosts|h1:4,h2:2|-bind-to|none|-genvlist|HOME,A|-genv|"
           "LD_PRELOAD|/lib/fold.so|-n|6|" APP,
           "HOME=/h|A=1=2|a,b=3");
    request.preload = NULL;
    request.env = NULL;
    request.pmi = "/bin/pleat-pmi"; /* is for one node */
    expect(&request, "mpiexec.mpich|-rmk|user|-hosts|h1:4,h2:2|-bind-to|none|-n|6|" APP, "");
    request.nodes = here;
    request.node_count = 1;
    expect(&request, "/bin/pleat-pmi|-n|6|--|" APP, "UCX_TLS=^tcp");
    request.mpi = PLEAT_MPI_NONE;
    request.processes = 1;
    expect(&request, APP, "");
    request.nodes = two;
    expect_refused(&request, PLEAT_E_UNSUPPORTED, "own node");
}

static void test_a_hook(void **state)
{
    (void)state;
    static const struct pleat_launch_node two[] = {{"n0", 4}, {"n1", 2}};
    struct pleat_launch_request request = request_of(PLEAT_MPI_OPENMPI, 6);
    static const char *const env[] = {"TMPDIR=/t", "OMPI_MCA_plm=slurm", "A=1", NULL};
    request.env = env;
    request.nodes = two;
    request.node_count = 2;
    request.hook = "/bin/pleat-remote";
    request.loopback = "/lib/loopback.so";
    request.scratch = "/dev/shm/s";
    /* no directory is a parameter: mpirun hands those to all nodes */
    static const char words[] =
        "mpirun.openmpi|--oversubscribe|--bind-to|none|--mca|pml|ob1|--mca|btl|vader,self,tcp|"
        "--mca|async_mpi_finalize|1|--mca|ras|^slurm,gridengine,tm,lsf,loadleveler,alps|--mca|"
        "orte_leave_session_attached|1|--mca|plm_rsh_no_tree_spawn|1|--mca|plm|rsh|--mca|"
        "plm_rsh_agent|/bin/pleat-remote|--mca|mpi_yield_when_idle|0|--host|n0:4,n1:2|-n|6|" APP;
    static const char parts[] =
        "A=1|PLEAT_PART_SCRATCH=OMPI_MCA_orte_tmpdir_base,OMPI_MCA_btl_vader_backing_directory|"
        "PLEAT_PART_TMPDIR=/t|TMPDIR=/dev/shm/s|EVENT_NOEPOLL=1";
    char whole[1024];
    expect(&request, words, parts);
    request.one_machine = true;
    snprintf(whole, sizeof(whole),
             "%s|LD_PRELOAD=/lib/loopback.so|ASAN_OPTIONS=verify_asan_link_order=0|UCX_TLS=^tcp",
             parts);
    expect(&request, words, whole);
    request.early = "/lib/early.so"; /* beside the other one, and the user's */
    snprintf(whole, sizeof(whole),
             "%s|UCX_TLS=^tcp|LD_PRELOAD=/lib/loopback.so:/lib/early.so|ASAN_OPTIONS=verify_asan_"
             "link_order=0",
             parts);
    expect(&request, words, whole);
    request.one_machine = false;
    snprintf(whole, sizeof(whole),
             "%s|LD_PRELOAD=/lib/early.so|ASAN_OPTIONS=verify_asan_link_order=0", parts);
    expect(&request, words, whole);
    request.early = NULL;
    static const char *const chosen[] = {"OMPI_MCA_btl_vader_backing_directory=/mine", NULL};
    request.env = chosen;
    request.one_machine = false;
    expect(
        &request, words,
        "OMPI_MCA_btl_vader_backing_directory=/mine|PLEAT_PART_SCRATCH=OMPI_MCA_orte_tmpdir_base|"
        "PLEAT_PART_TMPDIR=|TMPDIR=/dev/shm/s|EVENT_NOEPOLL=1");
    /* between machines: by the network that they have in common */
    request.env = NULL;
    request.interface = "eth0";
    request.scratch = NULL;
    static const char by[] =
        "mpirun.openmpi|--oversubscribe|--bind-to|none|--mca|pml|ob1|--mca|btl|vader,self,tcp|"
        "--mca|async_mpi_finalize|1|--mca|ras|^slurm,gridengine,tm,lsf,loadleveler,alps|--mca|"
        "orte_leave_session_attached|1|--mca|plm_rsh_no_tree_spawn|1|--mca|plm|rsh|--mca|"
        "plm_rsh_agent|/bin/pleat-remote|%s--mca|mpi_yield_when_idle|0|--host|n0:4,n1:2|-n|"
        "6|" APP;
    snprintf(whole, sizeof(whole), by,
             "--mca|oob_tcp_if_include|eth0|--mca|btl_tcp_if_include|eth0|");
    expect(&request, whole, "EVENT_NOEPOLL=1");
    request.network = "10.0.0.0/8";
    static const char *const own[] = {"OMPI_MCA_btl_tcp_if_exclude=lo", NULL};
    request.env = own;
    snprintf(whole, sizeof(whole), by, "--mca|oob_tcp_if_include|10.0.0.0/8|");
    expect(&request, whole, "OMPI_MCA_btl_tcp_if_exclude=lo|EVENT_NOEPOLL=1");
    request.interface = request.network = NULL;
    request.hook = "/a b/pleat-remote";
    expect_refused(&request, PLEAT_E_UNSUPPORTED, "blank");

    request.mpi = PLEAT_MPI_MPICH;
    request.env = env;
    expect(&request,
           "mpiexec.mpich|-rmk|user|-launcher|ssh|-launcher-exec|/a b/pleat-remote|-hosts|"
           "n0:4,n1:2|-bind-to|none|-genvlist|TMPDIR,OMPI_MCA_plm,A|-n|6|" APP,
           "TMPDIR=/t|OMPI_MCA_plm=slurm|A=1");
    request.env = NULL;
    request.interface = "eth0";
    request.network = "10.0.0.0/8";
    request.farewell = "/lib/farewell.so";
    expect(&request,
           "mpiexec.mpich|-rmk|user|-launcher|ssh|-launcher-exec|/a b/pleat-remote|-iface|eth0|"
           "-hosts|n0:4,n1:2|-bind-to|none|-genvlist|UCX_NET_DEVICES,LD_PRELOAD,ASAN_OPTIONS|-n|"
           "6|" APP,
           "UCX_NET_DEVICES=eth0|LD_PRELOAD=/lib/farewell.so|ASAN_OPTIONS=verify_asan_link_order="
           "0");
    request.pmi = "/bin/pleat-pmi";
    request.preload = "/lib/fold.so"; /* beside the other one */
    expect(&request,
           "mpiexec.mpich|-rmk|user|-launcher|ssh|-launcher-exec|/a b/pleat-remote|-iface|eth0|"
           "-hosts|n0:4,n1:2|-bind-to|none|-genvlist|UCX_NET_DEVICES,LD_PRELOAD,ASAN_OPTIONS|-n|"
           "6|/bin/pleat-pmi|--rank|--preload|/lib/fold.so:/lib/farewell.so|--|" APP,
           "UCX_NET_DEVICES=eth0|LD_PRELOAD=/lib/farewell.so|ASAN_OPTIONS=verify_asan_link_order="
           "0");
    request.pmi = request.preload = NULL;
    request.fabric = true; /* which is for UCX to find */
    request.farewell = NULL;
    expect(&request,
           "mpiexec.mpich|-rmk|user|-launcher|ssh|-launcher-exec|/a b/pleat-remote|-iface|eth0|"
           "-hosts|n0:4,n1:2|-bind-to|none|-genvnone|-n|6|" APP,
           "");
    request.one_machine = true;
    expect(&request,
           "mpiexec.mpich|-rmk|user|-launcher|ssh|-launcher-exec|/a b/pleat-remote|-iface|lo|"
           "-hosts|n0:4,n1:2|-bind-to|none|-genvlist|LD_PRELOAD,ASAN_OPTIONS,UCX_TLS|-n|6|" APP,
           "LD_PRELOAD=/lib/loopback.so|ASAN_OPTIONS=verify_asan_link_order=0|UCX_TLS=^tcp");
    request.pmi = "/bin/pleat-pmi";
    request.preload = "/lib/fold.so";
    expect(&request,
           "mpiexec.mpich|-rmk|user|-launcher|ssh|-launcher-exec|/a b/pleat-remote|-iface|lo|"
           "-hosts|n0:4,n1:2|-bind-to|none|-genvlist|LD_PRELOAD,ASAN_OPTIONS,UCX_TLS|-n|6|"
           "/bin/pleat-pmi|--rank|--preload|/lib/fold.so|--|" APP,
           "LD_PRELOAD=/lib/loopback.so|ASAN_OPTIONS=verify_asan_link_order=0|UCX_TLS=^tcp");
}

/* No directory is on all nodes, so launchers are to look for none. */
static void test_nodes_apart(void **state)
{
    (void)state;
    static const struct pleat_launch_node two[] = {{"n0", 4}, {"n1", 2}};
    struct pleat_launch_request request = request_of(PLEAT_MPI_OPENMPI, 6);
    request.nodes = two;
    request.node_count = 2;
    request.hook = "/bin/pleat-remote";
    request.pmi = "/bin/pleat-pmi";
    request.apart = true;
    expect(&request,
           "mpirun.openmpi|--oversubscribe|--bind-to|none|--mca|pml|ob1|--mca|btl|vader,self,tcp|"
           "--mca|async_mpi_finalize|1|--mca|ras|^slurm,gridengine,tm,lsf,loadleveler,alps|--mca|"
           "orte_leave_session_attached|1|--mca|plm_rsh_no_tree_spawn|1|--mca|plm|rsh|--mca|"
           "plm_rsh_agent|/bin/pleat-remote|--mca|mpi_yield_when_idle|0|--host|n0:4,n1:2|--wdir|/|"
           "-n|6|/bin/pleat-pmi|--scratch|--|" APP,
           "EVENT_NOEPOLL=1");
    request.mpi = PLEAT_MPI_MPICH;
    expect(&request,
           "mpiexec.mpich|-rmk|user|-launcher|ssh|-launcher-exec|/bin/pleat-remote|-hosts|"
           "n0:4,n1:2|-bind-to|none|-genvnone|-wdir|/|-n|6|/bin/pleat-pmi|--rank|--scratch|--|" APP,
           "");
}

static void test_refused(void **state)
{
    (void)state;
    struct pleat_launch_request request = request_of(PLEAT_MPI_OPENMPI, 0);
    expect_refused(&request, PLEAT_E_INVALID, "0 processes");
    request.processes = PLEAT_LAUNCH_PROCESSES_MAX + 1;
    expect_refused(&request, PLEAT_E_TOOBIG, "limit");
    request.processes = 1;
    static const char *const nothing[] = {NULL};
    static const char *const empty[] = {"", NULL};
    static const char *const option[] = {"--version", NULL};
    static const char *const colon[] = {"app", "a", ":", "b", NULL};
    request.argv = nothing;
    expect_refused(&request, PLEAT_E_INVALID, "no program");
    request.argv = empty;
    expect_refused(&request, PLEAT_E_INVALID, "no program");
    request.argv = option;
    expect_refused(&request, PLEAT_E_UNSUPPORTED, "./--version");
    request.mpi = PLEAT_MPI_MPICH;
    expect_refused(&request, PLEAT_E_UNSUPPORTED, "./--version");
    request.argv = colon;
    expect_refused(&request, PLEAT_E_UNSUPPORTED, "':'");
    request.mpi = (enum pleat_mpi)9;
    expect_refused(&request, PLEAT_E_INVALID, "unknown MPI");
    request = request_of(PLEAT_MPI_OPENMPI, 1);
    static const char *const hosts[] = {"", "a,b", "a:1", "-x", "a b"};
    for (size_t i = 0; i < sizeof(hosts) / sizeof(*hosts); i++) {
        struct pleat_launch_node node = {hosts[i], 1};
        request.nodes = &node;
        request.node_count = 1;
        expect_refused(&request, PLEAT_E_INVALID, "host name");
    }
    struct pleat_launch_node node = {"h", 0};
    request.nodes = &node;
    expect_refused(&request, PLEAT_E_INVALID, "no slot");
}

static void test_names(void **state)
{
    (void)state;
    static const enum pleat_mpi all[] = {PLEAT_MPI_NONE, PLEAT_MPI_OPENMPI, PLEAT_MPI_MPICH};
    for (size_t i = 0; i < 3; i++) {
        enum pleat_mpi mpi = PLEAT_MPI_NONE;
        assert_int_equal(pleat_mpi_parse(pleat_mpi_name(all[i]), &mpi, NULL), 0);
        assert_int_equal(mpi, all[i]);
    }
    struct pleat_error err;
    enum pleat_mpi mpi = PLEAT_MPI_NONE;
    assert_int_equal(pleat_mpi_parse("lam", &mpi, &err), PLEAT_E_NOTFOUND);
    assert_non_null(strstr(err.text, "openmpi"));
    assert_string_equal(pleat_mpi_name((enum pleat_mpi)77), "unknown");
    assert_true(pleat_mpi_spawns(PLEAT_MPI_OPENMPI));
    assert_false(pleat_mpi_spawns(PLEAT_MPI_MPICH));
    assert_false(pleat_mpi_spawns((enum pleat_mpi)77));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none),        cmocka_unit_test(test_openmpi),
        cmocka_unit_test(test_openmpi_env), cmocka_unit_test(test_openmpi_on_loopback),
        cmocka_unit_test(test_mpich),       cmocka_unit_test(test_preload),
        cmocka_unit_test(test_nodes),       cmocka_unit_test(test_a_hook),
        cmocka_unit_test(test_nodes_apart), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_names),       cmocka_unit_test(test_several_processors_each),
        cmocka_unit_test(test_names),       cmocka_unit_test(test_a_terminal_of_rank_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
