/* eval.h - what of published experiments can be run on this machine with real programs: pages of
 * parts, each of which plans runs, runs them in rounds, and writes what came of them. */
#ifndef PLEAT_BENCH_FOLD_EVAL_H
#define PLEAT_BENCH_FOLD_EVAL_H

#include "cases.h"
#include "experiment/page.h"

#define EVAL_TEXT 512

enum eval_answer { EVAL_UNCLEAR, EVAL_YES, EVAL_NO };

struct eval_shape {
    const char *where;
    enum eval_answer answer;
    char statement[EVAL_TEXT], measured[EVAL_TEXT];
};

PLEAT_ARRAY(eval_shapes, struct eval_shape);

struct eval_part;
struct eval_keeper;

/* A page: what it is about, and its parts. */
struct eval_about {
    const char *name; /* its folder's */
    const char *title, *introduction;
    const struct eval_part *parts[5]; /* NULL-terminated */
    int set;      /* of the parts that have loads: LOAD_SYNTHETIC or LOAD_CLASSES */
    double usual; /* its usual work is so many times that of its programs; 0: as much */
    /* what may not be concluded, NULL-terminated; NULL: its parts say that */
    const char *const *cautions;
};

struct eval {
    const struct eval_about *about;
    int rounds;
    double times; /* of the work of its programs */
    bool quick;
    bool stated;            /* of jobs that arrive: only what the paper's statements are about */
    const char *mpi, *only; /* NULL: all */
    struct pleat_page page; /* without its head */
    struct eval_shapes shapes;
    struct bench_series others; /* processors that others used, by run */
    /* where rounds are kept (eval_keep.h): when the first began and the last ended; else "" */
    char begun[32], ended[32];
};

struct eval_part {
    const char *name;
    void (*plan)(struct eval *eval);
    int (*runs)(void); /* of a round */
    void (*round)(struct eval *eval, int round);
    int (*report)(struct eval *eval, struct pleat_error *err);
    void (*keep)(struct eval_keeper *keeper); /* each value that was measured; NULL: it cannot */
};

extern const struct eval_part eval_heuristics, eval_queues, eval_policies, eval_loads,
    eval_arrivals, eval_scaling, eval_classes, eval_curves, eval_virtual, eval_koala, eval_mixes,
    eval_spots, eval_demand;

bool eval_wants(const struct eval *eval, enum trial_mpi mpi);
const char *eval_mpi_title(enum trial_mpi mpi);

/* Whether something is smaller: by the ratio of what has to be smaller to the other. EVAL_YES where
 * all of its interval is below 1, EVAL_NO where all is above. */
enum eval_answer eval_below(const struct bench_paired *ratio);
/* Whether the median of a series is above a limit, by its bounds: EVAL_UNCLEAR where the limit is
 * between them. */
enum eval_answer eval_above(const struct bench_series *series, double limit);
enum eval_answer eval_not(enum eval_answer answer);
/* Whether both are so. */
enum eval_answer eval_and(enum eval_answer one, enum eval_answer other);
/* A row of the table of shapes. `where`: "4.4.2, figure 4.9". */
void eval_tell(struct eval *eval, const char *statement, const char *where, enum eval_answer answer,
               const char *measured, ...) PLEAT_PRINTF(5, 6);
/* A row that says a ratio. `what`: "MPL 4, mean over programs". */
void eval_tell_ratio(struct eval *eval, enum trial_mpi mpi, const char *statement,
                     const char *where, enum eval_answer answer, const char *what,
                     const struct bench_paired *ratio);
/* Whether both are closer than 10 %, by all of the interval. */
enum eval_answer eval_similar(const struct bench_paired *ratio);

#define EVAL_RATIO_TEXT 48
/* "1.07 [1.02, 1.15]"; without the bounds where there are none, "-" without values. */
const char *eval_ratio(const struct bench_paired *ratio, char *text);
/* The same as a cell. */
void eval_cell(struct pleat_page *page, const struct bench_paired *ratio);
/* "0.412 [0.398 .. 0.533]": the median, the least, the most. */
void eval_cell_series(struct pleat_page *page, const struct bench_series *series);
/* Each round's mean (of the logarithms) over several series of ratios. */
struct bench_paired eval_mean(const struct bench_paired *ratios, int count);

/* "2026-11-28 10:15". */
void eval_now(char *text, size_t size);
#define EVAL_MACHINE_TEXT 256
/* The processors and the kernel: what times of two machines differ by at least. */
void eval_machine(char *text, size_t size);

/* Makes the folder of `directory` for the page, so that it is known before that it can be written.
 */
int eval_prepare(const struct eval *eval, const char *directory, struct pleat_error *err);
/* The page and its figures into that folder. */
int eval_write(struct eval *eval, const char *directory, const char *command,
               struct pleat_error *err);

#endif
