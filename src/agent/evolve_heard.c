/* evolve_heard.c - what the daemon says of processes on other nodes, and hands on from them. */
#include "agent/evolve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/params.h"
#include "wire/message.h"

static int find(const struct pleat_run *run, const json_t *params, int64_t *part,
                struct pleat_proc **proc, struct pleat_error *err)
{
    int result = pleat_get_int(params, "part", true, 1, UINT32_MAX, part, err);
    *proc = !result && run->evolve ? pleat_far_find(run->evolve, *part) : NULL;
    return result;
}

/* ---- its life ---- */

static int64_t number_in(const json_t *params, const char *name)
{
    return json_integer_value(json_object_get(params, name));
}

static void ended(struct pleat_proc *proc, const json_t *params)
{
    struct pleat_far_child *far = &proc->far;
    const char *text = json_string_value(json_object_get(params, "text"));
    free(far->text);
    far->text = text ? strdup(text) : NULL;
    far->end = (struct pleat_proc_end){
        .failed = json_is_true(json_object_get(params, "failed")),
        .user_fault = json_is_true(json_object_get(params, "user_fault")),
        .lost = json_is_true(json_object_get(params, "lost")),
        .code = (int)number_in(params, "code"),
        .signal = (int)number_in(params, "signal"),
        .cpu_us = number_in(params, "cpu_us"),
        .max_rss_kb = number_in(params, "max_rss_kb"),
        .text = far->text,
    };
    far->serial = 0;
    proc->ended = true; /* settled when the turn is over */
}

int pleat_evolve_part_told(struct pleat_run *run, const json_t *params, struct pleat_error *err)
{
    int64_t part = 0;
    bool is_over = false;
    struct pleat_proc *proc = NULL;
    int result = find(run, params, &part, &proc, err);
    if (!result)
        result = pleat_get_bool(params, "ended", true, &is_over, err);
    if (result)
        return result;
    if (!proc && is_over)
        pleat_far_forget(run, part);
    if (!proc || proc->ended)
        return 0;
    bool first = proc->far.wish != NULL;
    json_decref(proc->far.wish);
    proc->far.wish = NULL;
    if (is_over)
        ended(proc, params);
    else if (first)
        pleat_proc_started(proc);
    return 0;
}

/* ---- what it writes ---- */

int pleat_evolve_part_output(struct pleat_run *run, const json_t *params, const char *bytes,
                             size_t count, struct pleat_error *err)
{
    int64_t part = 0, stream = 0, offset = 0;
    struct pleat_proc *proc = NULL;
    int result = find(run, params, &part, &proc, err);
    if (!result)
        result = pleat_get_int(params, "stream", true, 1, PLEAT_FAR_STREAMS, &stream, err);
    if (!result)
        result = pleat_get_int(params, "offset", true, 0, INT64_MAX / 2, &offset, err);
    if (result || !proc)
        return result;
    int64_t *taken = &proc->far.taken[stream - 1], end = offset + (int64_t)count;
    struct pleat_string *left = &proc->far.unwritten[stream - 1];
    if (end > *taken && offset > *taken)
        return 0; /* something before it did not arrive, and comes again */
    if (end > *taken) {
        pleat_string_add_bytes(left, bytes + (*taken - offset), (size_t)(end - *taken));
        if (left->failed) { /* it comes again */
            left->failed = 0;
            return pleat_error_set(err, PLEAT_E_NOMEM,
                                   "no memory for what process %" PRIu32 " writes", proc->id);
        }
        *taken = end;
    }
    pleat_far_write(proc);
    if (!pleat_far_is_full(proc)) /* also if that was told before: it may not have arrived */
        pleat_far_tell_heard(proc, (int)stream);
    return 0;
}

/* ---- what it says ---- */

/* A process at another site that cannot be connected with process 0 is of no use: it is ended, and
 * its request with it, so that nobody waits for its messages. */
static bool cannot_reach(struct pleat_proc *proc, const json_t *hello)
{
    const char *why = json_string_value(json_object_get(hello, "unreachable"));
    const struct pleat_proc *first = pleat_proc_find(proc->evolve, 0);
    char text[400];
    if (!why || !proc->far.site || proc->registered)
        return false;
    snprintf(text, sizeof(text),
             "node %" PRIu32 " of site %s does not reach this run's node at %.120s (%.80s): let "
             "the nodes of both sites connect with one another over TCP, or run the job without "
             "--sites",
             proc->far.node, proc->far.site,
             first && first->address ? first->address : "its address", why);
    free(proc->far.unreachable);
    proc->far.unreachable = strdup(text); /* it is ended when the turn is over */
    return true;
}

static void hello(struct pleat_proc *proc, const char *address, const char *local)
{
    if (!pleat_proc_hello(proc, address, local))
        pleat_far_cut_off(proc);
}

int pleat_evolve_said(struct pleat_run *run, const json_t *params, struct pleat_error *err)
{
    int64_t part = 0, serial = 0, id = 0;
    struct pleat_proc *proc = NULL;
    const char *address = NULL, *local = NULL;
    int result = find(run, params, &part, &proc, err);
    if (!result)
        result = pleat_get_int(params, "serial", true, 1, INT64_MAX, &serial, err);
    const json_t *line = json_object_get(params, "line");
    const char *what = json_string_value(json_object_get(line, "do"));
    if (result || !proc || proc->ended)
        return result;
    if (what && !strcmp(what, "hello")) {
        if (pleat_hello_read(line, &id, &address, &local) || id != proc->id)
            return 0; /* its agent has seen to that */
        proc->far.serial = serial;
        if (cannot_reach(proc, line))
            return 0;
        bool first = !proc->registered;
        if (first && proc->any_site && proc->handed && !pleat_proc_is_late(proc) &&
            pleat_reach_first(proc, address, local, hello))
            return 0;
        hello(proc, address, local);
        if (first && proc->registered)
            pleat_reach_begin(proc);
    } else if (serial != proc->far.serial) {
        return 0; /* of a connection that is over, or was never heard of */
    } else if (what) {
        pleat_proc_hear(proc, what, line);
    } else {
        proc->far.serial = 0;
    }
    return 0;
}
