/* workload.h - what the subcommands of `pleat workload` share. */
#ifndef PLEAT_CLI_WORKLOAD_WORKLOAD_H
#define PLEAT_CLI_WORKLOAD_WORKLOAD_H

#include "cli/common/cli.h"
#include "figure/plot.h"
#include "model/workload.h"
#include "scenario/oddities.h"
#include "scenario/read.h"
#include "workload/describe.h"
#include "workload/swf.h"

extern const struct pleat_cli_command pleat_cmd_workload_stat, pleat_cmd_workload_convert,
    pleat_cmd_workload_generate;
extern const struct pleat_cli_command pleat_cmd_workload_simple, pleat_cmd_workload_lublin,
    pleat_cmd_workload_utrera, pleat_cmd_workload_grid;

/* Reports on stderr what is wrong with a value. Returns the value for options->exit_code. */
int pleat_workload_usage(const struct pleat_options *options, const struct pleat_error *err);

/* Reads "skip" or "keep". */
int pleat_parse_zero(const char *what, const char *text, enum pleat_swf_zero *zero,
                     struct pleat_error *err) PLEAT_MUST_CHECK;

/* Reads operations a second. */
int pleat_parse_flops(const char *text, struct pleat_reading *reading,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
/* Says on stderr what a reader has noted, a line each. */
void pleat_say_notes(const char *name, const struct pleat_string *notes);

/* Appends "pleat workload ... OPTION..." for the header of a file. To be called after the options
 * were read. It is without the arguments, so that the same options give the same bytes whatever the
 * files are called. */
void pleat_workload_comment(const struct pleat_options *options, struct pleat_string *comment);

/* Writes the workload to `path` ("-": standard output), as a whole or not at all, and describes it
 * on stderr. source: what else the log has from which the workload was read; NULL: there is no such
 * log. Returns an exit code, having reported why. */
int pleat_workload_save(const struct pleat_workload *workload,
                        const struct pleat_swf_source *source, const char *path,
                        const char *comment);

/* Writes the jobs as a table with a header, as a whole or not at all; its columns are those of
 * libpleat-sim's table "workload". */
int pleat_workload_write_csv(const struct pleat_workload *workload, const char *path,
                             struct pleat_error *err) PLEAT_MUST_CHECK;

/* The figures of `pleat workload stat`. */
enum { PLEAT_FIGURE_COUNT = 6, PLEAT_FIGURE_TEXT_COUNT = 3 };
struct pleat_figures;
/* Makes the figures. The description must outlive them. NULL: out of memory. */
struct pleat_figures *pleat_figures_create(const struct pleat_workload *workload,
                                           const struct pleat_description *description);
/* PLEAT_FIGURE_COUNT panels. The first PLEAT_FIGURE_TEXT_COUNT of them are for the terminal. */
const struct pleat_plot *pleat_figures_panels(const struct pleat_figures *figures);
void pleat_figures_destroy(struct pleat_figures *figures);

#endif
