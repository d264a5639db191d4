/* remote_parts.c - the calls of pleat-remote, and what is told of them. */
#include "agent/remote_parts.h"

#include "agent/notify.h"

/* ---- parts ---- */

void pleat_part_drop(struct pleat_part *part)
{
    struct pleat_part **at = &part->run->remote->parts;
    while (*at != part)
        at = &(*at)->next;
    *at = part->next;
    pleat_connection_close(part->connection);
    json_decref(part->wish);
    free(part);
}

struct pleat_part *pleat_part_find(const struct pleat_run *run, int64_t number)
{
    struct pleat_part *part = run->remote ? run->remote->parts : NULL;
    while (part && (number < 1 || part->number != number))
        part = part->next;
    return part;
}

bool pleat_part_is_now(const struct pleat_part *part)
{
    return part->generation == part->run->remote->now->generation;
}

bool pleat_part_is_new(const struct pleat_part *part)
{
    return part->generation > part->run->remote->now->generation;
}

const char *pleat_part_role(const struct pleat_part *part)
{
    return pleat_part_is_now(part) ? "now" : pleat_part_is_new(part) ? "new" : "old";
}

void pleat_part_tell_unwanted(const struct pleat_part *part)
{
    pleat_agent_notify(part->run->agent, "part_unwanted",
                       json_pack("{s:I, s:I}", "run", (json_int_t)part->run->id, "part",
                                 (json_int_t)part->number));
}

void pleat_part_tell_role(const struct pleat_part *part)
{
    if (part->number)
        pleat_agent_notify(part->run->agent, "part_role",
                           json_pack("{s:I, s:I, s:s}", "run", (json_int_t)part->run->id, "part",
                                     (json_int_t)part->number, "role", pleat_part_role(part)));
}

/* Tells the daemon what it does not know yet: that a part is wanted, or is not any more. */
void pleat_part_report(const struct pleat_part *part)
{
    if (part->stage == STAGE_WANTED)
        pleat_agent_notify(part->run->agent, "part_wanted", json_incref(part->wish));
    if ((part->stage == STAGE_WANTED || part->stage == STAGE_RUNNING) && !part->connection)
        pleat_part_tell_unwanted(part);
}

/* ---- what a part writes ---- */

void pleat_part_tell_heard(const struct pleat_part *part, int stream)
{
    pleat_agent_notify(part->run->agent, "part_heard",
                       json_pack("{s:I, s:I, s:i, s:I}", "run", (json_int_t)part->run->id, "part",
                                 (json_int_t)part->number, "stream", stream, "offset",
                                 (json_int_t)part->heard[stream - 1]));
}

/* Nobody reads what the part writes any more: it need not be kept. */
void pleat_part_hear_all(struct pleat_part *part)
{
    for (int stream = 1; stream <= STREAMS; stream++) {
        if (part->heard[stream - 1] == part->taken[stream - 1])
            continue;
        part->heard[stream - 1] = part->taken[stream - 1];
        pleat_part_tell_heard(part, stream);
    }
}

/* Drops a part that has ended, on a node that the run has left. */
void pleat_part_leave(struct pleat_part *part)
{
    pleat_agent_notify(part->run->agent, "part_left",
                       json_pack("{s:I, s:I}", "run", (json_int_t)part->run->id, "part",
                                 (json_int_t)part->number));
    pleat_part_drop(part);
}
