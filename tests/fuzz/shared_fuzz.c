#include "shared_fuzz.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fold/turn.h"
#include "must.h"
#include "shm/fold-layout.h"
#include "shm/mailbox-rank.h"
#include "shm/state.h"

enum { RANKS = 8, CPUS = 3, STATE_BYTES = 4096 };

unsigned long pleat_fuzz_shared_good;

/* ---- a mailbox ---- */

static void check_status(const struct pleat_mailbox *mailbox)
{
    struct pleat_mailbox_status status;
    char text[80];
    int32_t pids[RANKS + 2];
    pleat_mailbox_status(mailbox, &status);
    must(status.size <= RANKS && status.accepted <= RANKS);
    must((unsigned)status.phase <= PLEAT_MAILBOX_PUT_OFF);
    memset(text, 1, sizeof(text));
    pleat_mailbox_failure(mailbox, text, sizeof(text));
    must(memchr(text, 0, sizeof(text)));
    for (const char *at = text; *at; at++)
        must(*at >= ' ' && *at <= '~');
    must(pleat_mailbox_pids(mailbox, 0, RANKS + 2, pids) <= RANKS);
    must(pleat_mailbox_pids(mailbox, RANKS + 1, 1, pids) == 0);
}

static void act_as_agent(struct pleat_mailbox *mailbox, unsigned what)
{
    struct pleat_mailbox_request request = {
        .resize = 5, .target = what % (RANKS + 1), .mandatory = what & 1, .relaunch = what & 2};
    int codes[3] = {0};
    codes[0] = what & 4 ? pleat_mailbox_ask(mailbox, &request) : 0;
    codes[1] = what & 8 ? pleat_mailbox_post(mailbox, &request) : 0;
    codes[2] = what & 16 ? pleat_mailbox_withdraw(mailbox) : 0;
    for (size_t i = 0; i < 3; i++)
        must(codes[i] <= 0);
    if (what & 32)
        pleat_mailbox_acknowledge(mailbox);
    check_status(mailbox);
}

static void act_as_rank(struct pleat_mailbox *mailbox, unsigned what)
{
    struct pleat_mailbox_rank self;
    struct pleat_mailbox_request request;
    struct pleat_mailbox_cost cost = {.total_ns = 1};
    uint64_t iteration;
    if (pleat_mailbox_attach(mailbox, what % RANKS, what, -1, &self))
        return;
    for (int turn = 0; turn < 4; turn++) {
        int arrival = pleat_mailbox_arrive(&self);
        must(arrival <= PLEAT_ARRIVAL_ENTER);
        if (arrival > PLEAT_ARRIVAL_QUIET && pleat_mailbox_request(&self, &request) == 0)
            must(request.target <= RANKS);
        if (arrival == PLEAT_ARRIVAL_ANSWER)
            pleat_mailbox_answer(&self, what);
        if (arrival == PLEAT_ARRIVAL_ENTER && what & 1)
            pleat_mailbox_applied(&self, 2, what % (RANKS + 1), &cost, "why");
        else if (arrival == PLEAT_ARRIVAL_ENTER)
            pleat_mailbox_saved(&self, 2, &cost);
    }
    (void)!pleat_mailbox_entered(mailbox, &iteration);
}

static void fuzz_mailbox(const uint8_t *bytes, size_t size, unsigned what)
{
    static struct pleat_mailbox *agents;
    static uint8_t *memory, *before;
    static size_t length;
    static char path[64];
    struct pleat_mailbox *ranks = NULL;
    struct stat st;
    int fd;
    if (!agents) {
        must(pleat_mailbox_create(RANKS, &agents, &fd, NULL) == 0 && fstat(fd, &st) == 0);
        length = (size_t)st.st_size;
        memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        before = malloc(length);
        must(memory != MAP_FAILED && before);
        memcpy(before, memory, length);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    }
    /* what ranks find is anything, or right as far as it is constant */
    size_t from = what & 128 ? 0 : PLEAT_MAILBOX_LINE;
    memcpy(memory, before, length);
    if (size)
        memcpy(memory + from, bytes, size < length - from ? size : length - from);
    /* on several nodes a rank may sleep until its agent wakes it, and here nobody would */
    memset(memory + offsetof(struct pleat_mailbox_segment, nodes), 0, sizeof(uint32_t));
    check_status(agents);
    act_as_agent(agents, what);
    if (pleat_mailbox_open(path, &ranks, NULL) == 0) {
        pleat_fuzz_shared_good++;
        act_as_rank(ranks, what);
        act_as_agent(agents, what >> 1);
        act_as_rank(ranks, what + 1);
        pleat_mailbox_close(ranks);
    }
    check_status(agents);
}

/* ---- a folded program ---- */

static void check_fold(struct pleat_fold *fold)
{
    struct pleat_fold_status status;
    struct pleat_fold_process all[RANKS + 2];
    pleat_fold_status(fold, &status);
    must(status.processes == RANKS && status.attached <= RANKS && status.processors <= CPUS);
    must(status.settings.wait <= PLEAT_FOLD_WAIT_BLOCK &&
         status.settings.give <= PLEAT_FOLD_GIVE_SLICE &&
         status.settings.next <= PLEAT_FOLD_NEXT_AFFINITY &&
         status.settings.queue <= PLEAT_FOLD_QUEUE_GLOBAL);
    must(pleat_fold_processes(fold, 0, RANKS + 2, all) == RANKS);
    for (size_t i = 0; i < RANKS; i++)
        must(all[i].pid >= 0 && all[i].tid >= 0 && all[i].queue < CPUS);
    must(pleat_fold_processes(fold, RANKS, 1, all) == 0);
    must(pleat_fold_traffic(fold, RANKS, 0) == 0);
}

static void act_as_manager(struct pleat_fold *fold, unsigned what)
{
    const uint32_t cpus[CPUS] = {0};
    uint32_t where[RANKS] = {0};
    uint32_t count = 1 + what % CPUS;
    for (uint32_t i = 0; i < RANKS; i++)
        where[i] = i % count;
    check_fold(fold);
    pleat_fold_contended(fold, what, what & 1);
    if (what & 2)
        must(pleat_fold_partition(fold, cpus, count, where) == 0);
    check_fold(fold);
}

/* Waits only seldom, since waiting takes long where another process seems to have the processor. */
static void act_as_process(const char *path, unsigned what)
{
    must(setenv(PLEAT_FOLD_ENV, path, 1) == 0);
    if (!turn_attach((int32_t)(what % (RANKS + 1)), 0))
        return;
    pleat_fuzz_shared_good++;
    (void)turn_is_on();
    turn_call();
    turn_sent((int32_t)(what % RANKS));
    turn_receiving((int32_t)what);
    if (what % 64 == 2)
        (void)turn_wait();
    turn_received((int32_t)(what % (RANKS + 2)));
    turn_activity();
    turn_progressed();
    turn_leave();
}

static void fuzz_fold(const uint8_t *bytes, size_t size, unsigned what)
{
    static struct pleat_fold *agents;
    static uint8_t *before;
    static char path[64];
    int fd;
    if (!agents) {
        must(pleat_fold_create(RANKS, CPUS, &agents, &fd, NULL) == 0);
        before = malloc(agents->bytes);
        must(before);
        memcpy(before, agents->segment, agents->bytes);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    }
    uint8_t *memory = (uint8_t *)agents->segment;
    size_t from = what & 128 ? 0 : PLEAT_FOLD_LINE;
    memcpy(memory, before, agents->bytes);
    if (size)
        memcpy(memory + from, bytes, size < agents->bytes - from ? size : agents->bytes - from);
    act_as_manager(agents, what);
    act_as_process(path, what);
    act_as_manager(agents, what >> 1);
}

/* ---- a state ---- */

static void fill(int fd, const uint8_t *bytes, size_t size)
{
    must(ftruncate(fd, 0) == 0 && pwrite(fd, bytes, size, 0) == (ssize_t)size);
}

static void read_state(struct pleat_state *state)
{
    struct pleat_state_header header;
    char data[STATE_BYTES];
    if (pleat_state_find(state, &header, NULL))
        return;
    must(header.generation > 0 && header.bytes <= PLEAT_STATE_BYTES_MAX);
    pleat_fuzz_shared_good++;
    (void)!pleat_state_read(state, 0, data, sizeof(data), NULL);
    must(pleat_state_read(state, header.bytes, data, 1, NULL) < 0);
    must(pleat_state_read(state, UINT64_MAX, data, sizeof(data), NULL) < 0);
}

static void save_state(struct pleat_state *state, unsigned what)
{
    const struct pleat_state_header wanted = {.shape = 7, .iteration = what, .bytes = 64};
    struct pleat_state_header held;
    uint64_t generation;
    char data[64] = "saved";
    if (pleat_state_begin(state, &wanted, what % 5 == 0 && pleat_state_data(state) >= 0,
                          &generation, NULL))
        return;
    must(pleat_state_write(state, 0, data, sizeof(data), NULL) == 0);
    must(pleat_state_write(state, 1, data, sizeof(data), NULL) < 0);
    if (what & 1) {
        pleat_state_abandon(state);
        return;
    }
    must(pleat_state_commit(state, NULL) == 0);
    must(pleat_state_find(state, &held, NULL) == 0 && held.generation == generation);
    must(held.bytes == sizeof(data) && held.iteration == what);
}

static void fuzz_state(const uint8_t *bytes, size_t size, unsigned what)
{
    struct pleat_state_store store;
    struct pleat_state_header header;
    struct pleat_state *state = NULL;
    char paths[PLEAT_STATE_PATHS_SIZE];
    size_t half = what & 64 ? size / 2 : size;
    must(pleat_state_store_init(&store, NULL) == 0);
    pleat_state_store_paths(&store, paths);
    must(pleat_state_open(paths, &state, NULL) == 0);
    if (what & 128)
        save_state(state, what & ~1u);
    fill(store.fd[what >> 5 & 1], bytes, half);
    if (half < size)
        fill(store.fd[!(what >> 5 & 1)], bytes + half, size - half);
    int held = pleat_state_store_held(&store, &header);
    must(held == 0 || held == PLEAT_E_NOTFOUND);
    read_state(state);
    save_state(state, what);
    pleat_state_close(state);
    pleat_state_store_finish(&store);
}

void pleat_fuzz_shared(const uint8_t *bytes, size_t size)
{
    if (size < 2)
        return;
    if (bytes[0] & 1)
        fuzz_state(bytes + 2, size - 2, bytes[1]);
    else if (bytes[0] & 2)
        fuzz_fold(bytes + 2, size - 2, bytes[1]);
    else
        fuzz_mailbox(bytes + 2, size - 2, bytes[1]);
}
