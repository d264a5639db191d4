/* Runs that an agent may still know. */
#include <errno.h>
#include <string.h>

#include "daemon/daemon.h"
#include "daemon/files.h"
#include "daemon/runs.h"

void run_remember(struct daemon *d, uint64_t run, uint32_t component)
{
    struct active_run active = {run, component};
    for (size_t i = 0; i < d->runs.count; i++)
        if (d->runs.items[i].run == run)
            return;
    if (pleat_array_push(&d->runs, active))
        daemon_log("out of memory: run %llu is not known", (unsigned long long)run);
}

void run_forget(struct daemon *d, uint64_t run)
{
    for (size_t i = 0; i < d->runs.count; i++)
        if (d->runs.items[i].run == run)
            d->runs.items[i] = d->runs.items[--d->runs.count];
}

uint32_t run_component(const struct daemon *d, uint64_t run)
{
    for (size_t i = 0; i < d->runs.count; i++)
        if (d->runs.items[i].run == run)
            return d->runs.items[i].component;
    return PLEAT_NONE;
}

uint64_t run_besides(const struct daemon *d, uint32_t component, uint64_t except)
{
    for (size_t i = 0; i < d->runs.count; i++)
        if (d->runs.items[i].component == component && d->runs.items[i].run != except)
            return d->runs.items[i].run;
    return 0;
}

/* For a pleatd that finds the end of the log missing. Like the mark, it is not synced. */
void run_note(struct daemon *d, int64_t job, uint64_t run)
{
    char path[600];
    job_output_path(d, job, "run", path, sizeof(path));
    FILE *file = fopen(path, "we");
    if (!file || fprintf(file, "%llu\n", (unsigned long long)run) < 0)
        daemon_log("cannot write %s: %s", path, strerror(errno));
    if (file && fclose(file))
        daemon_log("cannot write %s: %s", path, strerror(errno));
}

uint64_t run_noted(struct daemon *d, int64_t job)
{
    char path[600];
    unsigned long long run = 0;
    job_output_path(d, job, "run", path, sizeof(path));
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%llu", &run) != 1)
        run = 0;
    if (file)
        fclose(file);
    return run;
}
