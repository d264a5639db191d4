#include "bare.h"

#include <stdlib.h>
#include <string.h>

struct end {
    int64_t us;
    int32_t processors;
};

/* ---- FCFS ---- */

static void heap_push(struct end *heap, size_t count, struct end end)
{
    size_t at = count;
    for (; at > 0 && heap[(at - 1) / 2].us > end.us; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = end;
}

/* count: after the first one is gone. */
static void heap_pop(struct end *heap, size_t count)
{
    struct end last = heap[count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && heap[child + 1].us < heap[child].us)
            child++;
        if (heap[child].us >= last.us)
            break;
        heap[at] = heap[child];
    }
    heap[at] = last;
}

int bare_fcfs(const struct pleat_workload *workload, int32_t machine, int64_t *starts)
{
    struct end *running = malloc(((size_t)machine + 1) * sizeof(*running));
    if (!running)
        return PLEAT_E_NOMEM;
    size_t count = 0;
    int64_t now = 0; /* when the job before started: no job overtakes another */
    int32_t free_processors = machine;
    for (size_t i = 0; i < workload->jobs.count; i++) {
        const struct pleat_workload_job *job = &workload->jobs.items[i];
        if (job->submit_us > now)
            now = job->submit_us;
        while (count > 0 && (running[0].us <= now || free_processors < job->processors)) {
            if (running[0].us > now)
                now = running[0].us;
            free_processors += running[0].processors;
            heap_pop(running, --count);
        }
        starts[i] = now;
        free_processors -= job->processors;
        heap_push(running, count++, (struct end){now + job->run_us, job->processors});
    }
    free(running);
    return 0;
}

/* ---- EASY ---- */

struct easy {
    const struct pleat_workload_job *jobs;
    int64_t *starts;
    struct end *running; /* latest end first: the next one to end is the last */
    size_t count;
    uint32_t *next; /* of a waiting job; entry 0 is before the first, job i is entry i + 1 */
    uint32_t last;
    int32_t free;
};

/* Starts the job after `before` in the queue. */
static void easy_start(struct easy *easy, uint32_t before, int64_t now)
{
    uint32_t entry = easy->next[before];
    const struct pleat_workload_job *job = &easy->jobs[entry - 1];
    struct end end = {now + job->run_us, job->processors};
    size_t at = easy->count++;
    for (; at > 0 && easy->running[at - 1].us < end.us; at--)
        easy->running[at] = easy->running[at - 1];
    easy->running[at] = end;
    easy->starts[entry - 1] = now;
    easy->free -= job->processors;
    easy->next[before] = easy->next[entry];
    if (easy->last == entry)
        easy->last = before;
}

static void easy_backfill(struct easy *easy, int64_t now)
{
    int32_t size = easy->jobs[easy->next[0] - 1].processors;
    int32_t extra = easy->free;
    int64_t reservation = now;
    for (size_t i = easy->count; i-- > 0 && (extra < size || easy->running[i].us == reservation);) {
        extra += easy->running[i].processors;
        reservation = easy->running[i].us;
    }
    extra -= size;
    for (uint32_t before = easy->next[0]; easy->free > 0 && easy->next[before];) {
        const struct pleat_workload_job *job = &easy->jobs[easy->next[before] - 1];
        bool in_time = now + job->run_us <= reservation;
        if (job->processors > easy->free || (!in_time && job->processors > extra)) {
            before = easy->next[before];
            continue;
        }
        if (!in_time)
            extra -= job->processors;
        easy_start(easy, before, now);
    }
}

static void easy_run(struct easy *easy, size_t jobs)
{
    for (size_t arrived = 0; arrived < jobs || easy->next[0];) {
        int64_t now = arrived < jobs ? easy->jobs[arrived].submit_us : INT64_MAX;
        if (easy->count > 0 && easy->running[easy->count - 1].us < now)
            now = easy->running[easy->count - 1].us;
        while (easy->count > 0 && easy->running[easy->count - 1].us == now)
            easy->free += easy->running[--easy->count].processors;
        for (; arrived < jobs && easy->jobs[arrived].submit_us == now; arrived++) {
            easy->next[easy->last] = (uint32_t)arrived + 1;
            easy->last = (uint32_t)arrived + 1;
        }
        while (easy->next[0] && easy->jobs[easy->next[0] - 1].processors <= easy->free)
            easy_start(easy, 0, now);
        if (easy->next[0] && easy->free > 0)
            easy_backfill(easy, now);
    }
}

int bare_easy(const struct pleat_workload *workload, int32_t machine, int64_t *starts)
{
    struct easy easy = {.jobs = workload->jobs.items, .starts = starts, .free = machine};
    easy.running = malloc(((size_t)machine + 1) * sizeof(*easy.running));
    easy.next = calloc(workload->jobs.count + 1, sizeof(*easy.next));
    int rc = easy.running && easy.next ? 0 : PLEAT_E_NOMEM;
    if (rc == 0)
        easy_run(&easy, workload->jobs.count);
    free(easy.running);
    free(easy.next);
    return rc;
}

/* ---- reading ---- */

size_t bare_read(const char *text, size_t length, int64_t *sum)
{
    size_t lines = 0;
    const char *end = text + length;
    for (const char *at = text; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop)
            stop = end;
        int column = 0;
        while (at < stop && *at != ';') {
            while (at < stop && (unsigned char)*at <= ' ')
                at++;
            if (at == stop)
                break;
            bool negative = *at == '-';
            int64_t value = 0;
            for (at += negative; at < stop && *at >= '0' && *at <= '9'; at++)
                value = value * 10 + (*at - '0');
            while (at < stop && (unsigned char)*at > ' ') /* a fraction */
                at++;
            if (++column == 4)
                *sum += negative ? -value : value;
        }
        lines += column > 0;
        at = stop + 1;
    }
    return lines;
}
