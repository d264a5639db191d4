/* remote_told.c - what the daemon tells of parts, and is told of them. */
#include <string.h>

#include "agent/notify.h"
#include "agent/params.h"
#include "agent/remote_parts.h"
#include "base/clock.h"

#define BELIEVED_US                                                                                \
    (3 * PLEAT_US_PER_S) /* how long it is believed what an agent has said of                      \
                          * sections, unless it repeats it */

/* ---- the daemon ---- */

void pleat_remote_report(const struct pleat_run *run)
{
    for (const struct pleat_part *part = run->remote ? run->remote->parts : NULL; part;
         part = part->next)
        pleat_part_report(part);
}

int pleat_remote_describe(const struct pleat_run *run, json_t *text)
{
    static const char *const stages[] = {[STAGE_NEW] = "new",
                                         [STAGE_WANTED] = "wanted",
                                         [STAGE_RUNNING] = "running",
                                         [STAGE_ENDED] = "ended"};
    json_t *parts = json_array();
    int bad = !parts;
    for (const struct pleat_part *part = run->remote ? run->remote->parts : NULL; part && !bad;
         part = part->next)
        if (part->stage != STAGE_NEW)
            bad = json_array_append_new(
                parts, json_pack("{s:I, s:I, s:s, s:s}", "part", (json_int_t)part->number, "node",
                                 (json_int_t)part->node, "state", stages[part->stage], "role",
                                 pleat_part_role(part)));
    if (bad) {
        json_decref(parts);
        return PLEAT_E_NOMEM;
    }
    return json_object_set_new(text, "parts", parts);
}

/* Hands the end of a part to its pleat-remote, which then ends likewise. */
static void give(struct pleat_part *part, int stream, const char *bytes, size_t count)
{
    struct pleat_string out = {0};
    if (!pleat_write_notification_bytes(&out, "output", json_pack("{s:i}", "stream", stream), bytes,
                                        count))
        (void)!pleat_connection_send(part->connection, &out);
    pleat_string_finish(&out);
}

static void answer_end(struct pleat_part *part, const json_t *params)
{
    struct pleat_string out = {0};
    json_t *result =
        json_pack("{s:O?, s:O?, s:O?}", "code", json_object_get(params, "code"), "signal",
                  json_object_get(params, "signal"), "text", json_object_get(params, "text"));
    if (part->connection && result && !pleat_write_result(&out, part->request, result))
        (void)!pleat_connection_send(part->connection, &out);
    pleat_string_finish(&out);
    pleat_connection_close(part->connection);
    part->connection = NULL;
}

int pleat_remote_told(struct pleat_run *run, const json_t *params, struct pleat_error *err)
{
    int64_t number = 0;
    bool ended = false;
    int rc = pleat_get_int(params, "part", true, 1, UINT32_MAX, &number, err);
    if (!rc)
        rc = pleat_get_bool(params, "ended", true, &ended, err);
    struct pleat_part *part = rc ? NULL : pleat_part_find(run, number);
    if (!part || part->stage == STAGE_ENDED)
        return rc;
    json_decref(part->wish);
    part->wish = NULL;
    part->stage = ended ? STAGE_ENDED : STAGE_RUNNING;
    if (ended)
        answer_end(part, params);
    if (ended && part->leaves)
        pleat_part_leave(part);
    return 0;
}

struct pleat_part_voice *pleat_remote_next(const struct pleat_run *run,
                                           const struct pleat_part_voice *before)
{
    struct pleat_part *part = run->remote ? run->remote->parts : NULL;
    if (before) {
        while (part && &part->voice != before)
            part = part->next;
        part = part ? part->next : NULL;
    }
    while (part && (part->stage != STAGE_RUNNING || !pleat_part_is_now(part)))
        part = part->next;
    if (!part)
        return NULL;
    part->voice.part = part->number;
    part->voice.node = part->node;
    return &part->voice;
}

uint32_t pleat_remote_waiting(const struct pleat_run *run)
{
    uint32_t count = 0;
    for (const struct pleat_part *part = run->remote ? run->remote->parts : NULL; part;
         part = part->next)
        if (part->stage == STAGE_RUNNING && pleat_part_is_new(part))
            count += part->voice.waiting;
    return count;
}

static bool is_in_section(const struct pleat_part_voice *voice, int64_t now_us)
{
    return voice->not_now > 0 && now_us - voice->heard_us < BELIEVED_US;
}

uint32_t pleat_remote_sections(const struct pleat_run *run, uint64_t *longest_ns)
{
    const int64_t now_us = pleat_clock_monotonic_us();
    uint32_t count = 0;
    *longest_ns = 0;
    for (const struct pleat_part_voice *voice = NULL; (voice = pleat_remote_next(run, voice));) {
        uint64_t ns = (uint64_t)(now_us - voice->since_us) * 1000;
        if (!is_in_section(voice, now_us))
            continue;
        count += voice->not_now;
        *longest_ns = ns > *longest_ns ? ns : *longest_ns;
    }
    return count;
}

static void hear_sections(struct pleat_part_voice *voice, uint32_t not_now)
{
    const int64_t now_us = pleat_clock_monotonic_us();
    if (!is_in_section(voice, now_us))
        voice->since_us = now_us;
    voice->not_now = not_now;
    voice->heard_us = now_us;
}

int pleat_remote_said(struct pleat_run *run, const json_t *params, struct pleat_error *err)
{
    int64_t number = 0, order = 0, k = 0, not_now = 0, waiting = 0;
    bool yes = false;
    int rc = pleat_get_int(params, "part", true, 1, UINT32_MAX, &number, err);
    if (!rc)
        rc = pleat_get_int(params, "order", true, 0, UINT32_MAX, &order, err);
    if (!rc)
        rc = pleat_get_int(params, "not_now", false, 0, PLEAT_PARAM_RANKS_MAX, &not_now, err);
    if (!rc)
        rc = pleat_get_int(params, "waiting", false, 0, PLEAT_PARAM_RANKS_MAX, &waiting, err);
    if (!rc)
        rc = pleat_get_bool(params, "yes", true, &yes, err);
    if (!rc)
        rc = pleat_get_int(params, "k", false, 0, INT64_MAX, &k, err);
    struct pleat_part *part = rc ? NULL : pleat_part_find(run, number);
    if (part) {
        hear_sections(&part->voice, (uint32_t)not_now);
        part->voice.waiting = (uint32_t)waiting;
    }
    if (!part || part->voice.order >= order)
        return rc;
    part->voice.order = (uint32_t)order;
    part->voice.yes = yes;
    part->voice.k = (uint64_t)k;
    return 0;
}

int pleat_remote_output(struct pleat_run *run, const json_t *params, const char *bytes,
                        size_t count, struct pleat_error *err)
{
    int64_t number = 0, stream = 0, offset = 0;
    int rc = pleat_get_int(params, "part", true, 1, UINT32_MAX, &number, err);
    if (!rc)
        rc = pleat_get_int(params, "stream", true, 1, STREAMS, &stream, err);
    if (!rc)
        rc = pleat_get_int(params, "offset", true, 0, INT64_MAX / 2, &offset, err);
    struct pleat_part *part = rc ? NULL : pleat_part_find(run, number);
    if (!part)
        return rc;
    int64_t *taken = &part->taken[stream - 1], end = offset + (int64_t)count;
    if (offset <= *taken && end > *taken && part->connection)
        give(part, (int)stream, bytes + (*taken - offset), (size_t)(end - *taken));
    if (offset <= *taken && end > *taken)
        *taken = end;
    if (!part->connection)
        part->heard[stream - 1] = *taken;
    if (part->heard[stream - 1] >= end)
        pleat_part_tell_heard(
            part, (int)stream); /* also if that was told before: it may not have arrived */
    return 0;
}
