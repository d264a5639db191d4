#include "agent/succession.h"

#include <inttypes.h>
#include <unistd.h>

#include "agent/execute.h"
#include "base/clock.h"

/* From SIGTERM to SIGKILL, for a new generation that nobody wants. */
#define DROP_GRACE_US (2 * PLEAT_US_PER_S)

int pleat_succession_make(struct pleat_run *run, uint32_t max_ranks, struct pleat_error *err)
{
    struct pleat_succession *made = calloc(1, sizeof(*made));
    if (!made)
        return pleat_error_set(err, PLEAT_E_NOMEM,
                               "no memory for a second generation of run %" PRIu64, run->id);
    made->stage = PLEAT_SUCCESSION_COMING;
    made->fd = -1;
    int result = pleat_mailbox_create(max_ranks, &made->mailbox, &made->fd, err);
    if (result) {
        free(made);
        return result;
    }
    pleat_mailbox_hold(made->mailbox);
    run->succession = made;
    return 0;
}

void pleat_succession_free(struct pleat_run *run)
{
    struct pleat_succession *succession = run->succession;
    pleat_succession_dismiss(run);
    run->succession = NULL;
    if (!succession)
        return;
    pleat_run_execute_drop(&succession->other);
    pleat_mailbox_close(succession->mailbox);
    json_decref(succession->params);
    if (succession->fd >= 0)
        close(succession->fd);
    free(succession);
}

static bool is_new(const struct pleat_succession *succession)
{
    return succession->stage == PLEAT_SUCCESSION_COMING ||
           succession->stage == PLEAT_SUCCESSION_READY;
}

void pleat_succession_end(struct pleat_run *run, int64_t patience_us, int64_t grace_us)
{
    struct pleat_succession *succession = run->succession;
    if (!succession)
        return;
    int64_t now = pleat_clock_monotonic_us();
    bool first = is_new(succession);
    pleat_succession_dismiss(run);
    if (first) {
        succession->stage = PLEAT_SUCCESSION_UNWANTED;
        succession->ending_us = now;
    }
    if (first || succession->term_at_us > now + patience_us)
        succession->term_at_us = now + patience_us;
    if (first || succession->kill_at_us > now + patience_us + grace_us)
        succession->kill_at_us = now + patience_us + grace_us;
}

void pleat_succession_drop(struct pleat_run *run)
{
    if (run->succession && is_new(run->succession))
        pleat_succession_end(run, 0, DROP_GRACE_US);
}

bool pleat_succession_ends(const struct pleat_run *run)
{
    return run->succession && !is_new(run->succession);
}

void pleat_succession_tell(struct pleat_run *run, const char *outcome, uint64_t resize,
                           json_t *params)
{
    struct pleat_succession *succession = run->succession;
    if (!succession || succession->stage != PLEAT_SUCCESSION_UNWANTED || succession->outcome) {
        pleat_outcome_add(run, outcome, resize, params);
        return;
    }
    succession->outcome = outcome;
    succession->resize = resize;
    succession->params = params;
}

void pleat_succession_hush(struct pleat_run *run)
{
    struct pleat_succession *succession = run->succession;
    if (!succession)
        return;
    succession->vacates = false;
    succession->outcome = NULL;
    json_decref(succession->params);
    succession->params = NULL;
}

void pleat_succession_dismiss(struct pleat_run *run)
{
    struct pleat_succession *succession = run->succession;
    if (!succession || !succession->left)
        return;
    pleat_mailbox_dismiss(succession->left);
    pleat_mailbox_close(succession->left);
    succession->left = NULL;
}

bool pleat_succession_will_tell(const struct pleat_run *run, uint64_t resize)
{
    return run->succession && run->succession->outcome && run->succession->resize == resize;
}

bool pleat_succession_holds(const struct pleat_run *run)
{
    return run->succession && run->succession->stage != PLEAT_SUCCESSION_READY;
}

/* If the reaper of one generation was killed, its processes are those that are not below the other
 * reaper. */
bool pleat_succession_has(const struct pleat_run *run, const struct pleat_process_entry *process)
{
    const struct pleat_succession *succession = run->succession;
    const struct pleat_process_tree *tree = &run->agent->tree;
    if (!succession)
        return false;
    if (succession->other.reaper)
        return pleat_process_tree_descends(tree, process, succession->other.reaper);
    if (succession->other.empty)
        return false;
    if (run->now.reaper)
        return !pleat_process_tree_descends(tree, process, run->now.reaper);
    return succession->other.session && process->session == succession->other.session;
}
