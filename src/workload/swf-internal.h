/* swf-internal.h - what the files that read and write the Standard Workload Format share. */
#ifndef PLEAT_WORKLOAD_SWF_INTERNAL_H
#define PLEAT_WORKLOAD_SWF_INTERNAL_H

#include "workload/decimal.h"
#include "workload/swf.h"

/* The standard's columns, from 0. */
enum pleat_swf_field {
    PLEAT_SWF_JOB,
    PLEAT_SWF_SUBMIT,
    PLEAT_SWF_WAIT,
    PLEAT_SWF_RUN,
    PLEAT_SWF_ALLOCATED,
    PLEAT_SWF_CPU,
    PLEAT_SWF_MEMORY,
    PLEAT_SWF_REQUESTED,
    PLEAT_SWF_REQUESTED_TIME,
    PLEAT_SWF_REQUESTED_MEMORY,
    PLEAT_SWF_STATUS,
    PLEAT_SWF_USER,
    PLEAT_SWF_GROUP,
    PLEAT_SWF_EXECUTABLE,
    PLEAT_SWF_QUEUE,
    PLEAT_SWF_PARTITION,
    PLEAT_SWF_PRECEDING,
    PLEAT_SWF_THINK,
    PLEAT_SWF_FIELDS
};

/* Reads the 18 columns and moves *at behind them. PLEAT_E_INVALID: err names the column. */
int pleat_swf_scan_fields(const char **at, const char *end,
                          struct pleat_decimal numbers[PLEAT_SWF_FIELDS],
                          struct pleat_error *err) PLEAT_MUST_CHECK;

void pleat_swf_fill_record(const struct pleat_decimal numbers[PLEAT_SWF_FIELDS],
                           struct pleat_swf_record *record);

/* Sets err to the error of the text at `at`, which is in a column (from 1). */
int pleat_swf_bad_column(const char *at, const char *end, int column, const char *name,
                         const char *what, struct pleat_error *err);

/* The name of a standard column: "allocated processors". */
const char *pleat_swf_field_name(int field);

/* ---- Pleat's columns ---- */

enum pleat_swf_extra {
    PLEAT_SWF_KIND,
    PLEAT_SWF_MINIMUM,
    PLEAT_SWF_MAXIMUM,
    PLEAT_SWF_INITIAL,
    PLEAT_SWF_SIZES,
    PLEAT_SWF_STEP,
    PLEAT_SWF_PROCESSES,
    PLEAT_SWF_APP,
    PLEAT_SWF_SITE,
    PLEAT_SWF_DEADLINE,
    PLEAT_SWF_BEGIN,
    PLEAT_SWF_PRIORITY,
    PLEAT_SWF_CLASS,
    PLEAT_SWF_MPL,
    PLEAT_SWF_PART,
    PLEAT_SWF_EXTRAS
};

/* Pleat's columns in a file, in their order. */
struct pleat_swf_layout {
    int count;
    enum pleat_swf_extra columns[PLEAT_SWF_EXTRAS];
};

/* Reads the names of a Pleat-Columns line. */
int pleat_swf_layout_parse(const char *at, const char *end, struct pleat_swf_layout *layout,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* Lists the columns that the workload needs: without them some job would be read back differently.
 */
void pleat_swf_layout_needed(const struct pleat_workload *workload,
                             struct pleat_swf_layout *layout);
const char *pleat_swf_extra_name(enum pleat_swf_extra extra);

/* Sets the members that these columns give to their defaults. number, submit_us, run_us,
 * estimate_us, processors and user stay. */
void pleat_swf_extras_default(struct pleat_workload_job *job);
/* Reads Pleat's columns of a line, which begin at *at, into a job that has the defaults. */
int pleat_swf_extras_read(const char **at, const char *end, const struct pleat_swf_layout *layout,
                          struct pleat_workload_job *job, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The number that a job has in a column. *time: it is in microseconds. */
int64_t pleat_swf_extra_get(const struct pleat_workload_job *job, enum pleat_swf_extra extra,
                            bool *time);

/* ---- reading ---- */

/* A log that is being read. */
struct pleat_swf_reading {
    const char *name;
    struct pleat_swf_options options;
    struct pleat_workload workload; /* what was read so far */
    struct pleat_swf_report report;
    struct pleat_swf_layout layout;
    struct pleat_swf_source source; /* filled where options.source is wanted */
    int32_t max_procs, max_nodes;   /* of the header; 0: not given */
    int64_t latest_us;              /* the latest submission so far */
    bool done;                      /* the wanted number of jobs was read */
    struct pleat_error *err;
};

/* Reads whole lines; *used is their length. The text behind the last end of line is a line only if
 * the whole text ends there (`last`). */
int pleat_swf_feed(struct pleat_swf_reading *reading, const char *text, size_t length, bool last,
                   size_t *used) PLEAT_MUST_CHECK;

#endif
