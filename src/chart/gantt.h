/* gantt.h - which job held which processors when: the model behind the charts, built from events.
 */
#ifndef PLEAT_CHART_GANTT_H
#define PLEAT_CHART_GANTT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/array.h"
#include "figure/term.h"

enum pleat_gantt_use {
    PLEAT_GANTT_RUN,
    PLEAT_GANTT_GROWTH,  /* claimed for a job that still computes at its old size */
    PLEAT_GANTT_EARMARK, /* claimed for the job, which waits for more */
    PLEAT_GANTT_LEAVING, /* on their way back to the site */
    PLEAT_GANTT_USE_COUNT
};

struct pleat_gantt_job {
    int64_t job;
    const char *name;                /* borrowed from the answers that the model was built from */
    double submit_s, start_s, end_s; /* since the origin; NAN: not yet */
};

/* The processors in rows [row, row + count), in the time [from_s, to_s). */
struct pleat_gantt_interval {
    size_t job; /* index into jobs */
    int64_t claim;
    enum pleat_gantt_use use;
    size_t node; /* index into nodes */
    int64_t first;
    int64_t row, count;
    double from_s, to_s;
};

/* A node's processors are rows [row, row + slots). */
struct pleat_gantt_node {
    const char *site;
    int64_t number;
    int64_t row, slots;
};

struct pleat_gantt {
    PLEAT_ARRAY(, struct pleat_gantt_job) jobs;
    PLEAT_ARRAY(, struct pleat_gantt_interval) intervals;
    PLEAT_ARRAY(, struct pleat_gantt_node) nodes;
    int64_t rows;
    double origin_s;     /* seconds since 1970: time 0 of the chart */
    double from_s, to_s; /* the window, since the origin */
    /* drawings have the time of day on their axis, instead of the time since the origin */
    bool clock;
    /* an interval has all that a job held at that time: drawings do not split it into rows */
    bool whole;
};

/* Builds the model from the daemon's events (oldest first), all jobs, and the sites; all are
 * borrowed for the life of the model. `only`: numbers of the jobs to show (NULL: all). Time 0 is
 * the first submission of these jobs. Intervals that have not ended end at now_s (seconds since
 * 1970). Odd or contradictory events are skipped. PLEAT_E_NOMEM. */
int pleat_gantt_build(struct pleat_gantt *gantt, const json_t *events, const json_t *jobs,
                      const json_t *sites, const json_t *only, double now_s,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_gantt_finish(struct pleat_gantt *gantt);

/* The processors in use (running or leaving) over the window, as a share from 0 to 1. */
double pleat_gantt_utilization(const struct pleat_gantt *gantt);

/* The distance of marks on a time axis of `span` seconds, so that at most `most` marks fit: 1, 2 or
 * 5 times a power of ten. */
double pleat_gantt_step(double span, int most);
/* The number of marks, `step` apart, in the window; the place of the i-th mark. */
long pleat_gantt_marks(const struct pleat_gantt *gantt, double step);
double pleat_gantt_mark(const struct pleat_gantt *gantt, double step, long i);

/* The model as JSON:
 * {"from_s","to_s","origin_s","processors","utilization","jobs":[...],"intervals":[...]}. NULL: out
 * of memory. */
json_t *pleat_gantt_json(const struct pleat_gantt *gantt);
const char *pleat_gantt_use_name(enum pleat_gantt_use use);

/* Appends the chart in characters, with at most `height` rows of processors (0: no limit). */
void pleat_gantt_add_text(const struct pleat_gantt *gantt, const struct pleat_term *term,
                          int height, struct pleat_string *out);

/* The colour (of 256) in the chart in characters of the job with this index. */
int pleat_gantt_text_colour(size_t job);

/* Appends the chart as an SVG document. */
void pleat_gantt_add_svg(const struct pleat_gantt *gantt, struct pleat_string *out);
/* Writes the SVG document to a file, which is replaced as a whole. */
int pleat_gantt_write(const struct pleat_gantt *gantt, const char *path,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
