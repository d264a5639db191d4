/* Folding by job type: Utrera 2010, 1.4.2, 5.3, figure 5.5.
 *
 *   short:                            start on idle processors, or on some of long ones folded
 *   long, no other long one waits:    start folded, on idle processors or on some of long ones
 *   long, others wait:                start unfolded, on idle processors or on some of long ones
 *
 * Figure 5.5 lets a long one wait where no other long one does and short ones run; the text (1.4.2,
 * 5.3) says that just then it starts folded, since processors will be free soon. The text is taken;
 * fjt-figure does what the figure says. fjt-1 is FJT (1) of chapter 6: nobody is folded or gives
 * anything up, so everybody starts unfolded on idle processors.
 *
 * How much: equal parts of what there is for all that wait, if a long one waits, for the long ones
 * (5.3). Folded: as many processes as it takes with at most its MPL on a processor. Taken where the
 * thesis is silent: a short one gets its equal part, counting all jobs that wait. Where nothing is
 * idle a job takes processors from long ones: if it starts folded, its equal part of all that these
 * have; else its part of what they can give up. */
#include "policy/classes.h"
#include "policy/policies.h"

struct rules {
    bool folds;        /* long jobs are folded: virtual malleability */
    bool short_in_way; /* a long job waits while short ones run: the figure */
};

static int32_t share(int32_t processors, int32_t among)
{
    return among > 1 ? processors / among : processors;
}

/* The largest start of a component on at most `available` processors, folded as far as that
 * takes. */
static struct pleat_start_size start_folded(const struct pleat_pass *pass, uint32_t component,
                                            int32_t available)
{
    const struct pleat_view *view = pass->view;
    const struct pleat_component *comp = &view->components[component];
    return (struct pleat_start_size){.processors = pleat_accept_start_floor(view, comp, available)};
}

/* How many processors to take from long jobs, which can spare `spare`, when those available are too
 * few to start. `part` is what the component is due; it takes no more than it can use. */
static int32_t take(const struct pleat_pass *pass, uint32_t component, uint32_t site,
                    int32_t available, int32_t part, int32_t spare, bool folded)
{
    int32_t least = folded ? pleat_accept_start(pass->view, &pass->view->components[component])
                           : pleat_smallest_unfolded(pass, component, site);
    int32_t most = available + (part < spare ? part : spare);
    if (least > available + spare)
        return 0;
    struct pleat_start_size size =
        folded ? start_folded(pass, component, most)
               : pleat_start_unfolded(pass, component, site, most, PLEAT_SIZE_MAX);
    return (size.processors > least ? size.processors : least) - available;
}

static struct pleat_start_size short_size(const struct pleat_pass *pass, uint32_t component,
                                          uint32_t site, int32_t available, struct rules rules)
{
    int32_t waiting = pleat_waiting(pass);
    struct pleat_start_size size =
        pleat_start_share(pass, component, site, share(available, waiting), available, 1);
    if (size.processors > 0 || !rules.folds)
        return size;
    int32_t spare = pleat_long_ones(pass, site).spare;
    size.take = take(pass, component, site, available, share(spare, waiting), spare, false);
    return size;
}

static struct pleat_start_size long_size(const struct pleat_pass *pass, uint32_t component,
                                         uint32_t site, int32_t available, struct rules rules)
{
    int32_t waiting = pleat_waiting_long(pass, pass->view->sites[site].capacity + 1);
    bool folded = rules.folds && waiting <= 1;
    if (folded && rules.short_in_way && pleat_short_runs(pass, site))
        return (struct pleat_start_size){0};
    struct pleat_start_size size =
        folded ? start_folded(pass, component, available)
               : pleat_start_share(pass, component, site, share(available, waiting), available,
                                   rules.folds ? PLEAT_SIZE_MAX : 1);
    if (size.processors > 0 || !rules.folds)
        return size;
    struct pleat_long_ones ones = pleat_long_ones(pass, site);
    int32_t part = folded ? share(ones.processors, ones.count + 1) : share(ones.spare, waiting);
    size.take = take(pass, component, site, available, part, ones.spare, folded);
    return size;
}

static struct pleat_start_size size_by(const struct pleat_pass *pass, uint32_t component,
                                       uint32_t site, int32_t available, struct rules rules)
{
    return pleat_is_short(&pass->view->components[component])
               ? short_size(pass, component, site, available, rules)
               : long_size(pass, component, site, available, rules);
}

static struct pleat_start_size fjt_size(struct pleat_pass *pass, uint32_t component, uint32_t site,
                                        int32_t available)
{
    return size_by(pass, component, site, available, (struct rules){true, false});
}

static struct pleat_start_size fjt_figure_size(struct pleat_pass *pass, uint32_t component,
                                               uint32_t site, int32_t available)
{
    return size_by(pass, component, site, available, (struct rules){true, true});
}

static struct pleat_start_size fjt_1_size(struct pleat_pass *pass, uint32_t component,
                                          uint32_t site, int32_t available)
{
    return size_by(pass, component, site, available, (struct rules){false, false});
}

const struct pleat_policy pleat_policy_fjt = {
    .number = 14,
    .version = 1,
    .question = PLEAT_MOLDABILITY,
    .name = "fjt",
    .source = "Utrera 2010, 5.3",
    .summary = "folding by job type: short ones take from long ones, which start folded",
    .size = fjt_size,
};

const struct pleat_policy pleat_policy_fjt_figure = {
    .number = 17,
    .version = 1,
    .question = PLEAT_MOLDABILITY,
    .name = "fjt-figure",
    .source = "Utrera 2010, figure 5.5",
    .summary = "the same, but a long one waits while short ones run",
    .size = fjt_figure_size,
};

const struct pleat_policy pleat_policy_fjt_1 = {
    .number = 18,
    .version = 1,
    .question = PLEAT_MOLDABILITY,
    .name = "fjt-1",
    .source = "Utrera 2010, 6.5.1 b and c",
    .summary = "folding by job type without folding: equal parts of what is idle",
    .size = fjt_1_size,
};
