/* vacate.c - waits until the ranks that leave in a shrink are gone. A shrink is applied when the
 * application computes on, but its processors are free only when these ranks have ended. Ranks are
 * children of mpirun, not of the agent. So they are watched through pidfds, which become readable
 * when their process ends. */
#include "agent/vacate.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "agent/log.h"
#include "agent/owner.h"
#include "agent/run.h"

struct leaver {
    struct pleat_leavers *all;
    uv_poll_t poll;
    int fd;
    bool watched; /* the handle is initialized */
};

struct pleat_leavers {
    struct pleat_run *run;       /* NULL: dropped, and only waits until its handles are closed */
    struct pleat_leavers **list; /* the list of watched leavers; NULL: this one is not watched
                                  * yet */
    struct pleat_leavers *next;  /* in that list */
    uint64_t resize;
    uint32_t processes;
    size_t remaining; /* ranks that are not gone */
    size_t handles;   /* handles that are not closed */
    size_t count;
    struct leaver items[];
};

/* Opens a pidfd of a rank. The pid in the mailbox is what the application wrote there: it counts
 * only where that process is below the agent. */
static int open_rank(struct pleat_agent *agent, pid_t pid)
{
    struct pleat_error err;
    int fd = -1;
    const struct pleat_process_entry *process =
        pid > 0 ? pleat_process_tree_find(&agent->tree, pid) : NULL;
    if (!process || !pleat_process_tree_descends(&agent->tree, process, agent->pid) ||
        pleat_process_tree_open(agent->proc, pid, process->start, &fd, &err))
        return -1;
    return fd;
}

struct pleat_leavers *pleat_leavers_open(struct pleat_run *run, const struct pleat_mailbox *mailbox,
                                         uint32_t first, uint32_t count)
{
    struct pleat_agent *agent = run->agent;
    struct pleat_leavers *leavers = calloc(1, sizeof(*leavers) + count * sizeof(*leavers->items));
    int32_t *pids = calloc(count, sizeof(*pids));
    struct pleat_error err;
    if (!leavers || !pids || pleat_process_tree_read(agent->proc, &agent->tree, &err)) {
        free(leavers);
        free(pids);
        return NULL;
    }
    leavers->run = run;
    uint32_t known = pleat_mailbox_pids(mailbox, first, count, pids);
    for (uint32_t i = 0; i < known; i++) {
        int fd = open_rank(agent, pids[i]);
        if (fd >= 0) {
            leavers->items[leavers->count].all = leavers;
            leavers->items[leavers->count++].fd = fd;
        }
    }
    if (leavers->count < count)
        pleat_log("run %" PRIu64 " (job %s): of %" PRIu32 " processes to leave only %zu are known",
                  run->id, run->job, count, leavers->count);
    free(pids);
    return leavers;
}

static void on_closed(uv_handle_t *handle)
{
    struct leaver *leaver = handle->data;
    struct pleat_leavers *leavers = leaver->all;
    close(leaver->fd);
    if (--leavers->handles == 0 && !leavers->run)
        free(leavers);
}

static void unlink_leavers(struct pleat_leavers *leavers)
{
    struct pleat_leavers **at = leavers->list;
    while (at && *at && *at != leavers)
        at = &(*at)->next;
    if (at && *at)
        *at = leavers->next;
}

void pleat_leavers_drop(struct pleat_leavers *leavers)
{
    if (!leavers)
        return;
    unlink_leavers(leavers);
    leavers->run = NULL;
    for (size_t i = 0; i < leavers->count; i++) {
        struct leaver *leaver = &leavers->items[i];
        if (!leaver->watched)
            close(leaver->fd);
        else if (!uv_is_closing((uv_handle_t *)&leaver->poll))
            uv_close((uv_handle_t *)&leaver->poll, on_closed);
    }
    if (leavers->handles == 0)
        free(leavers);
}

void pleat_leavers_drop_all(struct pleat_leavers **list)
{
    while (*list)
        pleat_leavers_drop(*list);
}

void pleat_leavers_tell(struct pleat_run *run, uint64_t resize, uint32_t processes)
{
    (void)pleat_bind_close(run);
    pleat_outcome_add(run, "vacated", resize,
                      json_pack("{s:I, s:I, s:I}", "run", (json_int_t)run->id, "resize",
                                (json_int_t)resize, "processes",
                                (json_int_t)pleat_run_processors(run, processes)));
}

static void vacated(struct pleat_leavers *leavers)
{
    pleat_leavers_tell(leavers->run, leavers->resize, leavers->processes);
    pleat_leavers_drop(leavers);
}

static void on_gone(uv_poll_t *poll, int status, int events)
{
    struct leaver *leaver = poll->data;
    struct pleat_leavers *leavers = leaver->all;
    (void)status;
    (void)events;
    uv_close((uv_handle_t *)poll, on_closed);
    if (--leavers->remaining == 0 && leavers->run)
        vacated(leavers);
}

static bool watch(struct pleat_agent *agent, struct leaver *leaver)
{
    if (uv_poll_init(&agent->loop, &leaver->poll, leaver->fd) < 0)
        return false;
    leaver->poll.data = leaver;
    leaver->watched = true;
    leaver->all->handles++;
    leaver->all->remaining++;
    /* cannot fail for a fresh handle */
    (void)uv_poll_start(&leaver->poll, UV_READABLE, on_gone);
    return true;
}

void pleat_leavers_watch(struct pleat_leavers *leavers, struct pleat_leavers **list,
                         uint64_t resize, uint32_t processes)
{
    struct pleat_run *run = leavers->run;
    leavers->resize = resize;
    leavers->processes = processes;
    leavers->list = list;
    leavers->next = *list;
    *list = leavers;
    for (size_t i = 0; i < leavers->count; i++)
        if (!watch(run->agent, &leavers->items[i]))
            pleat_log("run %" PRIu64 " (job %s): cannot watch a process that leaves", run->id,
                      run->job);
    if (leavers->remaining == 0)
        vacated(leavers);
}
