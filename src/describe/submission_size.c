/* submission_size.c - decides the sizes of a job, in processors. */
#include <string.h>

#include "describe/submission_plan.h"
#include "model/sizes.h"
#include "model/types.h"

/* Checks that the options of folding fit together. */
static int check_folding(const struct pleat_submit_options *s, struct pleat_error *err)
{
    const char *alone = s->fold                        ? "--fold"
                        : s->mpl                       ? "--mpl"
                        : s->count_word                ? "--count-word"
                        : !strcmp(s->runner, "folded") ? "--runner folded"
                                                       : NULL;
    if (!s->processes && alone)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s needs --processes N: an unmodified MPI program with N processes "
                               "is folded",
                               alone);
    if (!s->processes)
        return 0;
    if (s->cpus > 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--processes is for programs with several processes on a processor, "
                               "--cpus-per-task for those with several processors for each "
                               "process: leave out one of them");
    if (s->processors > 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--processes says how many processes, and --min and --max on how "
                               "many processors they may be: leave out -n");
    bool other = strcmp(s->runner, "auto") != 0 && strcmp(s->runner, "folded") != 0;
    if (!s->unfolded && (s->moldable || s->asks || other))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a job with --processes is folded: leave out %s, or add --no-fold",
                               s->moldable                       ? "--moldable"
                               : s->asks                         ? "--asks"
                               : !strcmp(s->runner, "malleable") ? "--malleable"
                                                                 : "--runner");
    return 0;
}

/* For a job that does not fold: each process has a processor, so both numbers are the same. */
static int choose_unfolded(const struct pleat_submit_options *s, struct pleat_submission_plan *plan,
                           struct pleat_string *notes, struct pleat_error *err)
{
    plan->least = plan->fold.least;
    plan->most = plan->fold.most;
    if (s->least >= 0 || s->most >= 0 || s->initial >= 0)
        pleat_string_add(notes, "--no-fold: it gets a processor for each process, whatever --min, "
                                "--max and --initial say\n");
    if (s->count_word && plan->least < plan->most)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--count-word with --no-fold needs one number of processes");
    return 0;
}

/* For a job that folds: from one processor to one for each process, where nothing else was asked
 * for. */
static int choose_partition(const struct pleat_submit_options *s,
                            struct pleat_submission_plan *plan, struct pleat_error *err)
{
    plan->least = s->least >= 0 ? s->least : 1;
    plan->most = s->most >= 0 && s->most < plan->fold.most ? s->most : plan->fold.most;
    plan->initial = s->initial > 0 ? s->initial : 0;
    if (plan->least < 1)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--min 0: a program that is folded is on one processor at least");
    if (plan->least > plan->most)
        return pleat_error_set(
            err, PLEAT_E_INVALID, "--min %lld is above --max %lld, or above the %lld processes",
            (long long)plan->least, (long long)plan->most, (long long)plan->fold.most);
    if (plan->initial && (plan->initial < plan->least || plan->initial > plan->most))
        return pleat_error_set(
            err, PLEAT_E_INVALID, "--initial %lld is not from %lld to %lld processors",
            (long long)plan->initial, (long long)plan->least, (long long)plan->most);
    return 0;
}

static int choose_limits(const struct pleat_submit_options *s, struct pleat_submission_plan *plan,
                         struct pleat_error *err)
{
    plan->least = plan->most = 1;
    if (s->processors > 0 && (s->least >= 0 || s->most >= 0))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--processors means exactly that many: leave out --min and --max");
    if (s->least >= 0 && s->most < 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--min needs --max (or -n %lld for exactly that many)",
                               (long long)s->least);
    if (s->processors > 0)
        plan->least = plan->most = s->processors;
    if (s->most >= 0) {
        plan->least = s->least >= 0 ? s->least : 1;
        plan->most = s->most;
    }
    if (plan->least > plan->most)
        return pleat_error_set(err, PLEAT_E_INVALID, "--min %lld is above --max %lld",
                               (long long)plan->least, (long long)plan->most);
    plan->initial = s->initial > 0 ? s->initial : 0;
    if (plan->initial && (plan->initial < plan->least || plan->initial > plan->most))
        return pleat_error_set(
            err, PLEAT_E_INVALID, "--initial %lld is not from --min %lld to --max %lld",
            (long long)plan->initial, (long long)plan->least, (long long)plan->most);
    return 0;
}

static int choose_size(const struct pleat_submit_options *s, struct pleat_submission_plan *plan,
                       struct pleat_string *notes, struct pleat_error *err)
{
    int status = check_folding(s, err);
    if (status || !s->processes)
        return status ? status : choose_limits(s, plan, err);
    plan->folds = !s->unfolded;
    status = pleat_submission_read_fold(s, &plan->fold, err);
    if (status)
        return status;
    return plan->folds ? choose_partition(s, plan, err) : choose_unfolded(s, plan, notes, err);
}

static int check_sizes(const struct pleat_submit_options *s,
                       const struct pleat_submission_plan *plan, struct pleat_error *err)
{
    if (s->processes) /* checked where the option was read */
        return 0;
    struct pleat_sizes sizes = {0};
    struct pleat_size_list list = {0};
    int status = pleat_sizes_parse(s->sizes, &sizes, &list, err);
    int32_t largest = status ? 0 : pleat_sizes_floor(&sizes, (int32_t)plan->most);
    bool initial_fits = status || !plan->initial ||
                        pleat_sizes_floor(&sizes, (int32_t)plan->initial) == (int32_t)plan->initial;
    pleat_array_finish(&list);
    if (status)
        return status;
    if (largest < 1 || largest < plan->least)
        return pleat_error_set(err, PLEAT_E_INVALID, "--sizes %s: none is from %lld to %lld",
                               s->sizes, (long long)plan->least, (long long)plan->most);
    if (!initial_fits)
        return pleat_error_set(err, PLEAT_E_INVALID, "--initial %lld is not among --sizes %s",
                               (long long)plan->initial, s->sizes);
    return 0;
}

/* The accepted sizes as text, where each process has several processors. The caller frees it. */
static int scale_sizes(const struct pleat_submit_options *submission, int64_t most, char **sizes,
                       struct pleat_error *err)
{
    struct pleat_sizes given;
    struct pleat_size_list list = {0};
    struct pleat_string text = {0};
    int status = pleat_sizes_parse(submission->sizes, &given, &list, err);
    if (!status)
        status = pleat_sizes_scale(&given, (int32_t)submission->cpus, (int32_t)most, &text, err);
    pleat_array_finish(&list);
    if (status) {
        pleat_string_finish(&text);
        return pleat_error_prefix(err, status, "--sizes");
    }
    *sizes = text.text;
    return 0;
}

/* Turns the sizes of the plan from processes into processors. */
static int count_processors(const struct pleat_submit_options *s,
                            struct pleat_submission_plan *plan, struct pleat_error *err)
{
    if (s->cpus == 0)
        return 0;
    if (plan->most > PLEAT_SIZE_MAX / s->cpus)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%lld processes with %lld processors each (--cpus-per-task) are "
                               "more than %d",
                               (long long)plan->most, (long long)s->cpus, PLEAT_SIZE_MAX);
    int status = scale_sizes(s, plan->most, &plan->sizes, err);
    plan->least *= s->cpus;
    plan->most *= s->cpus;
    plan->initial *= s->cpus;
    return status;
}

int pleat_submission_plan_size(const struct pleat_submit_options *s,
                               struct pleat_submission_plan *plan, struct pleat_string *notes,
                               struct pleat_error *err)
{
    int status = choose_size(s, plan, notes, err);
    if (!status)
        status = check_sizes(s, plan, err);
    return status ? status : count_processors(s, plan, err);
}
