/* requests.c - what the program asks the agent for. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "process/agent.h"
#include "process/loop.h"
#include "process/messages.h"

#define ITERATION_US 300000 /* the agent is told of iterations so often */
#define COUNT_MAX 16777216  /* processes of a job */

static int is_alone(const struct pleat_processes *all, struct pleat_error *err)
{
    return all->alone ? pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                                        "this process is alone, and nobody can be asked for "
                                        "another one: start the program by 'pleat run --evolving'")
                      : 0;
}

/* Asks, and waits for the answer. 0, with the answer in all->agent.asked; or an error. */
static int ask(struct pleat_processes *all, json_t *line, int64_t number, bool add,
               struct pleat_error *err)
{
    const struct pleat_asked *asked = &all->agent.asked;
    int64_t until = pleat_loop_until(all->settings.answer_ms);
    int rc = pleat_agent_ask(all, line, number);
    if (rc)
        return pleat_error_set(err, rc, "%s",
                               rc == PLEAT_E_TOOBIG ? "the wish is longer than 65536 bytes"
                                                    : "out of memory");
    pleat_loop_work(all);
    while (!asked->answered && pleat_loop_wait(all, until))
        ;
    if (!asked->answered)
        rc = pleat_error_set(err, PLEAT_E_TIMEOUT,
                             "the agent of this run has not answered process %d within %d ms%s%s",
                             all->self, all->settings.answer_ms, all->agent.broken ? ": " : "",
                             all->agent.broken_text);
    else if (asked->refused)
        rc = pleat_error_set(err, PLEAT_E_BUSY, "%s", asked->text);
    pleat_agent_forget(all, add);
    return rc;
}

/* ---- adding ---- */

static bool add_text(json_t *line, const char *key, const char *text)
{
    return !text || json_object_set_new(line, key, json_string(text)) == 0;
}

static bool add_list(json_t *line, const char *key, const char *const *texts)
{
    if (!texts)
        return true;
    json_t *list = json_array();
    bool good = true;
    for (; good && *texts; texts++)
        good = json_array_append_new(list, json_string(*texts)) == 0;
    if (!good) {
        json_decref(list);
        return false;
    }
    return json_object_set_new(line, key, list) == 0;
}

static const char *wrong_text(const struct pleat_process_wish *wish)
{
    const char *const texts[] = {wish->directory, wish->site, wish->node, wish->architecture};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        if (texts[i] && (!*texts[i] || !pleat_utf8_is(texts[i])))
            return "a text of the wish is empty, or is not UTF-8";
    if (wish->argv && (!wish->argv[0] || !*wish->argv[0]))
        return "the argv of the wish names no program";
    for (const char *const *one = wish->argv; one && *one; one++)
        if (!pleat_utf8_is(*one))
            return "an argument of the wish is not UTF-8";
    for (const char *const *one = wish->variables; one && *one; one++)
        if (!pleat_utf8_is(*one) || !strchr(*one, '=') || **one == '=')
            return "a variable of the wish is not NAME=value in UTF-8";
    return NULL;
}

static json_t *line_of(const struct pleat_process_wish *wish)
{
    json_t *line = json_pack("{s:s}", "do", "add");
    if (!line || !wish)
        return line;
    if (add_list(line, "argv", wish->argv) && add_list(line, "env", wish->variables) &&
        add_text(line, "directory", wish->directory) && add_text(line, "site", wish->site) &&
        add_text(line, "node", wish->node) && add_text(line, "arch", wish->architecture) &&
        (!wish->priority ||
         json_object_set_new(line, "priority", json_integer(wish->priority)) == 0))
        return line;
    json_decref(line);
    return NULL;
}

int pleat_process_add(struct pleat_processes *processes, const struct pleat_process_wish *wish,
                      int32_t *process, struct pleat_error *err)
{
    int rc = pleat_processes_usable(processes, err);
    if (!rc)
        rc = is_alone(processes, err);
    if (rc)
        return rc;
    const char *wrong = wish ? wrong_text(wish) : NULL;
    if (!process || wrong)
        return pleat_error_set(err, PLEAT_E_INVALID, "%s",
                               wrong ? wrong : "there is nowhere to put the process's number");
    pleat_loop_enter(processes);
    rc = ask(processes, line_of(wish), -1, true, err);
    const struct pleat_asked *asked = &processes->agent.asked;
    if (rc == 0) {
        *process = asked->process;
        rc = asked->ready ? PLEAT_PROCESS_ADDED_READY : PLEAT_PROCESS_ADDED_LATER;
    }
    pleat_loop_leave(processes);
    return rc;
}

/* ---- cancel, stop ---- */

static int is_over(int32_t process, int state, struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_STATE, "process %d %s, so that its request is over",
                           process, state == PLEAT_PROCESS_GONE ? "is gone" : "is there already");
}

static int cancel(struct pleat_processes *all, int32_t process, struct pleat_error *err)
{
    const struct pleat_peer *peer = pleat_peers_find(&all->peers, process);
    if (!peer || !peer->state)
        return pleat_messages_unknown(all, process, err);
    if (peer->asked < 0)
        return pleat_error_set(err, PLEAT_E_NOTFOUND,
                               "process %d was not asked for by process %d, which can stop it, and "
                               "not cancel it",
                               process, all->self);
    if (peer->state != PLEAT_PROCESS_COMING)
        return is_over(process, peer->state, err);
    int rc = ask(all, json_pack("{s:s}", "do", "cancel"), peer->asked, false, err);
    /* it has come meanwhile; peers may have moved */
    peer = rc == PLEAT_E_BUSY ? pleat_peers_find(&all->peers, process) : NULL;
    return peer && peer->state != PLEAT_PROCESS_COMING ? is_over(process, peer->state, err) : rc;
}

int pleat_process_cancel(struct pleat_processes *processes, int32_t process,
                         struct pleat_error *err)
{
    int rc = pleat_processes_usable(processes, err);
    if (!rc)
        rc = is_alone(processes, err);
    if (rc)
        return rc;
    pleat_loop_enter(processes);
    rc = cancel(processes, process, err);
    pleat_loop_leave(processes);
    return rc;
}

static int stop(struct pleat_processes *all, int32_t process, struct pleat_error *err)
{
    pleat_loop_work(all);
    const struct pleat_peer *peer = pleat_peers_find(&all->peers, process);
    if (!peer || !peer->state)
        return pleat_messages_unknown(all, process, err);
    if (peer->state == PLEAT_PROCESS_GONE)
        return pleat_error_set(err, PLEAT_E_CLOSED, "process %d is gone already", process);
    return ask(all, json_pack("{s:s, s:i}", "do", "stop", "process", (int)process), -1, false, err);
}

int pleat_process_stop(struct pleat_processes *processes, int32_t process, struct pleat_error *err)
{
    int rc = pleat_processes_usable(processes, err);
    if (!rc)
        rc = is_alone(processes, err);
    if (rc)
        return rc;
    pleat_loop_enter(processes);
    rc = stop(processes, process, err);
    pleat_loop_leave(processes);
    return rc;
}

void pleat_process_iteration(struct pleat_processes *processes, int64_t iteration)
{
    if (!pleat_processes_ours(processes) || processes->alone || iteration < 0)
        return;
    int64_t now = pleat_clock_monotonic_us();
    if (processes->iteration < 0 || iteration < processes->iteration) {
        processes->iteration_said = iteration;
        processes->iteration_said_us = now;
    }
    processes->iteration = iteration;
    int64_t since = now - processes->iteration_said_us,
            count = iteration - processes->iteration_said;
    if (count < 1 || since < ITERATION_US)
        return;
    /* of all up to now: policies look ahead by the mean speed of the run, and a stretch in which
     * processes are missing is slower than what follows */
    processes->iterations += count;
    processes->iterations_us += since;
    int64_t mean_us = processes->iterations_us / processes->iterations;
    pleat_loop_enter(processes);
    /* where it cannot be said the next one is */
    (void)!pleat_agent_say(processes,
                           json_pack("{s:s, s:I, s:I}", "do", "iteration", "iteration",
                                     (json_int_t)iteration, "mean_us", (json_int_t)mean_us));
    processes->iteration_said = iteration;
    processes->iteration_said_us = now;
    pleat_loop_leave(processes);
}

int pleat_process_returning(struct pleat_processes *processes, int count, struct pleat_error *err)
{
    int rc = pleat_processes_usable(processes, err);
    if (!rc)
        rc = is_alone(processes, err);
    if (!rc && (count < 0 || count > COUNT_MAX))
        rc = pleat_error_set(err, PLEAT_E_INVALID, "%d processes cannot be given back", count);
    if (rc)
        return rc;
    pleat_loop_enter(processes);
    rc = ask(processes, json_pack("{s:s, s:i}", "do", "returning", "processes", count), -1, false,
             err);
    pleat_loop_leave(processes);
    return rc;
}

/* ---- groups ---- */

static int check_name(const char *name, struct pleat_error *err)
{
    return name && pleat_name_is(name)
               ? 0
               : pleat_error_set(err, PLEAT_E_INVALID,
                                 "'%.80s' is no name of a group: it has 1 to 63 letters, digits, "
                                 "'-', '_' and '.', and begins with none of '-' and '.'",
                                 name ? name : "");
}

static int change_group(struct pleat_processes *all, const char *name, bool join,
                        struct pleat_error *err)
{
    struct pleat_peer *own = pleat_peers_find(&all->peers, all->self);
    if (!own || pleat_peer_in_group(own, name) == join)
        return 0;
    if (join && own->group_count == PLEAT_PEER_GROUPS)
        return pleat_error_set(err, PLEAT_E_TOOBIG,
                               "process %d is in %d groups, and can be in no more: leave one",
                               all->self, PLEAT_PEER_GROUPS);
    int rc = all->alone
                 ? 0
                 : ask(all, json_pack("{s:s, s:s, s:b}", "do", "group", "name", name, "join", join),
                       -1, false, err);
    if (rc)
        return rc;
    if (!join)
        pleat_peer_leave(own, name);
    else if (pleat_peer_join(own, name))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    return 0;
}

static int change(struct pleat_processes *all, const char *name, bool join, struct pleat_error *err)
{
    int rc = pleat_processes_usable(all, err);
    if (!rc)
        rc = check_name(name, err);
    if (rc)
        return rc;
    pleat_loop_enter(all);
    rc = change_group(all, name, join, err);
    pleat_loop_leave(all);
    return rc;
}

int pleat_process_group_join(struct pleat_processes *processes, const char *name,
                             struct pleat_error *err)
{
    return change(processes, name, true, err);
}

int pleat_process_group_leave(struct pleat_processes *processes, const char *name,
                              struct pleat_error *err)
{
    return change(processes, name, false, err);
}
