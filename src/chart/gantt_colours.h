/* gantt_colours.h - the colours of jobs in a drawing. While jobs can be told apart each has its own
 * colour. Otherwise a job has that of its group, so that a legend can name it. */
#ifndef PLEAT_CHART_GANTT_COLOURS_H
#define PLEAT_CHART_GANTT_COLOURS_H

#include "chart/gantt.h"

enum { PLEAT_GANTT_COLOURS = 12, PLEAT_GANTT_NAMED_MAX = 60 };

struct pleat_gantt_group {
    char name[64];
    size_t jobs;
};

struct pleat_gantt_colours {
    size_t *of_job; /* of each job, its colour */
    bool grouped;   /* more than PLEAT_GANTT_NAMED_MAX jobs */
    const char *by; /* of grouped jobs: what the groups are about */
    size_t count;   /* of groups */
    struct pleat_gantt_group groups[PLEAT_GANTT_COLOURS];
};

/* shown: the number of jobs that are to be told apart. Jobs are grouped by name where there are few
 * different names, else by their processors at the start. PLEAT_E_NOMEM. Finish in any case. */
int pleat_gantt_colours_init(struct pleat_gantt_colours *colours, const struct pleat_gantt *gantt,
                             size_t shown) PLEAT_MUST_CHECK;
void pleat_gantt_colours_finish(struct pleat_gantt_colours *colours);

#endif
