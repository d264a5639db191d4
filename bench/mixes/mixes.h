/* mixes.h - the job mixes of Swaminathan 2004, 4.3, scaled: malleable programs of apps/ at a pleatd
 * that has more processors than the machine (ranks sleep where they would compute), the same jobs
 * with sizes that do not change, and the same simulated from what the programs were measured to
 * take. */
#ifndef PLEAT_BENCH_MIXES_MIXES_H
#define PLEAT_BENCH_MIXES_MIXES_H

#include "fold/eval.h"
#include "fold/live.h"

enum { MIXES_SIZES = 8, MIXES_JOBS = 8, MIXES_WAYS_MAX = 5 };
extern const int mixes_sizes[MIXES_SIZES]; /* those of the thesis's tables 1 and 2 */

enum mixes_program {
    MIXES_PRODUCT,
    MIXES_FACTORS,
    MIXES_JACOBI,
    MIXES_IMAGE,
    MIXES_SPARSE,
    MIXES_WORKERS,
    MIXES_PROGRAMS
};
/* "dense --lu --n 96": the command without what differs from job to job. */
extern const char *const mixes_commands[MIXES_PROGRAMS];

struct mixes_job {
    enum mixes_program program;
    int iterations, initial;
    int useful; /* ranks that its computing can use: more make it no faster */
    /* what an iteration pretends to compute: on every rank, and shared by the ranks; in seconds */
    double alone_s, shared_s;
    double submit_s;
};

/* How a mix is run. */
struct mixes_way {
    const char *name;
    const char *policies; /* as pleat_trial_policies takes them */
    bool malleable;
    bool moldable;         /* its size is chosen when it starts */
    int sizes[MIXES_JOBS]; /* else, of each job */
};

struct mixes_mix {
    const char *name;
    double scale; /* the thesis's seconds, or those of its simulated page, over the seconds here */
    int processors, count;
    struct mixes_job jobs[MIXES_JOBS];
    int way_count;
    struct mixes_way ways[MIXES_WAYS_MAX]; /* the first one is the thesis's scheduler */
};

enum { MIXES_FIRST, MIXES_SECOND, MIXES_MIXES };
extern const struct mixes_mix mixes_mixes[MIXES_MIXES];

/* ---- what the programs take beside what they pretend ---- */

struct mixes_feed {
    double iteration_s[MIXES_PROGRAMS][MIXES_SIZES];
    double start_s[MIXES_PROGRAMS][MIXES_SIZES]; /* and to end */
    struct live_changes changes;                 /* what they let one stand still */
};
/* Runs each program alone at each size (quick: at the first one), and some that change. */
void mixes_measure(struct mixes_feed *feed, double times, bool quick, struct bench_series *others);
/* How long a job takes alone on that many processors, which are one of mixes_sizes. */
double mixes_time_s(const struct mixes_feed *feed, const struct mixes_job *job, int size,
                    double times);

/* ---- runs ---- */

/* Both fill outcomes[mix->count]; the first returns how many processors others used. */
double mixes_run(const struct mixes_mix *mix, const struct mixes_way *way, double times,
                 struct live_outcome *outcomes);
/* stretch: of all run times. */
void mixes_simulate(const struct mixes_mix *mix, const struct mixes_way *way, double times,
                    const struct mixes_feed *feed, struct live_changes changes, double stretch,
                    struct live_outcome *outcomes);

/* ---- what came of a run ---- */

double mixes_response_s(const struct mixes_mix *mix, const struct live_outcome *outcomes);
/* How many times as long as alone, at the sizes that they had and without changes, jobs took. */
double mixes_stretch(const struct mixes_mix *mix, const struct mixes_feed *feed, double times,
                     const struct live_outcome *outcomes);
/* What a job has at a time; 0 before its start and from its end on. */
int mixes_size_at(const struct live_outcome *outcome, double at_s);
/* "4, 6, 9, 6, 9": the sizes of a job, in the order in which it had them. */
const char *mixes_sizes_text(const struct live_outcome *outcome, char *text, size_t size);

/* ---- results, and the page ---- */

/* LIVE; simulated, fed from what was measured alone; likewise with the changes of that run; with
 * all times stretched, too; and of moldable jobs with the sizes that they began with, too. */
enum { MIXES_LIVE, MIXES_FED, MIXES_CHANGES, MIXES_STRETCHED, MIXES_SIZED, MIXES_SOURCES };

struct mixes_cell { /* of a mix run in one way */
    bool wanted;
    int rounds;
    struct live_outcome first[MIXES_SOURCES][MIXES_JOBS]; /* of the first round */
    struct bench_series job_s[MIXES_CHANGES][MIXES_JOBS]; /* from start to end */
    struct bench_series response_s[MIXES_SOURCES];        /* mean over jobs */
    struct bench_series makespan_s[MIXES_SOURCES];
    struct bench_series grow_s, more_s, shrink_s, free_s, before_s, stretch, changes;
};

struct mixes_results {
    double times;
    struct mixes_feed feed;
    struct mixes_cell cells[MIXES_MIXES][MIXES_WAYS_MAX];
    /* of the first way, in how many rounds each statement of mixes_criteria.c held */
    int held[32];
};

void mixes_note(struct mixes_results *results, int mix, const struct live_outcome *outcomes);
void mixes_tell(struct eval *eval, const struct mixes_results *results);
void mixes_write_feed(struct pleat_page *page, const struct mixes_results *results);
void mixes_write_tables(struct pleat_page *page, const struct mixes_results *results, int mix);
int mixes_figure(struct pleat_page *page, const struct mixes_results *results, int mix,
                 struct pleat_error *err);

#endif
