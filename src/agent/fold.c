#include "agent/fold.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/fold_partition.h"
#include "base/clock.h"
#include "shm/fold-pool.h"

static int allocate(struct pleat_folded *folded, struct pleat_error *err)
{
    uint32_t processes = folded->asked.processes;
    folded->where = calloc(processes, sizeof(*folded->where));
    folded->members = calloc(processes, sizeof(*folded->members));
    folded->seen = calloc(processes, sizeof(*folded->seen));
    folded->samples = calloc(processes, sizeof(*folded->samples));
    folded->contention = calloc(2 * (size_t)PLEAT_FOLD_CPUS_MAX, sizeof(*folded->contention));
    folded->busy_us = calloc(2 * (size_t)PLEAT_CPUS_MAX, sizeof(*folded->busy_us));
    if (!folded->where || !folded->members || !folded->seen || !folded->samples ||
        !folded->contention || !folded->busy_us)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory to fold %" PRIu32 " processes",
                               processes);
    return pleat_fold_create(processes, PLEAT_FOLD_CPUS_MAX, &folded->fold, &folded->fd, err);
}

static int choose_settings(struct pleat_folded *folded, struct pleat_error *err)
{
    struct pleat_fold_status status;
    const char *text = folded->asked.settings;
    pleat_fold_status(folded->fold, &status);
    folded->settings = status.settings;
    folded->settings.queue = PLEAT_FOLD_QUEUE_AUTO;
    folded->asked.settings = NULL;
    int result = text ? pleat_fold_settings_parse(text, &folded->settings, err) : 0;
    if (folded->settings.share == PLEAT_FOLD_SHARE_TIME) /* the only one that it can be */
        folded->settings.queue = PLEAT_FOLD_QUEUE_LOCAL;
    folded->detects = folded->settings.queue == PLEAT_FOLD_QUEUE_AUTO;
    folded->queue_by = folded->detects ? PLEAT_QUEUE_BY_DEFAULT : PLEAT_QUEUE_BY_USER;
    if (folded->detects)
        folded->settings.queue = folded->settings.begin != PLEAT_FOLD_QUEUE_AUTO
                                     ? folded->settings.begin
                                     : (uint8_t)folded->asked.begin;
    pleat_fold_count(folded->fold,
                     folded->asked.boost || folded->asked.mapping == PLEAT_MAPPING_COMMUNICATION);
    return result;
}

/* The agent's pool is made for the first run that wants it, and kept. */
static int join(struct pleat_folded *folded, struct pleat_error *err)
{
    struct pleat_agent *agent = folded->run->agent;
    int result = agent->pool ? 0 : pleat_fold_pool_create(&agent->pool, &agent->pool_fd, err);
    return result ? result : pleat_fold_pool_join(folded->fold, agent->pool, agent->pool_fd, err);
}

void pleat_foldeds_finish(struct pleat_agent *agent)
{
    if (!agent->pool)
        return;
    pleat_fold_pool_close(agent->pool);
    close(agent->pool_fd);
    agent->pool = NULL;
}

static int begin(struct pleat_folded *folded, struct pleat_error *err)
{
    const struct pleat_cpu_list *cpus = &folded->run->binding.cpus;
    int result = pleat_folded_check_cpus(cpus, err);
    if (!result)
        result = choose_settings(folded, err);
    if (!result && pleat_fold_configure(folded->fold, &folded->settings))
        result = pleat_error_set(err, PLEAT_E_INVALID, "these are no settings for folding");
    if (!result && folded->settings.share == PLEAT_FOLD_SHARE_TIME)
        result = join(folded, err);
    if (!result)
        result = pleat_folded_partition(folded, cpus, err);
    return result;
}

int pleat_folded_create(struct pleat_run *run, const struct pleat_folded_request *request,
                        struct pleat_error *err)
{
    struct pleat_folded *folded = calloc(1, sizeof(*folded));
    if (!folded)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory to fold a run");
    folded->run = run;
    folded->asked = *request;
    folded->fd = -1;
    folded->begun_us = pleat_clock_monotonic_us();
    folded->rate.rate = -1;
    folded->rate.change_us = -1;
    folded->boost = request->boost ? PLEAT_BOOST_ON : PLEAT_BOOST_OFF;
    int result = allocate(folded, err);
    if (!result)
        result = begin(folded, err);
    if (result) {
        pleat_folded_destroy(folded);
        return result;
    }
    run->folded = folded;
    return 0;
}

void pleat_folded_path(const struct pleat_folded *folded, char *buffer, size_t size)
{
    snprintf(buffer, size, "/proc/%d/fd/%d", (int)folded->run->agent->pid, folded->fd);
}

void pleat_folded_stop(struct pleat_folded *folded)
{
    if (folded->fold)
        pleat_fold_pool_leave(folded->fold);
    pleat_fold_close(folded->fold);
    folded->fold = NULL;
    if (folded->fd >= 0)
        close(folded->fd);
    folded->fd = -1;
    pleat_detector_finish(&folded->detector);
    folded->judged = 0;
    pleat_rate_stop(&folded->rate);
    folded->vacating.count = 0;
    if (folded->told)
        json_decref(folded->told);
    folded->told = NULL;
}

void pleat_folded_destroy(struct pleat_folded *folded)
{
    if (!folded)
        return;
    pleat_folded_stop(folded);
    pleat_array_finish(&folded->cpus);
    pleat_array_finish(&folded->vacating);
    free(folded->where);
    free(folded->members);
    free(folded->seen);
    free(folded->samples);
    free(folded->contention);
    free(folded->busy_us);
    free(folded);
}
