/* workload.h - what the subcommands of `pleat workload` share. */
#ifndef PLEAT_CLI_WORKLOAD_WORKLOAD_H
#define PLEAT_CLI_WORKLOAD_WORKLOAD_H

#include "cli/common/cli.h"
#include "figure/plot.h"
#include "model/workload.h"
#include "workload/describe.h"
#include "workload/swf.h"

extern const struct pleat_command pleat_cmd_workload_stat, pleat_cmd_workload_convert,
    pleat_cmd_workload_generate;
extern const struct pleat_command pleat_cmd_workload_simple, pleat_cmd_workload_lublin,
    pleat_cmd_workload_utrera, pleat_cmd_workload_grid;

/* Says on stderr what is wrong with a value; for options->exit_code. */
int pleat_workload_usage(const struct pleat_options *options, const struct pleat_error *err);

/* "skip" or "keep". */
int pleat_parse_zero(const char *what, const char *text, enum pleat_swf_zero *zero,
                     struct pleat_error *err) PLEAT_MUST_CHECK;

/* What is odd about a log that was read with those options, a sentence each: "12 jobs left out: no
 * run time". Not all: only what is otherwise in the workload than in the file. Returns how many. */
enum { PLEAT_ODDITIES_MAX = 12 };
struct pleat_oddities {
    char text[PLEAT_ODDITIES_MAX][120];
};
size_t pleat_workload_oddities(const struct pleat_swf_report *report,
                               const struct pleat_swf_options *options, bool all,
                               struct pleat_oddities *oddities);

/* Appends "pleat workload ... OPTION...": for the header of what is written. After the options were
 * read; without the arguments, so that the same options give the same bytes in any file. */
void pleat_workload_comment(const struct pleat_options *options, struct pleat_string *comment);

/* Writes the workload to `path` ("-": standard output), as a whole or not at all, and says on
 * stderr what it is. source: what else the log has that it was read from; NULL: there is none.
 * Returns an exit code, having said why. */
int pleat_workload_save(const struct pleat_workload *workload,
                        const struct pleat_swf_source *source, const char *path,
                        const char *comment);

/* The figures of `pleat workload stat`. */
enum { PLEAT_FIGURE_COUNT = 6, PLEAT_FIGURE_TEXT_COUNT = 3 };
struct pleat_figures;
/* NULL: out of memory. The description must outlive it. */
struct pleat_figures *pleat_figures_create(const struct pleat_workload *workload,
                                           const struct pleat_description *description);
/* PLEAT_FIGURE_COUNT panels, of which the first PLEAT_FIGURE_TEXT_COUNT are for the terminal. */
const struct pleat_plot *pleat_figures_panels(const struct pleat_figures *figures);
void pleat_figures_destroy(struct pleat_figures *figures);

#endif
