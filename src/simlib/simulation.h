/* simulation.h - a simulation of libpleat-sim, shared by its files. */
#ifndef PLEAT_SIMLIB_SIMULATION_H
#define PLEAT_SIMLIB_SIMULATION_H

#include "experiment/curve.h"
#include "pleat-sim.h"
#include "policy/policy.h"
#include "sim/sim.h"

enum { TABLE_COLUMNS_MAX = 64 };

struct sim_table {
    const char *name;
    struct pleat_simulation_column columns[TABLE_COLUMNS_MAX]; /* their values are the table's */
    size_t rows, count;
    bool made, failed; /* failed: out of memory while it was made */
};

enum table_of { TABLE_WORKLOAD, TABLE_JOBS, TABLE_RESIZES, TABLE_SERIES, TABLE_SUMMARY, TABLES };

struct own_policy { /* the program's answer to a question; NULL: it has none */
    pleat_simulation_answer *answer;
    void *context;
};

struct question {                          /* that the program is asked */
    int asked;                             /* enum pleat_simulation_asked; 0: it is asked nothing */
    struct pleat_pass *pass;               /* in which it is asked; NULL */
    const struct pleat_component *arrived; /* whose key it is asked for; NULL */
    uint32_t site;                         /* where it is to grow or shrink; PLEAT_NONE */
    uint32_t waiter;                       /* for whom it is to shrink; PLEAT_NONE */
    int32_t left;                          /* of the processors that it is asked for */
};

PLEAT_ARRAY(changes, struct pleat_sim_change);

struct pleat_simulation {
    struct pleat_workload workload;
    struct pleat_string notes;          /* of reading the workload, */
    struct pleat_string platform_notes; /* and of reading platforms */
    struct pleat_string told_notes;     /* both, as last given */
    struct pleat_string app;            /* the text last given */
    struct pleat_platform platform;
    struct pleat_platform used; /* of the last run: the platform, or one site */
    struct pleat_sim_options options;
    struct own_policy own[PLEAT_QUESTION_COUNT];
    pleat_simulation_told *told;
    void *told_context;

    /* while it runs */
    struct question question;
    bool ended; /* the program has ended the run */
    struct pleat_error why;

    /* of the last run */
    struct pleat_sim_outcome *outcomes;
    struct pleat_sim_totals totals;
    struct changes resizes;
    struct pleat_edges edges; /* how the number of processors in use changed */
    int64_t stood_us;
    bool ran;

    struct sim_table tables[TABLES];
    const char **site_names; /* labels; of the used platform */
};

/* The results of the last run, and tables, are no more. */
void simulation_forget(struct pleat_simulation *simulation);
void simulation_forget_table(struct sim_table *table);

/* The program's policy of a question; it answers only while the simulation runs in this thread. */
const struct pleat_policy *own_policy_of(enum pleat_question question);
/* Sets whose policies of the program's own are asked in this thread; returns whose were; NULL:
 * nobody's. */
struct pleat_simulation *own_policies_of(struct pleat_simulation *simulation);

#endif
