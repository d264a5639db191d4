/* What a policy that goes by a learned curve says of a job's size. */
#include <math.h>
#include <string.h>

#include "base/timefmt.h"
#include "cli/common/reply.h"
#include "cli/jobs/why_text.h"

/* "16 processors would shorten its iterations by 2 %" */
static void add_gain(const json_t *spot, struct pleat_string *out)
{
    double gain = 100 * pleat_reply_real(spot, "gain");
    long long processors = (long long)pleat_reply_int(spot, "processors", 0);
    pleat_string_addf(out, "%lld processor%s would make its iterations %.3g %% %s", processors,
                      processors == 1 ? "" : "s", fabs(gain), gain >= 0 ? "shorter" : "longer");
}

static void add_cost(const json_t *spot, struct pleat_string *out)
{
    char cost[PLEAT_TIME_SIZE], left[PLEAT_TIME_SIZE];
    pleat_string_addf(out, ", which would not pay back a change of %s in the %s that are left",
                      pleat_time_span(pleat_reply_real(spot, "cost_s"), cost),
                      pleat_time_span(pleat_reply_real(spot, "left_s"), left));
}

void pleat_why_add_spot(const json_t *spot, struct pleat_string *out)
{
    const char *advice = pleat_reply_text(spot, "advice", "");
    if (!strcmp(advice, "unmeasured")) {
        pleat_string_add(out, "no iteration at its present size was measured yet");
    } else if (!strcmp(advice, "stay")) {
        pleat_string_add(out, "it is at its sweet spot, as far as is known");
    } else if (!strcmp(advice, "little")) {
        add_gain(spot, out);
        pleat_string_addf(out, ", less than the %.3g %% wanted",
                          100 * pleat_reply_real(spot, "wanted"));
    } else if (!strcmp(advice, "unsure")) {
        add_gain(spot, out);
        pleat_string_addf(out, ", but that is not certain: it may be %.2g %% more or less",
                          100 * pleat_reply_real(spot, "error"));
    } else if (!strcmp(advice, "costs")) {
        add_gain(spot, out);
        add_cost(spot, out);
    } else {
        add_gain(spot, out);
    }
}
