/* combined.c - the policy that combines P and PP, beside them. The paper has none: what is told
 * here is no finding of it. */
#include "experiments/application-agent/agent.h"

static const int shown[] = {FACE, PENDING, LATE, SPREAD, STAGE, WIDER, UNPREDICTABLE, BY_PROCESS};

static struct pleat_estimate scaled(struct pleat_estimate estimate, double by)
{
    estimate.mean *= by;
    estimate.half *= by;
    return estimate;
}

static void table(struct pleat_page *page, const struct pleat_numbers *n)
{
    pleat_page_table(page, "reading|S of P, %|S of PP, %|S, %|first S, %|W of P|W of PP|W|W / "
                           "P|W / PP|first W / P");
    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
        static const struct {
            size_t metric;
            double scale;
            int policy, decimals;
        } cells[] = {{S_LEARNT, 100, P, 1},         {S_LEARNT, 100, PP, 1},
                     {S_LEARNT, 100, COMBINED, 1},  {SATISFIED, 100, COMBINED, 1},
                     {W_LEARNT, 0.001, P, 0},       {W_LEARNT, 0.001, PP, 1},
                     {W_LEARNT, 0.001, COMBINED, 1}};
        int r = shown[i];
        pleat_page_cell(page, "%s", agent_reading_name(r));
        for (size_t c = 0; c < sizeof(cells) / sizeof(cells[0]); c++)
            pleat_page_cell_estimate(
                page, scaled(agent_of(n, r, cells[c].policy, cells[c].metric), cells[c].scale),
                cells[c].decimals);
        pleat_page_cell_estimate(page, agent_share(n, r, COMBINED, P, W_LEARNT), 2);
        pleat_page_cell_estimate(page, agent_share(n, r, COMBINED, PP, W_LEARNT), 2);
        pleat_page_cell_estimate(page, agent_share(n, r, COMBINED, P, WASTE), 2);
    }
}

void agent_tell_combined(struct pleat_study *study, const struct pleat_numbers *n)
{
    struct pleat_page *page = &study->page;
    pleat_page_heading(page, "P and PP combined");
    pleat_page_paragraph(
        page,
        "The paper leaves open how P and PP could be combined. The policy `combined` "
        "(`src/policy/buffer/combined.c`) reviews a buffer every t_p and every 5 iterations. It "
        "keeps as many processes as earlier executions asked for, on average, from now to the end "
        "of PP's look ahead, where a tenth of a request counts as one; so it does not rely on one "
        "iteration. The look ahead is as long as the longest allocation so far, and at least their "
        "mean and three standard deviations. Without earlier executions it keeps RL, as P does. In "
        "the table S, W and \"first\" are those of `combined`.");
    table(page, n);
    pleat_page_item(
        page,
        "S of `combined` is %s %% as printed, and %s %% where requests come in any of 10 "
        "iterations, where that of PP is %s %%. Where allocation times vary much (1000 ± 500) it "
        "is %s %%, with %s times W of P.",
        pleat_estimate_text(scaled(agent_of(n, FACE, COMBINED, S_LEARNT), 100), 1).text,
        pleat_estimate_text(scaled(agent_of(n, STAGE, COMBINED, S_LEARNT), 100), 1).text,
        pleat_estimate_text(scaled(agent_of(n, STAGE, PP, S_LEARNT), 100), 1).text,
        pleat_estimate_text(scaled(agent_of(n, UNPREDICTABLE, COMBINED, S_LEARNT), 100), 1).text,
        pleat_estimate_text(agent_share(n, UNPREDICTABLE, COMBINED, P, W_LEARNT), 2).text);
    pleat_page_item(page, "In the first execution nothing is known, and it does what P does; there "
                          "are hardly any retries in the history then, which make W of PP high in "
                          "its first executions.");
}
