/* flow.h - what the files of flow share (flow.c). */
#ifndef PLEAT_APPS_FLOW_H
#define PLEAT_APPS_FLOW_H

#include <stdio.h>

#include "graph.h"
#include "pleat-process.h"

enum { MEMBERS_MAX = 256, ROOTS_MAX = 4096 };

/* Types of messages. */
enum { CHART = 1, SUMS, VALUES, EDGES, ROOTS };

struct options {
    int32_t columns, rows, iterations,
        every;       /* every: iterations from one adaptation to the next */
    int32_t objects; /* cells that a process should have */
    int32_t cell_us; /* a cell is pretended to take so long in an iteration */
};

/* What the master tells all, and newcomers first of all. */
struct chart {
    struct options options;
    int32_t iteration, done;
    /* the first `staying` of the members go on; another one gives its roots away, and is stopped */
    int32_t member_count, staying;
    int32_t members[MEMBERS_MAX];
    int16_t before[ROOTS_MAX],
        now[ROOTS_MAX]; /* places in `members` of who has had, and has, a root */
};

struct flow {
    struct pleat_processes *processes;
    struct graph graph;
    struct chart chart;
    struct options options;
    int32_t self, roots, iteration;
    int32_t owners[ROOTS_MAX]; /* their numbers as processes */
    /* of the master */
    FILE *log;
    int32_t members[MEMBERS_MAX], member_count;
    int32_t coming[MEMBERS_MAX], coming_count; /* asked for, not there */
    int32_t leaving;                           /* has no roots any more; PLEAT_PROCESS_NONE */
    int32_t cells, most_members, added, at_once, stopped;
    double mass, energy; /* at the beginning */
    uint64_t hash;
    bool alone; /* nobody can be asked for processes */
};

/* ---- share.c: messages, neighbours, roots that migrate ---- */

/* Ends the process, with an exit status of 1. */
_Noreturn void flow_fail(const char *format, ...);
/* Ends it where a call has failed. */
void flow_check(int rc, const struct pleat_error *err);
void flow_need(bool had_memory);

struct buffer {
    char *bytes;
    size_t count, room;
};

void flow_send(struct flow *flow, int32_t to, int32_t type, const void *bytes, size_t count);
/* Takes the next message of that type; *buffer is used again. Returns its length. */
size_t flow_take(struct flow *flow, int32_t from, int32_t type, struct buffer *buffer);
/* Stand-ins get the values of now. */
void flow_exchange_values(struct flow *flow);
/* Stand-ins are made anew, and the walls to them. */
void flow_exchange_edges(struct flow *flow);
/* Roots go from who has had them to who has them, by the chart. */
void flow_migrate(struct flow *flow);

static inline bool is_here(const struct flow *flow, int32_t root)
{
    return flow->owners[root] == flow->self;
}

/* ---- master.c ---- */

/* The master begins: it has everything. */
void flow_begin(struct flow *flow);
/* It is told how much there is, and tells all who has what from now on. */
void flow_direct(struct flow *flow);
/* How it went. Returns an exit status. */
int flow_report(const struct flow *flow);

#endif
