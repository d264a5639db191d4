#include "experiments/published.h"

#include <stdbool.h>
#include <string.h>

#define LIU "Liu et al. 2009"
#define BUISSON "Buisson et al. 2007"
#define LAMMERS "Lammers 2005"
#define SWAMINATHAN "Swaminathan 2004"
#define UTRERA "Utrera 2010"

#define NEITHER(paper, what, why)                                                                  \
    {                                                                                              \
        paper, what, {NULL, NULL}, {{NULL, NULL}, {NULL, NULL}}, why                               \
    }
#define SIMULATED(paper, what, page, labels)                                                       \
    {                                                                                              \
        paper, what, {page, labels}, {{NULL, NULL}, {NULL, NULL}}, NULL                            \
    }
/* Utrera 2010, chapter 4. TOGETHER: jobs that begin together; POLICIES: these, under all rows of
 * table 4.4, too; ARRIVING: these, and jobs that arrive over time. */
#define TOGETHER(what, together)                                                                   \
    {                                                                                              \
        UTRERA, what, {NULL, NULL}, {{"self-coscheduling", together}, {NULL, NULL}}, NULL          \
    }
#define POLICIES(what, together, policies)                                                         \
    {                                                                                              \
        UTRERA, what, {NULL, NULL},                                                                \
            {{"self-coscheduling", together}, {"coscheduling-policies", policies}}, NULL           \
    }
#define ARRIVING(what, together, arrivals)                                                         \
    {                                                                                              \
        UTRERA, what, {NULL, NULL},                                                                \
            {{"self-coscheduling", together}, {"coscheduling-arrivals", arrivals}}, NULL           \
    }

/* Programs of the paper's classes, each alone. */
#define CLASSES(what, labels)                                                                      \
    {                                                                                              \
        UTRERA, what, {NULL, NULL}, {{"program-classes", labels}, {NULL, NULL}}, NULL              \
    }

#define AGENT_BOTH(what, labels, live)                                                             \
    {                                                                                              \
        LIU, what, {"application-agent", labels},                                                  \
            {{"application-agent-live", live}, {NULL, NULL}}, NULL                                 \
    }
#define KOALA(what, labels) SIMULATED(BUISSON, what, "koala-malleable", labels)
#define KOALA_BOTH(what, labels, live)                                                             \
    {                                                                                              \
        BUISSON, what, {"koala-malleable", labels},                                                \
            {{"koala-malleable-live", live}, {NULL, NULL}}, NULL                                   \
    }
#define RUNNERS(what, labels) SIMULATED(LAMMERS, what, "koala-runners", labels)
#define RESIZABLE(what, labels) SIMULATED(SWAMINATHAN, what, "resizable", labels)
/* Job mixes that really run. */
#define RESIZED(what, live)                                                                        \
    {                                                                                              \
        SWAMINATHAN, what, {NULL, NULL}, {{"job-mixes-live", live}, {NULL, NULL}}, NULL            \
    }
#define RESIZABLE_BOTH(what, labels, live)                                                         \
    {                                                                                              \
        SWAMINATHAN, what, {"resizable", labels}, {{"job-mixes-live", live}, {NULL, NULL}}, NULL   \
    }
#define VIRTUAL(what, labels) SIMULATED(UTRERA, what, "virtual-malleability", labels)
#define VIRTUAL_BOTH(what, labels, live)                                                           \
    {                                                                                              \
        UTRERA, what, {"virtual-malleability", labels},                                            \
            {{"virtual-malleability-live", live}, {NULL, NULL}}, NULL                              \
    }

static const struct pleat_published all[] = {
    NEITHER(BUISSON, "figures 1 to 3", "drawings of KOALA and DYNACO"),
    NEITHER(BUISSON, "figure 4", "an algorithm: policy fpsma"),
    NEITHER(BUISSON, "figure 5", "an algorithm: policies egs, egs-once, egs-printed"),
    {BUISSON,
     "figure 6",
     {NULL, NULL},
     {{"application-scaling", "4 yes, 2 no"}, {NULL, NULL}},
     NULL},
    NEITHER(BUISSON, "table 1", "the clusters, which go in (printed as table I)"),
    KOALA_BOTH("figure 7a", "2 fitted", "2 unclear"),
    KOALA_BOTH("figure 7b", "4 fitted", "4 no"),
    KOALA_BOTH("figure 7c", "1 claimed, 1 fitted", "1 no, 2 unclear"),
    KOALA_BOTH("figure 7d", "1 claimed, 1 fitted", ""),
    KOALA_BOTH("figure 7e", "1 claimed, 1 fitted", "1 unclear"),
    KOALA_BOTH("figure 7f", "1 fitted", "1 no"),
    KOALA_BOTH("figure 8a", "1 fitted, 2 not found", "1 yes, 2 no"),
    KOALA_BOTH("figure 8b", "1 fitted, 2 not found", "1 yes, 2 no"),
    KOALA_BOTH("figure 8c", "2 fitted", "1 no, 1 unclear"),
    KOALA_BOTH("figure 8d", "2 fitted, 1 not found", "1 no, 1 unclear"),
    KOALA_BOTH("figure 8e", "2 fitted", ""),
    KOALA_BOTH("figure 8f", "1 not found", ""),

    NEITHER(LAMMERS, "figures 2.1 to 2.4", "drawings of the DAS-2 and of GRENCHMARK"),
    NEITHER(LAMMERS, "figures 3.1 to 3.5", "drawings of KOALA and GRAM"),
    RUNNERS("figure 3.6", ""),
    RUNNERS("figure 3.7", "1 fitted"),
    RUNNERS("figure 3.8", ""),
    NEITHER(LAMMERS, "figures 4.1 to 4.4", "drawings of the GRunner and of Ibis jobs"),
    NEITHER(LAMMERS, "figures 4.5 and 4.6",
            "runs of the GRunner and the IRunner; Pleat has neither"),
    NEITHER(LAMMERS, "figures 5.1 to 5.6",
            "drawings of job types and protocols, a job description"),
    RUNNERS("figure 5.7", "2 fitted"),
    RUNNERS("figure 5.8", "1 claimed, 1 not found"),
    RUNNERS("figure 5.9", "2 claimed"),
    NEITHER(LAMMERS, "table 5.1", "definitions of rigid, moldable, malleable, evolving"),

    NEITHER(SWAMINATHAN, "figures 1 to 3", "drawings of tuple spaces, DRMS and the scheduler"),
    RESIZED("figure 4", ""),
    RESIZED("figure 5", ""),
    NEITHER(SWAMINATHAN, "figure 6", "a curve on Myrinet that our copy lacks"),
    RESIZED("figure 7", "1 no"),
    RESIZED("figure 8", "1 no"),
    RESIZABLE_BOTH("figure 9", "2 claimed, 2 fitted, 2 not found", "1 no, 3 unclear"),
    RESIZABLE_BOTH("figure 10", "8 fitted, 1 not found", "2 yes, 1 no, 4 unclear"),
    RESIZABLE("table 1", "1 claimed"),
    RESIZABLE("table 2", "1 claimed"),
    RESIZABLE_BOTH("table 3", "3 claimed, 1 fitted", "2 unclear"),
    RESIZABLE_BOTH("table 4", "2 claimed", "1 no, 1 unclear"),

    NEITHER(LIU, "figures 1 and 2", "drawings of a flow and of predicting"),
    NEITHER(LIU, "figure 3", "an algorithm: buffer policy periodic-prediction"),
    AGENT_BOTH("figure 4", "4 claimed, 2 fitted, 2 not found", "2 yes, 6 no"),
    AGENT_BOTH("figure 5", "2 claimed", "4 no"),

    NEITHER(UTRERA, "figures 1.1 to 1.5", "drawings of job types and schedules"),
    NEITHER(UTRERA, "figures 2.1 to 2.7", "drawings of MPI operations and schedules"),
    NEITHER(UTRERA, "figures 3.1 to 3.5", "drawings of the environment, examples of its files"),
    NEITHER(UTRERA, "figure 3.6", "an algorithm: policies launcher, backfill-..."),
    NEITHER(UTRERA, "figures 3.7 to 3.10", "drawings of sharing, placing, and a program (send)"),
    CLASSES("figure 3.11", ""),
    CLASSES("figure 3.12", "2 unclear"),
    NEITHER(UTRERA, "figure 3.13", "an example of arrivals"),
    CLASSES("table 3.1", "9 yes, 4 no, 1 unclear"),
    NEITHER(UTRERA, "tables 3.2 and 3.3", "run times and classes, which go into chapters 5 and 6"),
    NEITHER(UTRERA, "figures 4.1 to 4.8", "drawings of the mechanism, code of wrappers"),
    TOGETHER("figure 4.9", "11 yes, 1 no, 4 unclear"),
    CLASSES("figure 4.10", "2 yes"),
    CLASSES("figure 4.11", "2 yes"),
    CLASSES("figure 4.12", "1 yes, 1 no, 4 unclear"),
    CLASSES("figure 4.13", "1 yes, 1 no, 2 unclear"),
    NEITHER(UTRERA, "figure 4.14", "a drawing"),
    POLICIES("figure 4.15", "4 yes, 1 unclear", "9 yes, 9 no, 2 unclear"),
    ARRIVING("figure 4.16", "2 yes", "3 yes, 3 unclear"),
    ARRIVING("figure 4.17", "2 no", "1 no, 5 unclear"),
    ARRIVING("figure 4.18", "4 yes", "2 yes, 2 no, 8 unclear"),
    ARRIVING("figure 4.19", "2 yes", "2 yes, 4 unclear"),
    ARRIVING("figure 4.20", "", "4 no, 8 unclear"),
    NEITHER(UTRERA, "tables 4.1 and 4.2", "definitions of ways of coscheduling"),
    TOGETHER("table 4.3", "12 yes, 4 no, 6 unclear"),
    NEITHER(UTRERA, "tables 4.4 and 4.5", "policies and workloads, which go into figure 4.15"),
    POLICIES("table 4.6", "1 yes, 1 unclear", "1 yes, 3 unclear"),
    POLICIES("table 4.7", "4 yes", "11 yes, 3 no, 2 unclear"),
    NEITHER(UTRERA, "tables 4.8 and 4.9", "workloads, which go into figures 4.16 to 4.20"),
    NEITHER(UTRERA, "figures 5.1 to 5.4", "drawings of virtual malleability and of FJT"),
    NEITHER(UTRERA, "figure 5.5", "an algorithm: policies fjt, fjt-figure"),
    VIRTUAL_BOTH("figure 5.6", "1 claimed, 1 fitted, 1 not found", "1 yes, 1 no, 1 unclear"),
    VIRTUAL_BOTH("figure 5.7", "3 not found", "1 yes, 1 no"),
    VIRTUAL_BOTH("figure 5.8", "1 fitted, 1 not found", "1 no, 1 unclear"),
    VIRTUAL_BOTH("figure 5.9", "", ""),
    NEITHER(UTRERA, "table 5.1", "definitions of PSA, ASP-MAX, FOLDING, FJT"),
    NEITHER(UTRERA, "tables 5.2 and 5.3", "workloads, which go into figures 5.6 to 5.8"),
    NEITHER(UTRERA, "figures 6.1 to 6.3", "drawings of backfilling and of schedules"),
    VIRTUAL_BOTH("figure 6.4", "4 fitted, 1 not found", "2 yes, 1 no, 2 unclear"),
    VIRTUAL_BOTH("figure 6.5", "1 claimed, 1 not found", "2 yes"),
    VIRTUAL_BOTH("figure 6.6", "4 fitted, 1 not found", "2 yes, 1 no, 2 unclear"),
    VIRTUAL_BOTH("figure 6.7", "1 claimed, 1 not found", "2 yes"),
    VIRTUAL_BOTH("figure 6.8", "1 not found", "1 no"),
    VIRTUAL_BOTH("figure 6.9", "1 not found", "1 no"),
    VIRTUAL_BOTH("figure 6.10", "1 not found", "1 no"),
    VIRTUAL_BOTH("figure 6.11", "1 not found", "1 no"),
    VIRTUAL_BOTH("figures 6.12 to 6.15", "", ""),
    NEITHER(UTRERA, "tables 6.1 to 6.3", "workloads, which go into figures 6.4 to 6.15"),
};

const struct pleat_published *pleat_published_at(size_t i)
{
    return i < sizeof(all) / sizeof(all[0]) ? &all[i] : NULL;
}

const char *pleat_published_how(const struct pleat_published *published)
{
    bool live = published->live[0].page || published->live[1].page;
    if (published->simulated.page)
        return live ? "both" : "simulated";
    return live ? "live" : "neither";
}

const char *pleat_published_command(const char *live_page)
{
    static const char *const commands[][2] = {
        {"self-coscheduling", "bench/run fold-evaluation"},
        {"coscheduling-arrivals", "bench/run fold-evaluation --page coscheduling-arrivals"},
        {"application-agent-live", "bench/run fold-evaluation --page application-agent-live"},
        {"coscheduling-policies", "bench/run fold-evaluation --page coscheduling-policies"},
        {"application-scaling", "bench/run fold-evaluation --page application-scaling"},
        {"virtual-malleability-live", "bench/run fold-evaluation --page virtual-malleability-live"},
        {"koala-malleable-live", "bench/run fold-evaluation --page koala-malleable-live"},
        {"job-mixes-live", "bench/run fold-evaluation --page job-mixes-live"},
        {"program-classes", "bench/run fold-evaluation --page program-classes"}};
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (!strcmp(commands[i][0], live_page))
            return commands[i][1];
    return NULL;
}
