/* gantt_colours.h - which colour a job has in a drawing: its own while jobs can be told apart, else
 * that of its group, so that a legend can say what it means. */
#ifndef PLEAT_CHART_GANTT_COLOURS_H
#define PLEAT_CHART_GANTT_COLOURS_H

#include "chart/gantt.h"

enum { PLEAT_GANTT_COLOURS = 12, PLEAT_GANTT_NAMED_MAX = 60 };

struct pleat_gantt_group {
    char name[64];
    size_t jobs;
};

struct pleat_gantt_colours {
    size_t *of_job; /* by job */
    bool grouped;   /* more than PLEAT_GANTT_NAMED_MAX jobs */
    const char *by; /* then: what groups are about */
    size_t count;   /* of groups */
    struct pleat_gantt_group groups[PLEAT_GANTT_COLOURS];
};

/* shown: how many jobs there are to be told apart. By name, where there are some few names; else by
 * the processors at the start. PLEAT_E_NOMEM. Finish in any case. */
int pleat_gantt_colours_init(struct pleat_gantt_colours *colours, const struct pleat_gantt *gantt,
                             size_t shown) PLEAT_MUST_CHECK;
void pleat_gantt_colours_finish(struct pleat_gantt_colours *colours);

#endif
