/* chart.h - what `chart` and `mix` share. */
#ifndef PLEAT_CLI_CHARTS_CHART_H
#define PLEAT_CLI_CHARTS_CHART_H

#include "chart/gantt.h"
#include "client/client.h"

/* What the daemon says that a chart is drawn from. */
struct pleat_chart_data {
    int64_t after; /* events from this number on (0: all) */
    json_t *events;
    json_t *jobs;  /* all of them */
    json_t *sites; /* the answer */
};

/* Fills *data (all of it; `after` is read first). Returns 0 or an exit code, having said why. */
int pleat_chart_fetch(struct pleat_client *client, struct pleat_chart_data *data);
void pleat_chart_data_finish(struct pleat_chart_data *data);

/* pleat_gantt_build from what was fetched, up to now. */
int pleat_chart_build(const struct pleat_chart_data *data, const json_t *only,
                      struct pleat_gantt *gantt, struct pleat_error *err) PLEAT_MUST_CHECK;

/* Prints it on stdout, as large as the terminal. Returns an exit code. */
int pleat_chart_print(const struct pleat_gantt *gantt, bool ascii);

#endif
