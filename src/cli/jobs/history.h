/* history.h - accounting of jobs as rows: collected, grouped, printed as a table, CSV or JSON. */
#ifndef PLEAT_CLI_JOBS_HISTORY_H
#define PLEAT_CLI_JOBS_HISTORY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum pleat_history_kind {
    PLEAT_HISTORY_TEXT,
    PLEAT_HISTORY_COUNT,  /* a whole number */
    PLEAT_HISTORY_SPAN,   /* seconds */
    PLEAT_HISTORY_WORK,   /* processor-seconds */
    PLEAT_HISTORY_MOMENT, /* seconds since 1970 */
    PLEAT_HISTORY_SHARE,  /* 0 to 1 */
    PLEAT_HISTORY_MEMORY, /* KiB */
    PLEAT_HISTORY_PART    /* 0 to 1; the column is shown only where a row has it */
};

/* A member of a row. title NULL: the column is only in output for programs. */
struct pleat_history_column {
    const char *member, *title;
    enum pleat_history_kind kind;
};

enum pleat_history_by {
    PLEAT_BY_JOB,
    PLEAT_BY_SIZE,
    PLEAT_BY_RESIZE,
    PLEAT_BY_NAME,
    PLEAT_BY_DAY,
    PLEAT_BY_COUNT
};

/* The states of a job that its user sees; NULL after the last. */
extern const char *const pleat_history_states[];
/* The name of a grouping: "job", "size", ... */
const char *pleat_history_by_name(enum pleat_history_by by);
/* The columns of rows of this grouping; one without member ends them. */
const struct pleat_history_column *pleat_history_columns(enum pleat_history_by by);
/* Makes the rows for the daemon's entries (docs/protocol.md, an entry of `history`): a new array.
 */
json_t *pleat_history_rows(const json_t *jobs, enum pleat_history_by by);
/* For one entry: what the job used at each size; what each of its resizes cost. New arrays. */
json_t *pleat_history_sizes(const json_t *job);
json_t *pleat_history_resizes(const json_t *job);
extern const struct pleat_history_column pleat_history_resize_columns[];
/* {"jobs","processor_s","resize_s","resizes","cpu_s","wait_s"}: sums over entries. */
json_t *pleat_history_totals(const json_t *jobs);

/* Memory in a unit for people: "12.3 MiB". size: 24 or more. */
void pleat_history_memory(double kib, char *text, size_t size);

/* Print rows; both return an exit code. chosen: the user named the columns, so that each row is one
 * line in a pipe. */
int pleat_history_table(const json_t *rows, const struct pleat_history_column *columns,
                        bool chosen);
int pleat_history_csv(const json_t *rows, const struct pleat_history_column *columns);

/* Prints what earlier runs of the programs that match a pattern have measured, or has that
 * forgotten. Returns an exit code. */
int pleat_history_programs(const char *program, bool clear);

#endif
