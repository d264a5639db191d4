#include "agent/checkpoint.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/notify.h"
#include "agent/outcomes.h"
#include "agent/owner.h"
#include "base/clock.h"

/* for processes to end by themselves after the checkpoint */
#define LEAVE_US (10 * PLEAT_US_PER_S)

static void forget(struct pleat_malleable *malleable)
{
    free(malleable->wish.path);
    malleable->wish = (struct pleat_wish){0};
}

int pleat_wish_take(struct pleat_malleable *malleable, uint64_t id, const char *path, bool leave,
                    struct pleat_error *err)
{
    struct pleat_wish *wish = &malleable->wish;
    if (malleable->wanted == (int64_t)id && (!wish->id || wish->id == id))
        malleable->wanted = 0;
    else if (malleable->wanted && malleable->wanted <= (int64_t)id) /* numbers only rise */
        malleable->wanted = (int64_t)id + 1;
    if (wish->id == id || pleat_outcome_tell(malleable->run, PLEAT_OUTCOME_OF_CHECKPOINT, id))
        return 0;
    if (wish->id)
        return pleat_error_set(err, PLEAT_E_BUSY,
                               "a checkpoint of run %" PRIu64 " is wanted already, at %s",
                               malleable->run->id, wish->path);
    if (path[0] != '/' || strlen(path) >= PLEAT_MAILBOX_PATH)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "the path of a checkpoint is absolute, and below %d bytes",
                               PLEAT_MAILBOX_PATH);
    char *copy = strdup(path);
    if (!copy)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for the path of a checkpoint");
    *wish = (struct pleat_wish){.id = id, .path = copy, .leave = leave};
    return 0;
}

void pleat_wish_tell_wanted(struct pleat_malleable *malleable)
{
    /* a signal that comes while a checkpoint is wanted asks for the same one: the ranks clear it
     * when they write */
    if (!malleable->wish.id)
        pleat_malleable_hear_wanted(malleable);
    if (malleable->wanted)
        pleat_agent_notify(malleable->run->agent, "checkpoint_wanted",
                           json_pack("{s:I, s:I}", "run", (json_int_t)malleable->run->id,
                                     "checkpoint", (json_int_t)malleable->wanted));
}

static json_t *describe(const struct pleat_malleable *malleable)
{
    return json_pack("{s:I, s:I, s:o, s:b}", "run", (json_int_t)malleable->run->id, "checkpoint",
                     (json_int_t)malleable->wish.id, "path", pleat_json_text(malleable->wish.path),
                     "stop", malleable->wish.leave);
}

/* `params` are stolen. */
static void conclude(struct pleat_malleable *malleable, const char *method, json_t *params)
{
    uint64_t id = malleable->wish.id;
    forget(malleable);
    pleat_outcome_add(malleable->run, method, id, params);
}

void pleat_wish_fail(struct pleat_malleable *malleable, const char *text)
{
    if (!malleable->wish.id)
        return;
    json_t *params = describe(malleable);
    if (params && json_object_set_new(params, "text", pleat_json_text(text))) {
        json_decref(params);
        params = NULL;
    }
    conclude(malleable, "checkpoint_failed", params);
}

static void written(struct pleat_malleable *malleable, const struct pleat_mailbox_status *status)
{
    const struct {
        const char *name;
        uint64_t value;
    } members[] = {{"iteration", status->written},
                   {"processes", pleat_run_processors(malleable->run, status->size)},
                   {"bytes", status->cost.bytes},
                   {"wait_us", status->cost.wait_ns / 1000},
                   {"write_us", status->cost.save_ns / 1000}};
    json_t *params = describe(malleable);
    for (size_t i = 0; params && i < sizeof(members) / sizeof(*members); i++) {
        if (json_object_set_new(params, members[i].name, pleat_outcome_number(members[i].value))) {
            json_decref(params);
            params = NULL;
        }
    }
    conclude(malleable, "checkpointed", params);
}

void pleat_wish_withdraw(struct pleat_malleable *malleable, uint64_t id)
{
    if (malleable->wish.id != id)
        return;
    if (!malleable->wish.posted || pleat_agreement_withdraw(malleable) == 0)
        pleat_wish_fail(malleable, "it was withdrawn");
    else
        malleable->wish.unwanted = true; /* ranks are writing it, or agents have to agree */
}

static void failed(struct pleat_malleable *malleable)
{
    char text[256];
    pleat_mailbox_failure(malleable->mailbox, text, sizeof(text));
    pleat_mailbox_acknowledge(malleable->mailbox);
    pleat_wish_fail(malleable, text[0] ? text : "the application could not write it");
}

/* Whether the ranks are still leaving after the checkpoint. Only when the program has ended it is
 * told as stopped. A program of a script does not end the script. */
static bool leaving(struct pleat_malleable *malleable, const struct pleat_mailbox_status *status)
{
    struct pleat_wish *wish = &malleable->wish;
    int64_t now = pleat_clock_monotonic_us();
    if (!wish->leaving_us) {
        wish->leaving_us = now;
        wish->last = *status;
    }
    if (!malleable->run->launches && now - wish->leaving_us < LEAVE_US)
        return true;
    written(malleable, &wish->last);
    return false;
}

void pleat_wish_over(struct pleat_malleable *malleable)
{
    if (malleable->wish.leaving_us)
        written(malleable, &malleable->wish.last);
    else
        pleat_wish_fail(malleable, "the job ended before it was written");
}

bool pleat_wish_look(struct pleat_malleable *malleable, const struct pleat_mailbox_status *status)
{
    struct pleat_wish *wish = &malleable->wish;
    if (!wish->posted)
        return false;
    if (!pleat_agreement_look(malleable, status)) {
        wish->posted = false; /* it is posted again */
        if (wish->unwanted)
            pleat_wish_fail(malleable, "it was withdrawn");
        return false;
    }
    switch (status->phase) {
    case PLEAT_MAILBOX_APPLIED:
        pleat_mailbox_acknowledge(malleable->mailbox);
        written(malleable, status);
        return false;
    case PLEAT_MAILBOX_SAVED:
        return leaving(malleable, status);
    case PLEAT_MAILBOX_FAILED:
        failed(malleable);
        return false;
    case PLEAT_MAILBOX_ENTERED:
        return true;
    case PLEAT_MAILBOX_POSTED:
        if (wish->unwanted && !pleat_agreement_withdraw(malleable)) {
            pleat_wish_fail(malleable, "it was withdrawn");
            return false;
        }
        if (wish->unwanted)
            return true;
        if (malleable->kind == PLEAT_REQUEST_NONE && !status->finished)
            return true;
        if (pleat_agreement_withdraw(malleable))
            return true;
        wish->posted = false; /* posted again after the resize */
        return false;
    case PLEAT_MAILBOX_IDLE:
    case PLEAT_MAILBOX_ASKED:
    case PLEAT_MAILBOX_ANSWERED:
    case PLEAT_MAILBOX_PUT_OFF:
        pleat_wish_fail(malleable,
                        "the application's mailbox lost it: was its memory overwritten?");
        return false;
    }
    return false;
}

void pleat_wish_post(struct pleat_malleable *malleable, const struct pleat_mailbox_status *status)
{
    struct pleat_wish *wish = &malleable->wish;
    if (!wish->id || wish->posted)
        return;
    if (status->finished) {
        pleat_wish_fail(malleable, "the application has finished its session, and comes to no "
                                   "adaptation point any more");
        return;
    }
    int code = pleat_agreement_post_checkpoint(malleable);
    wish->posted = code == 0;
    if (code && code != PLEAT_E_BUSY && code != PLEAT_E_STATE)
        pleat_wish_fail(malleable, "the application's mailbox does not take it");
}
