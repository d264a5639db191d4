#include "agent/agreement.h"

#include <inttypes.h>
#include <string.h>

#include "agent/crash.h"
#include "agent/ending.h"
#include "agent/log.h"
#include "agent/malleable.h"
#include "agent/notify.h"
#include "agent/relaunch_plan.h"
#include "agent/remote.h"
#include "base/clock.h"
#include "model/occasion.h"

#define AGAIN_US (PLEAT_US_PER_S / 2) /* until an order is sent again */
#define PAUSE_US                                                                                   \
    (PLEAT_US_PER_S / 5)                  /* until a request that a node could not hold is posted  \
                                           * again */
#define PATIENCE_US (10 * PLEAT_US_PER_S) /* how long an answer to a posted request may take */
#define MARGIN_NS UINT64_C(30000000)      /* about how long agents take to agree */
#define MARGIN_MOST 1000

/* ---- orders ---- */

static const char *const words[] = {
    [PLEAT_AGREEMENT_NONE] = "drop",       [PLEAT_AGREEMENT_ASKED] = "post",
    [PLEAT_AGREEMENT_SETTLING] = "settle", [PLEAT_AGREEMENT_SETTLED] = "settle",
    [PLEAT_AGREEMENT_HOLDING] = "hold",    [PLEAT_AGREEMENT_BACK] = "hold",
    [PLEAT_AGREEMENT_GOING] = "go"};

/* Whether the node has processes when the run has been started again. */
static bool stays(const struct pleat_run *run, uint32_t node)
{
    size_t index;
    const json_t *entry;
    json_array_foreach(run->relaunch ? run->relaunch->nodes : NULL, index, entry)
    {
        if (json_integer_value(json_object_get(entry, "node")) == (json_int_t)node)
            return true;
    }
    return false;
}

static json_t *describe(const struct pleat_malleable *malleable, uint32_t node)
{
    const struct pleat_mailbox_request *request = &malleable->request;
    if (malleable->agreement.checkpoint)
        return json_pack("{s:I, s:o, s:b}", "checkpoint", (json_int_t)malleable->wish.id, "path",
                         pleat_json_text(malleable->wish.path), "leave", malleable->wish.leave);
    json_t *params =
        json_pack("{s:I, s:i, s:i, s:i, s:b, s:b}", "resize", (json_int_t)request->resize, "target",
                  (int)request->target, "margin", (int)request->margin, "next_nodes",
                  (int)request->next_nodes, "mandatory", request->mandatory, "stays",
                  stays(malleable->run, node));
    if (params && request->occasion)
        (void)json_object_set_new(
            params, "occasion",
            json_string(pleat_occasion_name((enum pleat_occasion)request->occasion)));
    return params;
}

/* Sends the order of the stage to those who have not answered it. */
static void send_order(struct pleat_malleable *malleable)
{
    struct pleat_agreement *agreement = &malleable->agreement;
    struct pleat_run *run = malleable->run;
    agreement->sent_us = pleat_clock_monotonic_us();
    for (const struct pleat_part_voice *voice = NULL; (voice = pleat_remote_next(run, voice));) {
        if (voice->order == agreement->order)
            continue;
        json_t *params = agreement->stage == PLEAT_AGREEMENT_ASKED
                             ? describe(malleable, voice->node)
                             : json_pack("{s:I}", "k", (json_int_t)agreement->k);
        if (params) {
            (void)json_object_set_new(params, "run", json_integer((json_int_t)run->id));
            (void)json_object_set_new(params, "part", json_integer((json_int_t)voice->part));
            (void)json_object_set_new(params, "order", json_integer((json_int_t)agreement->order));
            (void)json_object_set_new(params, "do", json_string(words[agreement->stage]));
        }
        pleat_agent_notify(run->agent, "part_order", params);
    }
}

static void go_to(struct pleat_malleable *malleable, enum pleat_agreement_stage stage)
{
    malleable->agreement.stage = stage;
    malleable->agreement.order++;
    malleable->agreement.since_us = pleat_clock_monotonic_us();
    pleat_agent_crash_point("lead", words[stage]);
    send_order(malleable);
}

/* What the agents have answered, all together. *latest: the latest iteration that they said. */
enum answers { WAITING, ALL_YES, NOT_ALL };
static enum answers answers_of(const struct pleat_malleable *malleable, uint64_t *latest)
{
    bool all = true, no = false;
    uint32_t count = 1;
    for (const struct pleat_part_voice *voice = NULL;
         (voice = pleat_remote_next(malleable->run, voice)); count++) {
        bool answered = voice->order == malleable->agreement.order;
        all = all && answered;
        no = no || (answered && !voice->yes);
        *latest = answered && voice->k > *latest ? voice->k : *latest;
    }
    if (count != malleable->places)
        return WAITING; /* a part has ended, or is not told as running yet */
    return !all ? WAITING : no ? NOT_ALL : ALL_YES;
}

bool pleat_agreement_waits(const struct pleat_malleable *malleable)
{
    const struct pleat_part_voice *voice = NULL;
    if (malleable->places == 1 || !malleable->mailbox || !malleable->agreement.order)
        return false;
    while ((voice = pleat_remote_next(malleable->run, voice)))
        if (voice->order != malleable->agreement.order)
            return true;
    return false;
}

void pleat_agreement_tend(struct pleat_malleable *malleable)
{
    if (pleat_clock_monotonic_us() - malleable->agreement.sent_us > AGAIN_US &&
        pleat_agreement_waits(malleable))
        send_order(malleable);
}

/* ---- posting ---- */

/* Drops the posted request: nodes that hold it let go. */
static void drop(struct pleat_malleable *malleable)
{
    (void)!pleat_mailbox_withdraw(malleable->mailbox);
    malleable->agreement.pause_us = pleat_clock_monotonic_us() + PAUSE_US;
    go_to(malleable, PLEAT_AGREEMENT_NONE);
}

/* Has the request that was posted in this node's mailbox posted in those of the other nodes. */
static int ask(struct pleat_malleable *malleable, bool checkpoint)
{
    uint64_t k = 0;
    malleable->agreement.for_good = false;
    malleable->agreement.checkpoint = checkpoint;
    if (!pleat_mailbox_held(malleable->mailbox, &k)) {
        drop(malleable);
        return PLEAT_E_BUSY;
    }
    go_to(malleable, PLEAT_AGREEMENT_ASKED);
    return 0;
}

int pleat_agreement_post(struct pleat_malleable *malleable,
                         const struct pleat_mailbox_status *status)
{
    struct pleat_mailbox_request *request = &malleable->request;
    if (malleable->places == 1)
        return pleat_mailbox_post(malleable->mailbox, request);
    if (pleat_clock_monotonic_us() < malleable->agreement.pause_us)
        return PLEAT_E_BUSY;
    uint64_t margin = status->iteration_ns ? MARGIN_NS / status->iteration_ns : 0;
    request->margin = margin < MARGIN_MOST ? (uint32_t)margin : MARGIN_MOST;
    int code = pleat_mailbox_post(malleable->mailbox, request);
    return code ? code : ask(malleable, false);
}

int pleat_agreement_post_checkpoint(struct pleat_malleable *malleable)
{
    const struct pleat_wish *wish = &malleable->wish;
    if (malleable->places > 1 && pleat_clock_monotonic_us() < malleable->agreement.pause_us)
        return PLEAT_E_BUSY;
    int code = pleat_mailbox_post_checkpoint(malleable->mailbox, wish->id, wish->path, wish->leave);
    return code || malleable->places == 1 ? code : ask(malleable, true);
}

/* ---- going on ---- */

/* All nodes hold the request, so K is settled. It must be known everywhere before the ranks of this
 * node may enter. */
static void settle(struct pleat_malleable *malleable, uint64_t k)
{
    malleable->agreement.k = k;
    go_to(malleable, PLEAT_AGREEMENT_SETTLING);
}

static bool look_at_asked(struct pleat_malleable *malleable)
{
    uint64_t own = 0, latest = 0;
    enum answers answers = answers_of(malleable, &latest);
    if (!pleat_mailbox_held(malleable->mailbox, &own) || answers == NOT_ALL ||
        pleat_clock_monotonic_us() - malleable->agreement.since_us > PATIENCE_US) {
        drop(malleable);
        return false;
    }
    if (answers == ALL_YES)
        settle(malleable, own > latest ? own : latest);
    return true;
}

/* A node's agent has heard nothing for so long that it has let its ranks go on, while ranks of
 * other nodes may be inside already and wait for them. Nothing is saved, so the run can only be
 * ended. */
static void part_ways(struct pleat_malleable *malleable)
{
    static const char text[] =
        "pleatd was away while its nodes agreed on a change of size: the ranks "
        "of one have not waited, so it is ended";
    struct pleat_run *run = malleable->run;
    pleat_log("run %" PRIu64 " (job %s): %s", run->id, run->job, text);
    pleat_agent_notify(run->agent, "warning",
                       json_pack("{s:I, s:s}", "run", (json_int_t)run->id, "text", text));
    drop(malleable);
    pleat_run_kill(run, 0);
}

static void look_at_settling(struct pleat_malleable *malleable)
{
    uint64_t unused = 0;
    enum answers answers = answers_of(malleable, &unused);
    if (answers == WAITING)
        return;
    if (answers == NOT_ALL) {
        part_ways(malleable);
        return;
    }
    if (pleat_mailbox_settle(malleable->mailbox, malleable->agreement.k))
        pleat_log("run %" PRIu64 ": its mailbox has lost what was agreed on", malleable->run->id);
    malleable->agreement.stage = PLEAT_AGREEMENT_SETTLED;
    pleat_agent_crash_point("lead", "settled");
}

static void look_at_holding(struct pleat_malleable *malleable)
{
    uint64_t unused = 0;
    enum answers answers = answers_of(malleable, &unused);
    if (answers == ALL_YES) {
        malleable->agreement.stage = PLEAT_AGREEMENT_BACK;
    } else if (answers == NOT_ALL) {
        malleable->agreement.for_good = true;
        settle(malleable, malleable->agreement.k);
    }
}

bool pleat_agreement_look(struct pleat_malleable *malleable,
                          const struct pleat_mailbox_status *status)
{
    struct pleat_agreement *agreement = &malleable->agreement;
    if (malleable->places == 1)
        return true;
    if (status->phase == PLEAT_MAILBOX_PUT_OFF) {
        pleat_mailbox_acknowledge(malleable->mailbox);
        agreement->stage = PLEAT_AGREEMENT_NONE;
        agreement->pause_us = pleat_clock_monotonic_us() + PAUSE_US;
        return false;
    }
    if (agreement->stage == PLEAT_AGREEMENT_ASKED)
        return look_at_asked(malleable);
    if (agreement->stage == PLEAT_AGREEMENT_SETTLING)
        look_at_settling(malleable);
    else if (agreement->stage == PLEAT_AGREEMENT_HOLDING)
        look_at_holding(malleable);
    return true;
}

void pleat_agreement_go(struct pleat_malleable *malleable, uint64_t generation)
{
    malleable->agreement.k = generation;
    malleable->agreement.for_good = true;
    if (malleable->places > 1)
        go_to(malleable, PLEAT_AGREEMENT_GOING);
    else
        malleable->agreement.stage = PLEAT_AGREEMENT_NONE;
}

/* ---- taking it back ---- */

int pleat_agreement_withdraw(struct pleat_malleable *malleable)
{
    struct pleat_agreement *agreement = &malleable->agreement;
    if (malleable->places == 1)
        return pleat_mailbox_withdraw(malleable->mailbox);
    if (agreement->stage == PLEAT_AGREEMENT_ASKED || agreement->stage == PLEAT_AGREEMENT_BACK) {
        drop(malleable);
        return 0;
    }
    if (agreement->stage == PLEAT_AGREEMENT_SETTLED && !agreement->for_good &&
        !pleat_mailbox_hold_again(malleable->mailbox))
        go_to(malleable, PLEAT_AGREEMENT_HOLDING);
    return PLEAT_E_STATE;
}
