/* remote_parts.h - the calls of pleat-remote, as the files about them share them (remote.h). */
#ifndef PLEAT_AGENT_REMOTE_PARTS_H
#define PLEAT_AGENT_REMOTE_PARTS_H

#include "agent/remote.h"
#include "wire/message.h"

enum { STREAMS = 2 };
enum pleat_part_stage { STAGE_NEW, STAGE_WANTED, STAGE_RUNNING, STAGE_ENDED };

/* A call of pleat-remote, which becomes a part when it says what it wants. */
struct pleat_part {
    struct pleat_part *next;
    struct pleat_run *run;
    struct pleat_connection *connection; /* NULL: it is gone */
    enum pleat_part_stage stage;
    bool leaves;         /* the run has left its node, and says so when the part has ended */
    uint32_t generation; /* of the run: pleat_remote_side.generation */
    uint32_t number;     /* from 1, in the run; 0: STAGE_NEW */
    uint32_t node;
    int64_t request; /* the request of pleat-remote, which is answered when the part has ended */
    json_t *wish;    /* what `part_wanted` says; NULL: the daemon need not be told any more */
    struct pleat_part_voice voice;
    /* how many bytes of each stream pleat-remote was given, and how many it has handed on */
    int64_t taken[STREAMS], heard[STREAMS];
};

struct pleat_node_name {
    char name[64];
    uint32_t node;
};
PLEAT_ARRAY(pleat_node_names, struct pleat_node_name);

/* What the launcher of one generation of the run's processes needs. */
struct pleat_remote_side {
    struct pleat_run *run;
    uint32_t generation; /* from 1, in the run; parts of an earlier one are being ended */
    struct pleat_listener *listener; /* NULL: the generation is on this node only, or is over */
    char path[128];
    struct pleat_node_names names; /* of all its nodes; empty where it is on this one only */
    const char *here;
};

struct pleat_remote {
    struct pleat_remote_side sides[2];
    struct pleat_remote_side *now;  /* the launcher of the generation that is the run's */
    struct pleat_remote_side *next; /* the launcher of new processes, if there are any */
    struct pleat_part *parts;
    uint32_t last; /* number of the last part */
};

void pleat_part_drop(struct pleat_part *part);
/* NULL: there is none with that number. */
struct pleat_part *pleat_part_find(const struct pleat_run *run, int64_t number);

void pleat_part_tell_unwanted(const struct pleat_part *part);
/* Tells what the daemon does not know yet: that the part is wanted, or is not any more. */
void pleat_part_report(const struct pleat_part *part);
/* Whether a part is of the generation that is the run's; of a new one, which waits. */
bool pleat_part_is_now(const struct pleat_part *part);
bool pleat_part_is_new(const struct pleat_part *part);
/* The daemon's word for the role of a part. */
const char *pleat_part_role(const struct pleat_part *part);
/* Tells the daemon the role of a part. */
void pleat_part_tell_role(const struct pleat_part *part);
/* Tells how much of a stream was handed on. */
void pleat_part_tell_heard(const struct pleat_part *part, int stream);
/* Nobody reads what the part writes any more: it need not be kept. */
void pleat_part_hear_all(struct pleat_part *part);
/* Of a part that has ended, on a node that the run has left: tells that, and drops it. */
void pleat_part_leave(struct pleat_part *part);

#endif
