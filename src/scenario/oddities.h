/* oddities.h - what is odd about a log, in words. */
#ifndef PLEAT_SCENARIO_ODDITIES_H
#define PLEAT_SCENARIO_ODDITIES_H

#include "workload/swf.h"

/* What is odd about a log that was read with these options, a sentence each: "12 jobs left out: no
 * run time". Without `all` only what makes the workload differ from the file. Returns the number of
 * sentences. */
enum { PLEAT_ODDITIES_MAX = 13 };
struct pleat_oddities {
    char text[PLEAT_ODDITIES_MAX][120];
};
size_t pleat_workload_oddities(const struct pleat_swf_report *report,
                               const struct pleat_swf_options *options, bool all,
                               struct pleat_oddities *oddities);

#endif
