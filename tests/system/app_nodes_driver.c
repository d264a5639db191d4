/* app_nodes_driver SCENARIO openmpi|mpich PROGRAM [ARGUMENTS] - libpleat's ranks on several nodes:
 * plays the agents of up to three nodes on this machine, each with a mailbox and memory for the
 * state of its own. A program goes through relaunches over all of them, and checks its data itself.
 *
 * app_nodes_driver --rank PROGRAM ...: starts a rank, in the environment of its node.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/random.h"
#include "shm/mailbox.h"
#include "shm/state.h"
#include "support/marked.h"
#include "support/store_bytes.h"

#define HOSTS 3
#define RANKS 6
#define OUTPUT 65536
#define PLACES_ENV "PLEAT_TEST_PLACES" /* the host of each rank, a digit each */
#define HERE_ENV "PLEAT_TEST_HERE"     /* and a number: mailbox, doorbell and state of that host */
#define HIDE_ENV "PLEAT_TEST_HIDE" /* a directory that is another one on nodes that do not lead */
#define LIMIT_US (240 * PLEAT_US_PER_S)

/* Where ranks are: host[i] is that of rank i. The host of rank 0 leads. */
struct layout {
    int ranks;
    int host[RANKS];
};

/* Processes of one generation, and the mailboxes of its nodes. */
struct world {
    struct layout layout;
    int nodes;
    int host_of[HOSTS]; /* of each node */
    struct pleat_mailbox *mailbox[HOSTS];
    int mailbox_fd[HOSTS];
    pid_t pid;
    int output_fd;
};

static struct pleat_state_store stores[HOSTS] = {{{-1, -1, -1}}, {{-1, -1, -1}}, {{-1, -1, -1}}};
static struct world now;
static const char *program[60]; /* and its arguments */
static int words;
static bool mpich, copies;
static char self[4096], mark[64], directory[] = "/tmp/pleat-nodes-XXXXXX";
static char output[OUTPUT];
static size_t output_length;
static uint64_t resizes;
static int64_t deadline_us;
static long largest_kib; /* resident memory of any rank so far */

/* ---- a rank ---- */

static void say_here(const char *name, const char *what, const char *host)
{
    char from[64];
    snprintf(from, sizeof(from), HERE_ENV "_%s_%s", what, host);
    const char *value = getenv(from);
    if (value)
        setenv(name, value, 1);
}

/* From now on that directory is another, empty one for this process. */
static int hide(const char *path)
{
    return unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
           mount("none", path, "tmpfs", 0, "size=1m");
}

static int be_rank(char **argv)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    rank = rank ? rank : getenv("PMI_RANK");
    const char *places = getenv(PLACES_ENV);
    if (!rank || !places || strlen(places) <= (size_t)atoi(rank))
        return 2;
    const char host[2] = {places[atoi(rank)], '\0'};
    const char *hidden = getenv(HIDE_ENV);
    if (hidden && host[0] != places[0] && hide(hidden))
        return 3;
    if (host[0] != places[0]) {
        say_here(PLEAT_MAILBOX_HERE_ENV, "mailbox", host);
        say_here(PLEAT_DOORBELL_HERE_ENV, "bell", host);
        say_here(PLEAT_STATE_HERE_ENV, "state", host);
    }
    execv(argv[0], argv);
    return 127;
}

/* ---- failing, and cleaning up ---- */

static void clean_up(void)
{
    for (int i = 0; i < 200 && marked_signal(mark, SIGKILL); i++) {
        poll(NULL, 0, 10);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
    }
    char command[128];
    snprintf(command, sizeof(command), "rm -rf %s", directory);
    if (directory[sizeof(directory) - 2] != 'X')
        (void)!system(command);
}

static void read_output(int fd)
{
    char rest[4096];
    for (;;) {
        size_t room = sizeof(output) - 1 - output_length;
        ssize_t got = room ? read(fd, output + output_length, room) : read(fd, rest, sizeof(rest));
        if (got <= 0)
            break;
        if (room)
            output_length += (size_t)got;
    }
    output[output_length] = '\0';
}

__attribute__((format(printf, 1, 2))) _Noreturn static void fail(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fputs("FAILED: ", stderr);
    vfprintf(stderr, fmt, args);
    va_end(args);
    for (int i = 0; i < now.nodes && now.mailbox[i]; i++) {
        struct pleat_mailbox_status status;
        char text[192];
        pleat_mailbox_status(now.mailbox[i], &status);
        pleat_mailbox_failure(now.mailbox[i], text, sizeof(text));
        fprintf(stderr, "\nnode %d: phase %d, size %u, begun %d, last failure: %s", i,
                (int)status.phase, status.size, status.begun, text);
    }
    if (now.output_fd > 0)
        read_output(now.output_fd);
    fprintf(stderr, "\noutput:\n%s\n", output);
    clean_up();
    exit(1);
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail("%s:%d: not so: %s", __FILE__, __LINE__, #condition);                             \
    } while (0)

/* A moment later; fails where it has lasted too long. */
static void pass_time(const char *what)
{
    poll(NULL, 0, 2);
    if (now.output_fd > 0)
        read_output(now.output_fd);
    if (pleat_clock_monotonic_us() > deadline_us)
        fail("it did not come to this: %s", what);
}

/* ---- worlds ---- */

static int node_of(const struct world *world, int host)
{
    for (int node = 0; node < world->nodes; node++)
        if (world->host_of[node] == host)
            return node;
    return -1;
}

static void find_nodes(struct world *world)
{
    world->nodes = 0;
    for (int rank = 0; rank < world->layout.ranks; rank++)
        if (node_of(world, world->layout.host[rank]) < 0)
            world->host_of[world->nodes++] = world->layout.host[rank];
}

static void tell_environment(const struct world *world)
{
    char name[64], value[PLEAT_STATE_PATHS_SIZE], places[RANKS + 1] = "";
    const int agent = (int)getppid();
    putenv(mark);
    for (int rank = 0; rank < world->layout.ranks; rank++)
        places[rank] = (char)('0' + world->layout.host[rank]);
    setenv(PLACES_ENV, places, 1);
    setenv("EVENT_NOEPOLL", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    for (int node = 0; node < world->nodes; node++) {
        const int host = world->host_of[node];
        snprintf(name, sizeof(name), HERE_ENV "_mailbox_%d", host);
        snprintf(value, sizeof(value), "/proc/%d/fd/%d", agent, world->mailbox_fd[node]);
        setenv(node ? name : PLEAT_MAILBOX_ENV, value, 1);
        snprintf(name, sizeof(name), HERE_ENV "_state_%d", host);
        value[0] = '\0';
        for (int i = 0; i < (copies ? 2 : PLEAT_STATE_FILES); i++)
            snprintf(value + strlen(value), sizeof(value) - strlen(value), "%s/proc/%d/fd/%d",
                     i ? ":" : "", agent, stores[host].fd[i]);
        setenv(node ? name : PLEAT_STATE_ENV, value, 1);
    }
}

static void run_world(const struct world *world)
{
    const char *argv[64];
    char ranks[16];
    int n = 0;
    const char *const openmpi_words[] = {"mpirun.openmpi",
                                         "--oversubscribe",
                                         "--bind-to",
                                         "none",
                                         "--mca",
                                         "pml",
                                         "ob1",
                                         "--mca",
                                         "btl",
                                         "vader,self,tcp",
                                         "--mca",
                                         "mpi_yield_when_idle",
                                         "1",
                                         "--mca",
                                         "orte_tmpdir_base",
                                         directory,
                                         "--mca",
                                         "btl_vader_backing_directory",
                                         directory};
    const char *const mpich_words[] = {"mpiexec.mpich", "-rmk",     "user", "-launcher",
                                       "fork",          "-bind-to", "none"};
    const char *const *launcher = mpich ? mpich_words : openmpi_words;
    const size_t count = mpich ? sizeof(mpich_words) / sizeof(*mpich_words)
                               : sizeof(openmpi_words) / sizeof(*openmpi_words);
    for (size_t i = 0; i < count; i++)
        argv[n++] = launcher[i];
    snprintf(ranks, sizeof(ranks), "%d", world->layout.ranks);
    argv[n++] = "-n";
    argv[n++] = ranks;
    argv[n++] = self;
    argv[n++] = "--rank";
    for (int i = 0; program[i] && n < 60; i++)
        argv[n++] = program[i];
    argv[n] = NULL;
    tell_environment(world);
    execvp(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

/* generation: of the state to go on from; 0: none. waits: begins when it is told. */
static void launch(struct world *world, const struct layout *layout, uint64_t generation,
                   bool waits)
{
    struct pleat_error err;
    int pipes[2];
    *world = (struct world){.layout = *layout};
    find_nodes(world);
    for (int node = 0; node < world->nodes; node++) {
        if (pleat_mailbox_create(16, &world->mailbox[node], &world->mailbox_fd[node], &err))
            fail("%s", err.text);
        if (world->nodes > 1)
            pleat_mailbox_place(world->mailbox[node], (uint32_t)node, (uint32_t)world->nodes);
        if (waits)
            pleat_mailbox_hold(world->mailbox[node]);
        else if (generation)
            pleat_mailbox_resume(world->mailbox[node], generation);
    }
    CHECK(pipe2(pipes, O_CLOEXEC) == 0);
    const pid_t test = getpid();
    world->pid = fork();
    CHECK(world->pid >= 0);
    if (world->pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGTERM); /* a test that is killed leaves nothing running */
        if (getppid() != test)
            _exit(127);
        setpgid(0, 0);
        dup2(pipes[1], STDOUT_FILENO);
        dup2(pipes[1], STDERR_FILENO);
        run_world(world);
    }
    close(pipes[1]);
    world->output_fd = pipes[0];
    fcntl(pipes[0], F_SETFL, O_NONBLOCK);
}

static bool has_ended(struct world *world, int *status)
{
    struct rusage usage;
    if (wait4(world->pid, status, WNOHANG, &usage) != world->pid)
        return false;
    largest_kib = usage.ru_maxrss > largest_kib ? usage.ru_maxrss : largest_kib;
    read_output(world->output_fd);
    return true;
}

static void close_world(struct world *world)
{
    for (int node = 0; node < world->nodes; node++) {
        pleat_mailbox_close(world->mailbox[node]);
        close(world->mailbox_fd[node]);
    }
    close(world->output_fd);
    world->nodes = 0;
    world->output_fd = -1;
}

/* Waits for the end of a world whose last relaunch was SAVED, or that has no more to do. */
static void end_well(struct world *world)
{
    int status = 0;
    while (!has_ended(world, &status))
        pass_time("a program ends");
    if (status)
        fail("a program ended with status %d", status);
    close_world(world);
}

/* The end of a world whose processes were killed. */
static void clean_world(void)
{
    int status;
    while (!has_ended(&now, &status))
        pass_time("all processes are gone");
    while (marked_signal(mark, SIGKILL)) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        pass_time("all processes are gone");
    }
    close_world(&now);
}

static struct pleat_mailbox_status status_of(const struct world *world, int node)
{
    struct pleat_mailbox_status status;
    pleat_mailbox_status(world->mailbox[node], &status);
    return status;
}

static void wait_begun(const struct world *world)
{
    int status;
    for (int node = 0; node < world->nodes; node++)
        while (!status_of(world, node).begun) {
            if (has_ended(&now, &status))
                fail("a program ended with status %d before it began", status);
            pass_time("a program begins on all nodes");
        }
}

/* ---- a relaunch ---- */

/* Settles what the ranks of all nodes agree on. */
static void settle(struct world *world)
{
    uint64_t latest = 0;
    for (int node = 0; node < world->nodes && world->nodes > 1; node++) {
        uint64_t k;
        while (!pleat_mailbox_held(world->mailbox[node], &k))
            pass_time("ranks agree");
        latest = k > latest ? k : latest;
    }
    for (int node = 0; node < world->nodes && world->nodes > 1; node++)
        CHECK(pleat_mailbox_settle(world->mailbox[node], latest) == 0);
}

/* Posts on all nodes. */
static void post(struct world *world, const struct layout *next)
{
    struct world then = {.layout = *next};
    find_nodes(&then);
    resizes++;
    for (int node = 0; node < world->nodes; node++) {
        const struct pleat_mailbox_request request = {.resize = resizes,
                                                      .target = (uint32_t)next->ranks,
                                                      .relaunch = true,
                                                      .stays =
                                                          node_of(&then, world->host_of[node]) >= 0,
                                                      .next_nodes = (uint32_t)then.nodes};
        CHECK(pleat_mailbox_post(world->mailbox[node], &request) == 0);
    }
    settle(world);
}

static void post_checkpoint(struct world *world, const char *path, bool leave)
{
    resizes++;
    for (int node = 0; node < world->nodes; node++)
        CHECK(pleat_mailbox_post_checkpoint(world->mailbox[node], resizes, path, leave) == 0);
    settle(world);
}

/* Waits until all nodes say what came of it: the same. */
static enum pleat_mailbox_phase outcome_of(const struct world *world)
{
    enum pleat_mailbox_phase phase = PLEAT_MAILBOX_IDLE;
    for (int node = 0; node < world->nodes; node++) {
        while (phase = status_of(world, node).phase, phase != PLEAT_MAILBOX_SAVED &&
                                                         phase != PLEAT_MAILBOX_FAILED &&
                                                         phase != PLEAT_MAILBOX_APPLIED)
            pass_time("a state is saved");
        CHECK(phase == status_of(world, 0).phase);
    }
    return phase;
}

/* The generation that was saved, as hosts that stay hold it. */
static uint64_t saved_on(const struct world *old, const struct layout *next)
{
    struct pleat_state_header header;
    for (int rank = 0; rank < next->ranks; rank++) {
        if (node_of(old, next->host[rank]) < 0)
            continue;
        if (pleat_state_store_held(&stores[next->host[rank]], &header) == 0)
            break;
        CHECK(rank + 1 < next->ranks);
    }
    return header.generation;
}

static void show(const char *what, const struct layout *from, const struct layout *to)
{
    printf("%s ", what);
    for (int rank = 0; rank < from->ranks; rank++)
        putchar('0' + from->host[rank]);
    fputs(" -> ", stdout);
    for (int rank = 0; rank < to->ranks; rank++)
        putchar('0' + to->host[rank]);
    putchar('\n');
    fflush(stdout);
}

/* A host without ranks has an agent without a run: its memory is freed. */
static void free_others(const struct world *world)
{
    struct pleat_error err;
    for (int host = 0; host < HOSTS; host++) {
        if (node_of(world, host) >= 0)
            continue;
        pleat_state_store_finish(&stores[host]);
        CHECK(pleat_state_store_init(&stores[host], &err) == 0);
    }
}

static void relaunch(const struct layout *next, bool warm, bool frees)
{
    struct world old = now;
    struct world fresh = {0};
    show(warm ? "warm" : "cold", &old.layout, next);
    if (warm) {
        launch(&fresh, next, 0, true);
        for (uint32_t waiting = 0; waiting != (uint32_t)next->ranks;) {
            waiting = 0;
            for (int node = 0; node < fresh.nodes; node++)
                waiting += status_of(&fresh, node).waiting;
            pass_time("new ranks wait");
        }
    }
    post(&old, next);
    if (outcome_of(&old) != PLEAT_MAILBOX_SAVED)
        fail("a relaunch failed");
    const uint64_t generation = saved_on(&old, next);
    if (!warm) {
        end_well(&old);
        launch(&fresh, next, generation, false);
    }
    now = fresh;
    for (int node = 0; warm && node < fresh.nodes; node++)
        pleat_mailbox_go(fresh.mailbox[node], generation);
    wait_begun(&now);
    CHECK(status_of(&now, 0).loaded && status_of(&now, 0).size == (uint32_t)next->ranks);
    if (warm)
        end_well(&old);
    if (frees)
        free_others(&now);
}

static void begin(const struct layout *layout)
{
    struct pleat_error err;
    for (int host = 0; host < HOSTS; host++) {
        pleat_state_store_finish(&stores[host]);
        CHECK(pleat_state_store_init(&stores[host], &err) == 0);
    }
    launch(&now, layout, 0, false);
    wait_begun(&now);
}

static void finish(void)
{
    end_well(&now);
    if (!strstr(output, "RESULT ok") || strstr(output, "wrong"))
        fail("the program is not content");
    CHECK(marked_signal(mark, 0) == 0);
    for (int host = 0; host < HOSTS; host++)
        pleat_state_store_finish(&stores[host]);
    printf("largest resident memory of a rank: %ld MiB\n", largest_kib / 1024);
}

/* ---- scenarios ---- */

static struct layout layout_of(const char *hosts)
{
    struct layout layout = {.ranks = (int)strlen(hosts)};
    for (int rank = 0; rank < layout.ranks; rank++)
        layout.host[rank] = hosts[rank] - '0';
    return layout;
}

/* "w": warm; "f": hosts that are left are freed. */
static void walk(const char *const *steps)
{
    char count[16];
    int n = 0;
    while (steps[n + 1])
        n++;
    snprintf(count, sizeof(count), "%d", n);
    program[words] = "--resizes";
    program[words + 1] = count;
    struct layout layout = layout_of(steps[0]);
    begin(&layout);
    for (int i = 1; i <= n; i++) {
        layout = layout_of(steps[i] + strspn(steps[i], "wf"));
        relaunch(&layout, steps[i][0] == 'w', steps[i][steps[i][0] == 'w'] == 'f');
    }
    finish();
}

static void grow_and_shrink(void)
{
    walk((const char *const[]){"00", "0011", "000112", "01", "f000", NULL});
}

/* Ranks of a node that are not neighbors, and nodes in any order. */
static void in_turn(void)
{
    walk((const char *const[]){"0", "0101", "210210", "w021", "f20", "202", "w12", NULL});
}

/* All that a node can be left for is refused, and the program goes on. */
static void nothing_in_common(void)
{
    struct layout layout = layout_of("001");
    const struct layout next = layout_of("22");
    char text[192];
    program[words] = "--resizes";
    program[words + 1] = "1";
    begin(&layout);
    post(&now, &next);
    CHECK(outcome_of(&now) == PLEAT_MAILBOX_FAILED);
    pleat_mailbox_failure(now.mailbox[1], text, sizeof(text));
    CHECK(strstr(text, "all nodes are left at once"));
    for (int node = 0; node < now.nodes; node++)
        pleat_mailbox_acknowledge(now.mailbox[node]);
    layout = layout_of("1");
    relaunch(&layout, false, true);
    finish();
}

/* A program whose data could not be saved on several nodes, so that no change of size would be
 * possible there, stays on one. */
static void copies_stay(void)
{
    struct layout layout = layout_of("00");
    const struct layout next = layout_of("0011");
    char text[192];
    copies = true;
    program[words] = "--resizes";
    program[words + 1] = "1";
    begin(&layout);
    post(&now, &next);
    CHECK(outcome_of(&now) == PLEAT_MAILBOX_FAILED);
    pleat_mailbox_failure(now.mailbox[0], text, sizeof(text));
    CHECK(strstr(text, "cannot be saved as a copy while the program is on several nodes"));
    pleat_mailbox_acknowledge(now.mailbox[0]);
    layout = layout_of("000");
    relaunch(&layout, false, false);
    finish();
}

/* From 1 to 6 ranks on 1 to 3 nodes, in even and in uneven shares. */
static struct layout some_layout(struct pleat_random *random)
{
    struct layout layout = {.ranks = 1 + (int)pleat_random_below(random, RANKS)};
    const int first = (int)pleat_random_below(random, HOSTS);
    int host = first;
    for (int rank = 0; rank < layout.ranks; rank++) {
        layout.host[rank] = host;
        if (host != (first + HOSTS - 1) % HOSTS && pleat_random_below(random, 3) == 0)
            host = (host + 1) % HOSTS;
    }
    return layout;
}

static bool have_one_in_common(const struct layout *a, const struct layout *b)
{
    bool have = false;
    for (int i = 0; i < a->ranks; i++)
        for (int j = 0; j < b->ranks; j++)
            have |= a->host[i] == b->host[j];
    return have;
}

/* PLEAT_TEST_STEPS, PLEAT_TEST_SEED: another walk. */
static void at_random(void)
{
    const char *steps = getenv("PLEAT_TEST_STEPS");
    const char *seed = getenv("PLEAT_TEST_SEED");
    char count[16];
    struct pleat_random random;
    const int n = steps ? atoi(steps) : 16;
    pleat_random_init(&random, seed ? (uint64_t)atoll(seed) : 1);
    snprintf(count, sizeof(count), "%d", n);
    program[words] = "--resizes";
    program[words + 1] = count;
    struct layout layout = some_layout(&random);
    begin(&layout);
    for (int i = 0; i < n; i++) {
        do
            layout = some_layout(&random);
        while (!have_one_in_common(&layout, &now.layout));
        relaunch(&layout, pleat_random_below(&random, 2), pleat_random_below(&random, 2));
    }
    finish();
}

/* Without data files: states are copies, of which each node has its part. */
static void as_copies(void)
{
    copies = true;
    walk((const char *const[]){"00", "0011", "w001122", "02", "w22", "1122", "w01", "f0", NULL});
}

/* All processes are killed once a copy was saved. Returns its number. */
static uint64_t kill_all(void)
{
    struct pleat_state_header header;
    while (!status_of(&now, 0).kept)
        pass_time("a copy is saved");
    const int leader = now.host_of[0];
    marked_signal(mark, SIGKILL);
    clean_world();
    CHECK(pleat_state_store_held(&stores[leader], &header) == 0);
    return header.generation;
}

static void restart(const char *hosts, uint64_t generation)
{
    const struct layout layout = layout_of(hosts);
    show("again", &now.layout, &layout);
    launch(&now, &layout, generation, false);
    wait_begun(&now);
    CHECK(status_of(&now, 0).loaded);
}

/* They go on from the copies of all nodes, wherever; not where the part of a node is lost. */
static void deaths(void)
{
    static const char *const steps[] = {"01", "0122", "210", NULL};
    const struct layout first = layout_of("0011");
    struct pleat_error err;
    int status = 0;
    setenv("PLEAT_SAVE_EVERY", "20it", 1);
    program[words] = "--iterations";
    program[words + 1] = "400";
    begin(&first);
    for (int i = 0; steps[i]; i++)
        restart(steps[i], kill_all());
    const uint64_t generation = kill_all();
    pleat_state_store_finish(&stores[1]);
    CHECK(pleat_state_store_init(&stores[1], &err) == 0);
    const struct layout again = layout_of("210");
    launch(&now, &again, generation, false);
    while (!has_ended(&now, &status))
        pass_time("a program that lacks a part of its state ends");
    CHECK(status != 0 && !status_of(&now, 0).begun && !strstr(output, "RESULT ok"));
    char text[192];
    pleat_mailbox_failure(now.mailbox[1], text, sizeof(text));
    CHECK(strstr(text, "are on no node that this program has ranks on"));
    close_world(&now);
}

/* ---- deaths in a relaunch ---- */

static char crash_file[sizeof(directory) + 16];

/* Posts, and lets agents do their part, as long as there are processes. Returns their status. */
static int relaunch_until_end(const struct layout *next)
{
    struct world then = {.layout = *next};
    bool settled = now.nodes == 1;
    int status = 0;
    find_nodes(&then);
    resizes++;
    for (int node = 0; node < now.nodes; node++) {
        const struct pleat_mailbox_request request = {.resize = resizes,
                                                      .target = (uint32_t)next->ranks,
                                                      .relaunch = true,
                                                      .stays =
                                                          node_of(&then, now.host_of[node]) >= 0,
                                                      .next_nodes = (uint32_t)then.nodes};
        CHECK(pleat_mailbox_post(now.mailbox[node], &request) == 0);
    }
    while (!has_ended(&now, &status)) {
        uint64_t k, latest = 0;
        int held = 0;
        for (int node = 0; node < now.nodes && !settled; node++) {
            held += pleat_mailbox_held(now.mailbox[node], &k);
            latest = k > latest ? k : latest;
        }
        for (int node = 0; node < now.nodes && !settled && held == now.nodes; node++)
            CHECK(pleat_mailbox_settle(now.mailbox[node], latest) == 0);
        settled |= held == now.nodes;
        pass_time("processes end");
    }
    return status;
}

/* The rank that dies: `rank` of the old or of the new ranks. */
struct death {
    int rank;
    bool is_new;
    const char *from, *to;
};

/* It dies at its step `number` of a relaunch. Returns whether it got that far. *held: whether there
 * was a state then: they go on from it, with everything whole. */
static bool die_at(const struct death *death, int number, bool *held)
{
    struct pleat_state_header header = {0};
    const struct layout first = layout_of(death->from);
    const struct layout second = layout_of(death->to);
    char order[128];
    snprintf(order, sizeof(order), "die:%d:%d:%s", death->rank, number, crash_file);
    setenv("PLEAT_TEST_CRASH", order, 1);
    output_length = 0;
    begin(&first);
    int leader = now.host_of[0]; /* whose word counts */
    if (!death->is_new)
        fclose(fopen(crash_file, "w"));
    int status = relaunch_until_end(&second);
    if (status == 0) {
        if (death->is_new)
            fclose(fopen(crash_file, "w"));
        else
            unsetenv("PLEAT_TEST_CRASH");
        CHECK(pleat_state_store_held(&stores[leader], &header) == 0);
        close_world(&now);
        launch(&now, &second, header.generation, false);
        leader = now.host_of[0];
        while (!has_ended(&now, &status))
            pass_time("new processes end");
    }
    const bool died = unlink(crash_file) != 0;
    unsetenv("PLEAT_TEST_CRASH");
    while (marked_signal(mark, SIGKILL)) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        pass_time("all processes are gone");
    }
    close_world(&now);
    CHECK(died == (status != 0));
    *held = died && pleat_state_store_held(&stores[leader], &header) == 0;
    if (*held) {
        output_length = 0;
        restart(number % 2 ? death->from : death->to, header.generation);
        end_well(&now);
    }
    CHECK((died && !*held) || (strstr(output, "RESULT ok") && !strstr(output, "wrong")));
    return died;
}

/* Where processes start so slowly that tests may take three or four times as long as usual: every
 * second one of these steps. */
static void die_at_each(const struct death *death, int stride)
{
    const char *other = getenv("PLEAT_TEST_STRIDE"), *patience = getenv("PLEAT_TEST_PATIENCE");
    if (patience && atof(patience) > 2)
        stride *= 2;
    stride = other ? atoi(other) : stride;
    int deaths = 0;
    int states = 0;
    bool held = false;
    for (int number = 3; die_at(death, number, &held); number += stride) {
        deaths++;
        states += held;
    }
    printf("%s rank %d, %s -> %s: died at %d steps, with a state at %d\n",
           death->is_new ? "new" : "old", death->rank, death->from, death->to, deaths, states);
    fflush(stdout);
    CHECK(deaths >= 2 && (states >= 1 || !death->is_new));
}

static void deaths_in_relaunch(void)
{
    program[words] = "--resizes";
    program[words + 1] = "1";
    snprintf(crash_file, sizeof(crash_file), "%s/crash", directory);
    die_at_each(&(struct death){0, false, "001", "0122"}, 7);
    die_at_each(&(struct death){3, true, "001", "0122"}, 11);
    die_at_each(&(struct death){2, false, "0112", "00"}, 7);
    die_at_each(&(struct death){0, true, "0112", "10"}, 11);
}

/* ---- memory ---- */

/* 240 MB, of which no rank has more than a third at any time: a rank needs no more memory than its
 * part and the messages on their way, and no node keeps data that are not its own. */
static void memory(void)
{
    static const char *const steps[] = {"0011", "001122", "w012", "0222", "w012012", NULL};
    enum { MIB = 1 << 20, STATE = 240, BESIDE = 64 + 32 };
    struct layout layout = layout_of("012");
    program[words] = "--state";
    program[words + 1] = "240M";
    program[words + 2] = "--resizes";
    program[words + 3] = "5";
    begin(&layout);
    for (int i = 0; steps[i]; i++) {
        layout = layout_of(steps[i] + strspn(steps[i], "w"));
        relaunch(&layout, steps[i][0] == 'w', true);
        for (int host = 0; host < HOSTS; host++) {
            uint64_t share = 0;
            for (int rank = 0; rank < layout.ranks; rank++)
                share += layout.host[rank] == host;
            share = share * STATE * MIB / (uint64_t)layout.ranks;
            CHECK(store_bytes(&stores[host]) <= share + 2 * MIB);
        }
    }
    finish();
    CHECK(largest_kib / 1024 <= STATE / 3 + BESIDE);
}

static bool can_hide(void)
{
    int status = 1;
    pid_t pid = fork();
    if (pid == 0)
        _exit(hide(directory) != 0);
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* All ranks write to one file, and others go on from it. Where the directory is another one on a
 * node the checkpoint is refused, with that reason, and the program goes on. */
static void checkpoint(void)
{
    char path[128], text[192];
    struct layout layout = layout_of("0011");
    snprintf(path, sizeof(path), "%s/checkpoints", directory);
    CHECK(mkdir(path, 0700) == 0);
    program[words] = "--iterations";
    /* a busy machine may ask late; an iteration of the others takes longer */
    program[words + 1] = strstr(program[0], "loop") ? "10000" : "400";
    if (can_hide()) {
        setenv(HIDE_ENV, path, 1);
        begin(&layout);
        snprintf(path, sizeof(path), "%s/checkpoints/one", directory);
        post_checkpoint(&now, path, false);
        CHECK(outcome_of(&now) == PLEAT_MAILBOX_FAILED);
        pleat_mailbox_failure(now.mailbox[0], text, sizeof(text));
        CHECK(strstr(text, "directory must be the same"));
        unsetenv(HIDE_ENV);
        marked_signal(mark, SIGKILL);
        clean_world();
    } else {
        puts("skipped: a directory that nodes do not share");
    }
    snprintf(path, sizeof(path), "%s/checkpoints/two", directory);
    begin(&layout);
    post_checkpoint(&now, path, false);
    CHECK(outcome_of(&now) == PLEAT_MAILBOX_APPLIED);
    for (int node = 0; node < now.nodes; node++)
        pleat_mailbox_acknowledge(now.mailbox[node]);
    post_checkpoint(&now, path, true);
    CHECK(outcome_of(&now) == PLEAT_MAILBOX_SAVED);
    end_well(&now);
    setenv("PLEAT_FROM", path, 1);
    layout = layout_of("012");
    begin(&layout);
    CHECK(status_of(&now, 0).loaded && status_of(&now, 1).loaded);
    finish();
}

static void warm(void)
{
    walk((const char *const[]){"00", "w0011", "w001122", "w02", "wf22", "w1122", "w01", "wf0",
                               NULL});
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } scenarios[] = {{"grow-and-shrink", grow_and_shrink},
                     {"warm", warm},
                     {"in-turn", in_turn},
                     {"nothing-in-common", nothing_in_common},
                     {"at-random", at_random},
                     {"copies", as_copies},
                     {"copies-stay", copies_stay},
                     {"deaths", deaths},
                     {"deaths-in-relaunch", deaths_in_relaunch},
                     {"memory", memory},
                     {"checkpoint", checkpoint}};
    if (argc > 2 && !strcmp(argv[1], "--rank"))
        return be_rank(argv + 2);
    if (argc < 4)
        return 2;
    mpich = !strcmp(argv[2], "mpich");
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[length > 0 ? length : 0] = '\0';
    for (; argv[3 + words] && words < 50; words++)
        program[words] = argv[3 + words];
    snprintf(mark, sizeof(mark), "PLEAT_TEST_NODES_JOB=%d", (int)getpid());
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (!mkdtemp(directory))
        return 1;
    atexit(clean_up);
    deadline_us = pleat_clock_monotonic_us() + LIMIT_US;
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++)
        if (!strcmp(scenarios[i].name, argv[1])) {
            scenarios[i].run();
            return 0;
        }
    return 2;
}
