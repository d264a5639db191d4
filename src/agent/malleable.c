#include "agent/malleable.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/log.h"
#include "agent/notify.h"
#include "agent/owner.h"
#include "agent/relaunch_plan.h"
#include "agent/succession.h"
#include "base/clock.h"
#include "model/sizes.h"
#include "shm/mailbox-rank.h"

/* ---- what it asks for ---- */

void pleat_malleable_tell_ask(const struct pleat_malleable *malleable)
{
    const struct pleat_run *run = malleable->run;
    const struct pleat_mailbox_ask *ask = &malleable->ask;
    if (!ask->number)
        return;
    json_t *params = json_pack("{s:I, s:I, s:I, s:b, s:b}", "run", (json_int_t)run->id, "number",
                               (json_int_t)ask->number, "processors",
                               (json_int_t)pleat_run_processors(run, ask->wanted), "mandatory",
                               ask->mandatory, "unbegun", /* a script may have done work before */
                               malleable->lacks && !run->launches);
    if (params && ask->mandatory && ask->limit_us)
        (void)json_object_set_new(params, "limit_s", json_real((double)ask->limit_us / 1e6));
    pleat_agent_notify(run->agent, "asked", params);
}

void pleat_malleable_ask(struct pleat_malleable *malleable, const struct pleat_mailbox_ask *ask)
{
    if (ask->number == malleable->ask.number)
        return;
    malleable->ask = *ask;
    if (ask->wanted > PLEAT_SIZE_MAX) /* the application may have written any number */
        malleable->ask.wanted = PLEAT_SIZE_MAX;
    malleable->ask_answered = false;
    pleat_malleable_tell_ask(malleable);
}

static void answer_again(const struct pleat_malleable *malleable)
{
    if (malleable->mailbox && malleable->ask_answered)
        pleat_mailbox_answer_ask(malleable->mailbox, malleable->ask.number, malleable->ask_granted,
                                 malleable->ask_reason);
}

void pleat_malleable_answer(struct pleat_malleable *malleable, uint32_t number, bool granted,
                            const char *reason)
{
    if (number != malleable->ask.number || malleable->ask_answered)
        return;
    malleable->ask_answered = true;
    malleable->ask_granted = granted;
    snprintf(malleable->ask_reason, sizeof(malleable->ask_reason), "%s", reason);
    answer_again(malleable);
    if (malleable->lacks && malleable->mailbox)
        pleat_mailbox_decide(malleable->mailbox, PLEAT_VERDICT_REFUSED);
}

/* Another mailbox: what the ranks of the last one asked for holds. */
static void carry_ask(struct pleat_malleable *malleable)
{
    pleat_mailbox_carry_ask(malleable->mailbox, &malleable->ask);
    answer_again(malleable);
}

/* The program has ended, and others may follow in its run: what it asked for is not wanted any
 * more. */
static void withdraw_ask(struct pleat_malleable *malleable)
{
    struct pleat_mailbox_ask none = {.number = malleable->ask.number + 1};
    if (malleable->ask.wanted)
        pleat_malleable_ask(malleable, &none);
}

/* ---- life ---- */

void pleat_malleable_path(const struct pleat_malleable *malleable, bool doorbell, char *buffer,
                          size_t size)
{
    snprintf(buffer, size, "/proc/%d/fd/%d", (int)malleable->run->agent->pid,
             doorbell ? malleable->bell[1] : malleable->fd);
}

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_descriptors(struct pleat_malleable *malleable)
{
    close_one(&malleable->fd);
    close_one(&malleable->bell[0]);
    close_one(&malleable->bell[1]);
}

static int make_doorbell(struct pleat_malleable *malleable, struct pleat_error *err)
{
    /* The agent holds both ends, so the pipe neither hangs up nor breaks. */
    if (pipe2(malleable->bell, O_CLOEXEC | O_NONBLOCK))
        return pleat_error_sys(err, errno, "no pipe for the doorbell");
    int status =
        uv_poll_init(&malleable->run->agent->loop, &malleable->doorbell, malleable->bell[0]);
    if (status < 0)
        return pleat_error_sys(err, -status, "cannot watch the doorbell");
    malleable->doorbell.data = malleable;
    return 0;
}

void pleat_malleable_hear_wanted(struct pleat_malleable *malleable)
{
    if (malleable->mailbox && !malleable->wanted && pleat_mailbox_take_wanted(malleable->mailbox))
        malleable->wanted = pleat_clock_real_us();
}

static void look_for_from(struct pleat_malleable *malleable)
{
    struct pleat_mailbox_status status;
    if (!malleable->mailbox || !malleable->from[0])
        return;
    pleat_mailbox_status(malleable->mailbox, &status);
    if (status.spared)
        malleable->spared = status.spared;
    if (status.loaded && !malleable->continues)
        malleable->from[0] = '\0';
}

/* A checkpoint that its ranks were asked for by a signal is still wanted of the ranks of the next
 * mailbox. */
static struct pleat_mailbox *take_mailbox(struct pleat_malleable *malleable)
{
    struct pleat_mailbox *mailbox = malleable->mailbox;
    pleat_malleable_hear_wanted(malleable);
    look_for_from(malleable);
    malleable->mailbox = NULL;
    malleable->wish.posted = false;
    malleable->agreement = (struct pleat_agreement){.order = malleable->agreement.order};
    close_one(&malleable->fd);
    return mailbox;
}

static void close_mailbox(struct pleat_malleable *malleable)
{
    pleat_mailbox_close(take_mailbox(malleable));
}

static int make_mailbox(struct pleat_malleable *malleable, struct pleat_error *err)
{
    int result =
        pleat_mailbox_create(malleable->max_ranks, &malleable->mailbox, &malleable->fd, err);
    if (!result)
        pleat_mailbox_place(malleable->mailbox, 0, malleable->places);
    return result;
}

int pleat_malleable_open(struct pleat_malleable *malleable, struct pleat_error *err)
{
    malleable->unbegun = malleable->continues = false;
    int result = make_mailbox(malleable, err);
    malleable->limits_seen = UINT32_MAX;
    malleable->fitted = malleable->unable = malleable->lacks = false;
    if (!result)
        carry_ask(malleable);
    if (!result)
        result = pleat_state_store_init(&malleable->state, err);
    if (result)
        close_mailbox(malleable);
    return result;
}

void pleat_malleable_shut(struct pleat_malleable *malleable)
{
    if (malleable->told_section) /* the program is over, and so is its section */
        pleat_agent_notify(malleable->run->agent, "progress",
                           json_pack("{s:I, s:I, s:i, s:i, s:b}", "run",
                                     (json_int_t)malleable->run->id, "processes", (json_int_t)0,
                                     "iteration", 0, "iteration_us", 0, "attached", false));
    malleable->told_section = false;
    malleable->posted = malleable->unbegun = malleable->told_anything = false;
    const struct pleat_mailbox_limits none = {0};
    if (!malleable->stopped)
        pleat_malleable_limit(malleable,
                              &none); /* the limits were those of the program that ended */
    if (!malleable->stopped)
        withdraw_ask(malleable);
    pleat_leavers_drop(malleable->leaving);
    malleable->leaving = NULL;
    close_mailbox(malleable);
    malleable->wanted = 0;
    pleat_state_store_finish(&malleable->state);
}

void pleat_malleable_abandon(struct pleat_malleable *malleable)
{
    malleable->kind = PLEAT_REQUEST_NONE;
    malleable->posted = malleable->unwanted = false;
    pleat_leavers_drop(malleable->leaving);
    malleable->leaving = NULL;
    pleat_succession_drop(malleable->run);
    pleat_relaunch_drop(malleable->run);
}

/* The sizes as processors; "any" where they make no sense: the application may have written
 * anything. */
static void add_sizes(const struct pleat_run *run, const char *text, struct pleat_string *out)
{
    struct pleat_sizes sizes;
    struct pleat_size_list list = {0};
    struct pleat_error err;
    int code = pleat_sizes_parse(text[0] ? text : "any", &sizes, &list, &err);
    int32_t times = (int32_t)pleat_run_processors(run, 1);
    if (!code && sizes.kind == PLEAT_SIZES_ANY)
        pleat_string_add(out, "any"); /* the user's number of processors for each process holds */
    else if (!code)
        code = pleat_sizes_scale(&sizes, times, (int32_t)run->malleable->max_ranks, out, &err);
    if (code) {
        pleat_log("run %" PRIu64 " (job %s): what it says of its sizes: %s", run->id, run->job,
                  err.text);
        out->length = 0;
        pleat_string_add(out, "any");
    }
    pleat_array_finish(&list);
}

void pleat_malleable_tell_limit(const struct pleat_malleable *malleable)
{
    const struct pleat_run *run = malleable->run;
    struct pleat_string sizes = {0};
    if (!malleable->limits_told)
        return; /* the program has not begun: limits of the run before may hold */
    uint32_t room = malleable->max_ranks;
    uint32_t most = malleable->limits.most < room ? malleable->limits.most : room;
    uint32_t least = malleable->limits.least < room ? malleable->limits.least : room;
    add_sizes(run, malleable->limits.sizes, &sizes);
    if (!sizes.failed)
        pleat_agent_notify(run->agent, "limit",
                           json_pack("{s:I, s:I, s:I, s:s, s:b}", "run", (json_int_t)run->id,
                                     "processors", (json_int_t)pleat_run_processors(run, most),
                                     "least",
                                     (json_int_t)(least > 1 ? pleat_run_processors(run, least) : 0),
                                     "sizes", sizes.text, "lasting",
                                     /* the next program of a script is another one */
                                     !run->launches));
    pleat_string_finish(&sizes);
}

void pleat_malleable_limit(struct pleat_malleable *malleable,
                           const struct pleat_mailbox_limits *limits)
{
    if (malleable->limits_told && !memcmp(limits, &malleable->limits, sizeof(*limits)))
        return;
    malleable->limits_told = true;
    malleable->limits = *limits;
    pleat_malleable_tell_limit(malleable);
}

int pleat_malleable_create(struct pleat_run *run, uint32_t max_ranks, uint32_t places, bool at_once,
                           struct pleat_error *err)
{
    struct pleat_malleable *malleable = calloc(1, sizeof(*malleable));
    if (!malleable)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for a mailbox");
    malleable->run = run;
    malleable->max_ranks = max_ranks;
    malleable->places = places;
    malleable->fd = malleable->bell[0] = malleable->bell[1] = -1;
    for (int i = 0; i < PLEAT_STATE_FILES; i++)
        malleable->state.fd[i] = -1;
    int result = at_once ? pleat_malleable_open(malleable, err) : 0;
    if (!result)
        result = make_doorbell(malleable, err);
    if (result) {
        pleat_mailbox_close(malleable->mailbox);
        pleat_state_store_finish(&malleable->state);
        close_descriptors(malleable);
        free(malleable);
        return result;
    }
    run->malleable = malleable;
    return 0;
}

static void on_doorbell_closed(uv_handle_t *handle)
{
    struct pleat_malleable *malleable = handle->data;
    close_descriptors(malleable);
    if (!malleable->run)
        free(malleable);
}

/* Tells the ranks that begin in the new mailbox which request led to it. */
static void recall(const struct pleat_malleable *malleable)
{
    const struct pleat_relaunch *relaunch = malleable->run->relaunch;
    struct pleat_mailbox_request request = {0};
    if (!relaunch)
        return;
    if (malleable->request.resize == relaunch->resize)
        request = malleable->request;
    request.resize = relaunch->resize;
    request.target = relaunch->processes;
    request.relaunch = true;
    pleat_mailbox_recall(malleable->mailbox, &request, relaunch->before);
}

int pleat_malleable_renew(struct pleat_malleable *malleable, struct pleat_error *err)
{
    struct pleat_state_header header;
    close_mailbox(malleable);
    malleable->unbegun = pleat_state_store_held(&malleable->state, &header) == 0;
    malleable->continues = malleable->unbegun;
    int result = make_mailbox(malleable, err);
    malleable->limits_seen = UINT32_MAX;
    malleable->fitted = malleable->unable = malleable->lacks = false;
    if (!result) {
        carry_ask(malleable);
        recall(malleable);
    }
    if (!result && malleable->unbegun)
        pleat_mailbox_resume(malleable->mailbox, header.generation);
    return result;
}

int pleat_malleable_go_on(struct pleat_malleable *malleable,
                          const struct pleat_mailbox_request *request, uint32_t from,
                          struct pleat_error *err)
{
    struct pleat_state_header header;
    if (pleat_state_store_held(&malleable->state, &header))
        return pleat_error_set(err, PLEAT_E_NOTFOUND,
                               "no state of run %" PRIu64 " is held on this node",
                               malleable->run->id);
    malleable->unbegun = malleable->continues = true;
    pleat_mailbox_recall(malleable->mailbox, request, from);
    pleat_mailbox_resume(malleable->mailbox, header.generation);
    return 0;
}

struct pleat_mailbox *pleat_malleable_hand_over(struct pleat_malleable *malleable,
                                                struct pleat_mailbox *mailbox, int fd)
{
    struct pleat_mailbox *before = take_mailbox(malleable);
    malleable->mailbox = mailbox;
    malleable->fd = fd;
    malleable->unbegun = malleable->continues = true;
    malleable->told_anything = false;
    malleable->limits_seen = UINT32_MAX;
    malleable->fitted = malleable->unable = malleable->lacks = false;
    carry_ask(malleable);
    recall(malleable);
    return before;
}

void pleat_malleable_pause(struct pleat_malleable *malleable)
{
    pleat_malleable_abandon(malleable);
    pleat_leavers_drop_all(&malleable->watched);
    close_mailbox(malleable);
}

void pleat_malleable_stop(struct pleat_malleable *malleable)
{
    if (malleable->stopped)
        return;
    malleable->stopped = true;
    pleat_malleable_pause(malleable);
    pleat_state_store_finish(&malleable->state);
    uv_close((uv_handle_t *)&malleable->doorbell, on_doorbell_closed);
}

bool pleat_malleable_is_broken(const struct pleat_malleable *malleable, struct pleat_error *why)
{
    struct pleat_state_header held;
    struct pleat_mailbox_status status;
    if (!malleable->mailbox || pleat_state_store_held(&malleable->state, &held))
        return false;
    if (pleat_malleable_broke_inside(malleable, why))
        return true;
    /* Ranks that have finished their session, or have left with a checkpoint, are done: they must
     * not do again what they did since the copy. */
    pleat_mailbox_status(malleable->mailbox, &status);
    if (!status.keeps || status.finished || status.phase == PLEAT_MAILBOX_SAVED)
        return false;
    (void)pleat_error_set(why, PLEAT_E_STATE,
                          "its ranks died, and a copy that was saved at iteration %" PRIu64
                          " is held",
                          held.iteration);
    return true;
}

bool pleat_malleable_broke_inside(const struct pleat_malleable *malleable, struct pleat_error *why)
{
    struct pleat_state_header held;
    char text[256];
    uint64_t iteration;
    if (!malleable->mailbox || pleat_state_store_held(&malleable->state, &held))
        return false;
    if (malleable->unbegun) {
        pleat_mailbox_failure(malleable->mailbox, text, sizeof(text));
        if (text[0])
            (void)pleat_error_set(why, PLEAT_E_STATE, "%s", text);
        return true;
    }
    return pleat_mailbox_entered(malleable->mailbox, &iteration) == 0 &&
           held.iteration == iteration;
}

void pleat_malleable_destroy(struct pleat_malleable *malleable)
{
    if (!malleable)
        return;
    pleat_malleable_stop(malleable);
    free(malleable->wish.path);
    malleable->run = NULL;
    /* all handles are closed; otherwise the callback of the last one frees it */
    if (malleable->bell[0] < 0)
        free(malleable);
}

uint32_t pleat_malleable_processes(const struct pleat_malleable *malleable)
{
    if (!malleable->mailbox)
        return 0;
    struct pleat_mailbox_status status;
    pleat_mailbox_status(malleable->mailbox, &status);
    return status.attached ? pleat_malleable_size(malleable, &status) : 0;
}
