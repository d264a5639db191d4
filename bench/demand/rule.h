/* rule.h - what an application asks for whose cells become more and fewer: the rule of apps/flow
 * (master.c), but that a request is not withdrawn. The program (app.c) and the simulation
 * (demand_sim.c) have the same. */
#ifndef PLEAT_BENCH_DEMAND_RULE_H
#define PLEAT_BENCH_DEMAND_RULE_H

#include <stdbool.h>

enum { DEMAND_STEPS_MAX = 512 };

struct demand_row { /* of a step */
    int cells, wanted;
};

/* How many more it asks for. */
static inline int demand_adds(struct demand_row row, int has, int coming)
{
    return row.wanted > has + coming ? row.wanted - has - coming : 0;
}

/* Whether it stops one: not one that it would want again at once. */
static inline bool demand_stops(struct demand_row row, int objects, int has, int coming)
{
    return coming == 0 && has > 1 && has > row.wanted &&
           row.cells < (long)(has - 1) * objects * 9 / 10;
}

/* How long a step takes, if it takes `step_us` with as many processes as are wanted: cells for
 * which there is no process are divided over the others. */
static inline double demand_step_us(struct demand_row row, int has, double step_us)
{
    return has < row.wanted ? step_us * row.wanted / has : step_us;
}

#endif
