/* evolve_far.c - processes of an evolving run on other nodes, as the agent that leads the run has
 * them started and ended, through the daemon. */
#include "agent/evolve.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "agent/log.h"
#include "agent/notify.h"

struct pleat_proc *pleat_far_find(const struct pleat_evolve *evolve, int64_t part)
{
    for (size_t i = 0; part > 0 && i < evolve->procs.count; i++)
        if (evolve->procs.items[i]->far.part == part)
            return evolve->procs.items[i];
    return NULL;
}

/* ---- to the daemon ---- */

static void tell_part(const struct pleat_run *run, const char *method, int64_t part)
{
    pleat_agent_notify(
        run->agent, method,
        json_pack("{s:I, s:I}", "run", (json_int_t)run->id, "part", (json_int_t)part));
}

void pleat_far_start(struct pleat_proc *proc)
{
    struct pleat_evolve *evolve = proc->evolve;
    struct pleat_far_child *far = &proc->far;
    pleat_far_drop(proc);
    const struct pleat_proc *first = pleat_proc_find(evolve, 0);
    const char *reach = far->site && first ? first->address : NULL;
    far->wish =
        json_pack("{s:I, s:I, s:s*, s:I, s:I, s:{s:I, s:s, s:s*}, s:o, s:o, s:s}", "run",
                  (json_int_t)evolve->run->id, "part", (json_int_t)(evolve->last_part + 1), "site",
                  far->site, "node", (json_int_t)far->node, "claim", (json_int_t)proc->claim,
                  "process", "id", (json_int_t)proc->id, "secret", evolve->key, "reach", reach,
                  "argv", pleat_proc_command(proc), "env", pleat_proc_variables(proc), "cwd",
                  proc->directory ? proc->directory : evolve->run->cwd);
    if (!far->wish) {
        pleat_log("run %" PRIu64 ": no memory for process %" PRIu32, evolve->run->id, proc->id);
        return;
    }
    far->part = ++evolve->last_part;
    pleat_agent_notify(evolve->run->agent, "part_wanted", json_incref(far->wish));
}

void pleat_far_end(struct pleat_proc *proc)
{
    if (!proc->far.part || proc->far.unwanted)
        return;
    proc->far.unwanted = true;
    tell_part(proc->evolve->run, "part_unwanted", proc->far.part);
}

void pleat_far_forget(const struct pleat_run *run, int64_t part)
{
    tell_part(run, "part_left", part);
}

void pleat_far_drop(struct pleat_proc *proc)
{
    struct pleat_far_child *far = &proc->far;
    pleat_far_write(proc);
    if (far->part)
        pleat_far_forget(proc->evolve->run, far->part);
    json_decref(far->wish);
    for (int i = 0; i < PLEAT_FAR_STREAMS; i++)
        pleat_string_finish(&far->unwritten[i]);
    free(far->text);
    free(far->unreachable);
    pleat_reach_drop(proc);
    *far = (struct pleat_far_child){.site = far->site, .node = far->node};
}

void pleat_far_report(struct pleat_evolve *evolve)
{
    for (size_t i = 0; i < evolve->procs.count; i++) {
        struct pleat_proc *proc = evolve->procs.items[i];
        if (!proc->far.part)
            continue;
        if (proc->far.wish)
            pleat_agent_notify(evolve->run->agent, "part_wanted", json_incref(proc->far.wish));
        if (proc->far.unwanted)
            tell_part(evolve->run, "part_unwanted", proc->far.part);
        /* what was said meanwhile has not arrived */
        pleat_far_cut_off(proc);
    }
}

int pleat_far_describe(const struct pleat_evolve *evolve, json_t *text)
{
    json_t *parts = json_array();
    int bad = !parts;
    for (size_t i = 0; !bad && i < evolve->procs.count; i++) {
        const struct pleat_proc *proc = evolve->procs.items[i];
        if (proc->far.part)
            bad = json_array_append_new(parts, json_pack("{s:I, s:s*, s:I, s:s, s:s}", "part",
                                                         (json_int_t)proc->far.part, "site",
                                                         proc->far.site, "node",
                                                         (json_int_t)proc->far.node, "state",
                                                         proc->ended      ? "ended"
                                                         : proc->far.wish ? "wanted"
                                                                          : "running",
                                                         "role", "process"));
    }
    if (!bad)
        return json_object_set_new(text, "parts", parts);
    json_decref(parts);
    return PLEAT_E_NOMEM;
}

/* ---- to processes ---- */

/* line NULL: its connection is to end. */
static void tell(const struct pleat_proc *proc, int64_t serial, const char *line)
{
    const struct pleat_run *run = proc->evolve->run;
    pleat_agent_notify(run->agent, "process_told",
                       json_pack("{s:I, s:I, s:I, s:s*}", "run", (json_int_t)run->id, "part",
                                 (json_int_t)proc->far.part, "serial", (json_int_t)serial, "line",
                                 line));
}

void pleat_far_say(struct pleat_proc *proc, const char *text)
{
    if (proc->far.serial)
        tell(proc, proc->far.serial, text);
}

void pleat_far_cut_off(struct pleat_proc *proc)
{
    proc->far.serial = 0;
    tell(proc, 0, NULL); /* whichever it is */
}

/* ---- what they write ---- */

/* Where what processes write goes; -1: it cannot be opened, which the log says once. */
static int open_stream(struct pleat_evolve *evolve, int stream)
{
    const struct pleat_run *run = evolve->run;
    const char *path = run->terminal ? run->terminal : stream ? run->stderr_path : run->stdout_path;
    if (evolve->out[stream] == -1) {
        evolve->out[stream] =
            open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
        if (evolve->out[stream] < 0) {
            pleat_log("run %" PRIu64 " (job %s): what its processes write on other nodes is lost: "
                      "cannot open %s: %s",
                      run->id, run->job, path, strerror(errno));
            evolve->out[stream] = -2;
        }
    }
    return evolve->out[stream];
}

void pleat_far_tell_heard(const struct pleat_proc *proc, int stream)
{
    const struct pleat_run *run = proc->evolve->run;
    int64_t heard = proc->far.taken[stream - 1] - (int64_t)proc->far.unwritten[stream - 1].length;
    pleat_agent_notify(run->agent, "part_heard",
                       json_pack("{s:I, s:I, s:i, s:I}", "run", (json_int_t)run->id, "part",
                                 (json_int_t)proc->far.part, "stream", stream, "offset",
                                 (json_int_t)heard));
}

static void write_stream(struct pleat_proc *proc, int stream)
{
    struct pleat_string *left = &proc->far.unwritten[stream];
    size_t done = 0;
    int fd = left->length ? open_stream(proc->evolve, stream) : -1;
    while (fd >= 0 && done < left->length) {
        ssize_t wrote = write(fd, left->text + done, left->length - done);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0 && errno == EAGAIN)
            break;
        if (wrote < 0) /* a full disk: as a process that is here would lose it */
            done = left->length;
        else
            done += (size_t)wrote;
    }
    if (fd < 0)
        done = left->length;
    if (done == 0)
        return;
    memmove(left->text, left->text + done, left->length - done);
    left->length -= done;
    if (proc->far.part)
        pleat_far_tell_heard(proc, stream + 1);
}

void pleat_far_write(struct pleat_proc *proc)
{
    for (int stream = 0; stream < PLEAT_FAR_STREAMS; stream++)
        write_stream(proc, stream);
}

bool pleat_far_is_full(const struct pleat_proc *proc)
{
    return proc->far.unwritten[0].length || proc->far.unwritten[1].length;
}
