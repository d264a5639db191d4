/* bench_fold_evaluation [options] - writes a page about chapters 3 to 6 of Utrera 2010, figures 6
 * to 8 of Buisson et al. 2007, 4.3 of Swaminathan 2004, or figures 4 and 5 of Liu et al. 2009, on
 * this machine, with programs that really run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval.h"
#include "eval_keep.h"
#include "figure/gnuplot.h"
#include "loads.h"
#include "machine.h"
#include "options.h"
#include "progress.h"
#include "steady.h"

static const char usage[] =
    "usage: bench_fold_evaluation [options]\n"
    "Measures, and writes a page and its figures.\n"
    "  --page NAME      self-coscheduling (default), coscheduling-policies, "
    "coscheduling-arrivals,\n"
    "                   application-scaling, program-classes, virtual-malleability-live,\n"
    "                   koala-malleable-live, job-mixes-live, application-agent-live\n"
    "  --out DIRECTORY  for DIRECTORY/NAME/page.md (default docs/experiments)\n"
    "  --repeats N      rounds (default 9, at most 50), those included that --keep has\n"
    "  --keep FILE      keeps rounds there, and goes on with those that are there (not all pages)\n"
    "  --minutes M      begins no round after M minutes\n"
    "  --times X        X times the usual work (default 1)\n"
    "  --only PARTS     of self-coscheduling: heuristics,queues,loads; separated by commas\n"
    "  --stated         of jobs that arrive: only the workloads, MPLs and utilizations that\n"
    "                   the paper's statements are about\n"
    "  --mpi NAME       openmpi or mpich alone\n"
    "  --quick          hardly any work, few programs: only to see that it runs\n";

#define REPEATS_MAX 50
#define MINUTES_MAX 100000

/* Of all pages about chapter 4 of Utrera 2010; and of each. */
#define OF_TWO_PROCESSORS                                                                          \
    "That it is so on more than two processors, or on several nodes.",                             \
        "That the paper's programs do so: these are synthetic, or of the class of one of them, "   \
        "they are smaller, and run with MPIs and processors of today."
#define OF_ONE_MACHINE                                                                             \
    "That another machine would decide the same. An interval is over rounds on this one: it says " \
    "how sure the difference is here. What is unclear may hold or not."
static const char *const of_sharing[] = {
    OF_TWO_PROCESSORS,
    "Which heuristic is best for a program that is not there: most of the programs of a row do one "
    "thing only, again and again, and means over them weigh each alike.",
    "That a threshold of 10 % is right: it tells apart the programs here, whose processes compute "
    "alike, or two or six times as much as others.",
    OF_ONE_MACHINE, NULL};
static const char *const of_policies[] = {
    OF_TWO_PROCESSORS,
    "What a policy does for jobs that run long: much of a response time is starting and ending "
    "here (the table of that says how much), which the policies do alike, so that ratios are "
    "nearer to 1 than those of the jobs' own times.",
    "That periodic boost is bad wherever slices have another length: 10 ms is Pleat's, since the "
    "paper names none; nor that IRIX would do as Linux does.",
    OF_ONE_MACHINE, NULL};
static const char *const of_arrivals[] = {
    OF_TWO_PROCESSORS,
    "What happens at an MPL or a utilization that has no row, or in a longer queue: six jobs "
    "arrive, and two run at a time at most.",
    "That CS itself is slow at 20 %: a job that runs alone there pays for how its processes wait "
    "(CS block: for sleeping).",
    OF_ONE_MACHINE, NULL};
static const char *const of_classes[] = {
    OF_TWO_PROCESSORS,
    "How programs scale: the paper measured up to 64 processes on as many processors, and here "
    "there are two.",
    "What the detector sees of a program that changes while it runs: these do the same from their "
    "beginning to their end.",
    OF_ONE_MACHINE, NULL};

static const struct eval_about pages[] = {
    {"self-coscheduling",
     "Self-coscheduling: who shares processors with whom",
     "MPI programs that nobody changed, with more processes than processors: whom to run next, "
     "from which queue, and whether a job shares processors with itself or with others. From: "
     "Utrera 2010, chapter 4.",
     {&eval_heuristics, &eval_queues, &eval_loads, NULL},
     .set = LOAD_SYNTHETIC,
     .cautions = of_sharing},
    {"coscheduling-arrivals",
     "Self-coscheduling of jobs that arrive over time",
     "Jobs that nobody changed arrive at a scheduler with two processors: should each have "
     "processors to itself, or should they share them in time? From: Utrera 2010, 4.6.2. Workloads "
     "that are all there at the beginning, and which queues and heuristics are best, are on the "
     "page [self-coscheduling](../self-coscheduling/page.md).",
     {&eval_arrivals, NULL},
     .set = LOAD_CLASSES,
     .usual = 4, /* their usual work is over in half a second, much of which is starting; with 8
                  * times as much 36 of the 50 runs of a round (--stated) took 31 minutes */
     .cautions = of_arrivals},
    {"coscheduling-policies",
     "All policies of coscheduling",
     "Six jobs that nobody changed and two processors: a job shares processors with itself, or "
     "jobs "
     "with one another, who is next, and how processes wait: all rows of table 4.4. From: Utrera "
     "2010, 4.5.1 and 4.6.1. Which queues and heuristics are best within a job is on the page "
     "[self-coscheduling](../self-coscheduling/page.md).",
     {&eval_policies, NULL},
     .set = LOAD_CLASSES,
     .cautions = of_policies},
    {"application-scaling",
     "How two malleable applications scale",
     "Execution time against the number of processors of a Fourier transform on powers of two and "
     "of an n-body program on any number: the applications that the page "
     "[koala-malleable](../koala-malleable/page.md) simulates. From: Buisson et al. 2007, VI-A and "
     "figure 6.",
     {&eval_scaling, NULL},
     .set = LOAD_SYNTHETIC},
    {"program-classes",
     "What programs of the paper's classes are like",
     "How much of their time programs are in MPI, how much faster they get with a second "
     "processor, and what the load-balance detector sees of them. From: Utrera 2010, 3.6.1.2 and "
     "4.4.",
     {&eval_classes, &eval_curves, NULL},
     .set = LOAD_CLASSES,
     .cautions = of_classes},
    {"virtual-malleability-live",
     "Virtual malleability, live",
     "Long and short jobs that nobody changed arrive at a scheduler with two processors: PSA, "
     "ASP60, "
     "FOLDING and FJT over w1 to w6; FJT(4), FJT(1) and FCFS with backfilling; beside them FCFS, "
     "EASY and EGS. Value by value beside what a simulation of the same jobs says. From: Utrera "
     "2010, chapters 5 and 6.",
     {&eval_virtual, NULL},
     .set = LOAD_SYNTHETIC},
    {"koala-malleable-live",
     "Malleable applications under FPSMA and EGS, live",
     "Two malleable programs arrive at a scheduler with sixteen processors, of which most are "
     "pretended: FPSMA and EGS under PRA and PWA, with all jobs malleable or half of them. Value "
     "by "
     "value beside what a simulation of the same jobs says. From: Buisson et al. 2007, VI and VII.",
     {&eval_koala, NULL},
     .set = LOAD_SYNTHETIC},
#ifdef BENCH_HAS_MIXES
    {"job-mixes-live",
     "Job mixes that are resized, live",
     "Malleable programs under the remap scheduler with sweet spots, against the same jobs with "
     "sizes that stay. Value by value beside what a simulation of the same jobs says. Beside that "
     "iterations and redistribution of programs that compute for real. From: Swaminathan 2004, 4.2 "
     "and 4.3.",
     {&eval_mixes, &eval_spots, NULL},
     .set = LOAD_SYNTHETIC},
#endif
#ifdef BENCH_HAS_DEMAND
    {"application-agent-live",
     "Prepared processes for an application that asks for them, live",
     "An application that asks for processes, executed again and again at a site that takes its "
     "time to give processors, under the policies P and PP for buffers of prepared processes: how "
     "many of its requests are satisfied at once, and what is wasted for that. Value by value "
     "beside what a simulation of the same executions says. From: Liu et al. 2009, 4.2.",
     {&eval_demand, NULL},
     .set = LOAD_SYNTHETIC},
#endif
};
#define PAGES (sizeof(pages) / sizeof(pages[0]))

static double minutes;   /* 0: no limit */
static const char *kept; /* a file; NULL: rounds are not kept */
static double times = 1; /* of the page's usual work */
static struct eval eval = {.about = pages, .rounds = 9};

static void read_options(int argc, char **argv, const char **out)
{
    static const char *const parts[] = {"heuristics", "queues", "loads", NULL};
    static const char *const mpis[] = {"openmpi", "mpich", NULL};
    const char *names[PAGES + 1] = {NULL}, *page = eval.about->name;
    for (size_t i = 0; i < PAGES; i++)
        names[i] = pages[i].name;
    const struct bench_option options[] = {
        {.name = "page", .text = &page, .choices = names},
        {.name = "out", .text = out},
        {.name = "repeats", .number = &eval.rounds, .least = 1, .most = REPEATS_MAX},
        {.name = "keep", .text = &kept},
        {.name = "minutes", .real = &minutes, .from = 0, .to = MINUTES_MAX},
        {.name = "times", .real = &times, .from = 1e-6, .to = 1e6},
        {.name = "only", .list = &eval.only, .choices = parts},
        {.name = "mpi", .text = &eval.mpi, .choices = mpis},
        {.name = "stated", .flag = &eval.stated},
        {.name = "quick", .flag = &eval.quick}};
    bench_options(argc, argv, usage, options, sizeof(options) / sizeof(*options));
    for (size_t i = 0; i < PAGES; i++)
        if (!strcmp(pages[i].name, page))
            eval.about = &pages[i];
    eval.times = eval.quick              ? CASE_QUICK
                 : eval.about->usual > 0 ? eval.about->usual * times
                                         : times;
}

static bool is_wanted(const struct eval_part *part)
{
    return bench_is_listed(eval.only, part->name);
}

/* How many runs a round has. */
static int plan(void)
{
    int runs = 0;
    for (size_t i = 0; eval.about->parts[i]; i++) {
        if (!is_wanted(eval.about->parts[i]))
            continue;
        eval.about->parts[i]->plan(&eval);
        runs += eval.about->parts[i]->runs();
    }
    return runs;
}

/* What the rounds that are kept depend on. */
static const char *setting(void)
{
    static char text[256];
    snprintf(text, sizeof(text), "%s, --times %g, --only %s, --mpi %s%s%s", eval.about->name, times,
             eval.only ? eval.only : "all", eval.mpi ? eval.mpi : "all",
             eval.stated ? ", --stated" : "", eval.quick ? ", --quick" : "");
    return text;
}

/* The first round that is to be run: after those that are kept. */
static int first_round(struct pleat_error *err)
{
    eval.rounds = 0;
    if (!kept)
        return 0;
    eval_now(eval.begun, sizeof(eval.begun));
    eval_now(eval.ended, sizeof(eval.ended));
    int rc = eval_keep_read(&eval, kept, setting(), err);
    /* that it cannot be written is said now, not after an hour */
    return rc ? rc : eval_keep_write(&eval, kept, setting(), err);
}

static int measure(int rounds, int runs, struct pleat_error *err)
{
    const struct eval_part *const *parts = eval.about->parts;
    int rc = 0;
    progress_begin(rounds > eval.rounds ? (rounds - eval.rounds) * runs : 0, eval.quick);
    while (!rc && eval.rounds < rounds && progress_goes_on(minutes)) {
        for (size_t i = 0; parts[i]; i++)
            if (is_wanted(parts[i]))
                parts[i]->round(&eval, eval.rounds);
        eval.rounds++;
        if (kept)
            eval_now(eval.ended, sizeof(eval.ended));
        rc = kept ? eval_keep_write(&eval, kept, setting(), err) : 0;
    }
    progress_end();
    return rc;
}

/* The command that makes the same page elsewhere: paths of this machine are no part of it. */
static void join(char *text, size_t size, int argc, char **argv)
{
    static const char *const paths[][2] = {{"--out", ""}, {"--keep", " --keep FILE"}};
    size_t length = (size_t)snprintf(text, size, "bench/run fold-evaluation");
    for (int i = 1; i < argc && length < size; i++) {
        const char *instead = NULL;
        for (size_t p = 0; p < sizeof(paths) / sizeof(*paths); p++) {
            size_t named = strlen(paths[p][0]);
            if (strncmp(argv[i], paths[p][0], named) || (argv[i][named] && argv[i][named] != '='))
                continue;
            instead = paths[p][1];
            i += !argv[i][named]; /* its path is the next word */
            break;
        }
        length += (size_t)snprintf(text + length, size - length, "%s%s", instead ? instead : " ",
                                   instead ? "" : argv[i]);
    }
}

static int check_gnuplot(struct pleat_error *err)
{
    struct pleat_string script = {0}, out = {0};
    pleat_string_add(&script, "exit\n");
    int rc = pleat_gnuplot_run(&script, &out, err);
    pleat_string_finish(&script);
    pleat_string_finish(&out);
    return rc;
}

int main(int argc, char **argv)
{
    const char *out = "docs/experiments";
    char command[512];
    struct pleat_error err = {0};
    join(command, sizeof(command), argc, argv);
    read_options(argc, argv, &out);
    if (!machine_cpus(CASE_PROCESSORS_MAX)) {
        fprintf(stderr, "bench_fold_evaluation: it needs two processors\n");
        return 1;
    }
    int runs = plan(), rounds = eval.rounds;
    if (!runs) {
        fprintf(stderr,
                "bench_fold_evaluation: the page %s has nothing that --only and --mpi name\n",
                eval.about->name);
        return 2;
    }
    if (check_gnuplot(&err) || eval_prepare(&eval, out, &err) ||
        first_round(&err)) { /* before anything is run */
        fprintf(stderr, "bench_fold_evaluation: %s\n", err.text);
        return 1;
    }
    if (eval.quick)
        steady_accept();
    trial_init();
    int rc = measure(rounds, runs, &err);
    trial_finish();
    const struct eval_part *const *parts = eval.about->parts;
    for (size_t i = 0; !rc && parts[i]; i++)
        rc = is_wanted(parts[i]) ? parts[i]->report(&eval, &err) : 0;
    if (!rc)
        rc = eval_write(&eval, out, command, &err);
    if (rc)
        fprintf(stderr, "bench_fold_evaluation: %s\n", err.text);
    else
        printf("%s/%s/page.md\n", out, eval.about->name);
    pleat_page_finish(&eval.page);
    pleat_array_finish(&eval.shapes);
    return rc != 0;
}
