/* chart.h - what `chart` and `mix` share. */
#ifndef PLEAT_CLI_CHARTS_CHART_H
#define PLEAT_CLI_CHARTS_CHART_H

#include "chart/gantt.h"
#include "client/client.h"

/* The daemon's answers from which a chart is drawn. */
struct pleat_chart_data {
    int64_t after; /* only events after this number (0: all) */
    json_t *events;
    json_t *jobs;  /* all of them */
    json_t *sites; /* the answer to `sites` */
};

/* Fetches *data, for the events after data->after. Returns 0; or an exit code, having reported why.
 */
int pleat_chart_fetch(struct pleat_client *client, struct pleat_chart_data *data);
void pleat_chart_data_finish(struct pleat_chart_data *data);

/* Builds the model (pleat_gantt_build) from the data, up to now. */
int pleat_chart_build(const struct pleat_chart_data *data, const json_t *only,
                      struct pleat_gantt *gantt, struct pleat_error *err) PLEAT_MUST_CHECK;

/* Prints the chart on stdout, in the size of the terminal. Returns an exit code. */
int pleat_chart_print(const struct pleat_gantt *gantt, bool ascii);

#endif
