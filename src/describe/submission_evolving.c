/* submission_evolving.c - jobs whose program asks for processes itself (--evolving). */
#include <string.h>

#include "describe/submission_plan.h"
#include "describe/values.h"
#include "model/runner_kind.h"
#include "model/sizes.h"

bool pleat_submission_evolves(const struct pleat_submit_options *submission)
{
    return (pleat_runner_starts(submission->runner) & PLEAT_STARTS_EVOLVING) != 0;
}

/* An option that says what an evolving job cannot be, and why not. */
static const char *find_other(const struct pleat_submit_options *s, const char **why)
{
    static const char folded[] =
        "its processes are started on processors of their own, and are not "
        "folded";
    static const char resized[] = "Pleat does not change its size: its program asks for processes, "
                                  "and stops them";
    static const char launched[] =
        "its processes are started by Pleat's agent, one by one, and not "
        "by an MPI launcher";
    *why = folded;
    const char *other = s->fold         ? "--fold"
                        : s->mpl        ? "--mpl"
                        : s->count_word ? "--count-word"
                        : s->unfolded   ? "--no-fold"
                                        : NULL;
    if (other)
        return other;
    *why = resized;
    other = s->moldable                              ? "--moldable"
            : s->asks                                ? "--asks"
            : s->resize && strcmp(s->resize, "auto") ? "--on-resize"
            : s->save                                ? "--save"
            : s->from                                ? "--from"
            : s->checkpoint_every_s > 0              ? "--checkpoint-every"
            : s->checkpoint_before_s > 0             ? "--checkpoint-before-limit"
            : s->checkpoint_signal                   ? "--checkpoint-signal"
            : strcmp(s->sizes, "any") != 0           ? "--sizes"
                                                     : NULL;
    if (other)
        return other;
    *why = launched;
    return strcmp(s->mpi, "auto") && strcmp(s->mpi, "none") ? "--mpi"
           : s->cpus > 0                                    ? "--cpus-per-task"
           : s->pty                                         ? "--pty"
                                                            : NULL;
}

int pleat_submission_check_sites(const struct pleat_submit_options *s, struct pleat_error *err)
{
    if (s->at_sites && !pleat_submission_evolves(s))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--sites is for jobs whose program asks for processes itself "
                               "(--evolving); another one runs at one site (--site)");
    if (s->any_site && !s->at_sites)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--any-site is for jobs whose processes may be at several sites: "
                               "say which others (--sites)");
    if (s->at_sites && s->one_node)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--sites and --one-node contradict each other: leave out one of "
                               "them");
    return 0;
}

int pleat_submission_take_evolving(struct pleat_submit_options *s, struct pleat_error *err)
{
    const char *why = NULL, *other = find_other(s, &why);
    int64_t count = s->processors;
    if (other)
        return pleat_error_set(err, PLEAT_E_INVALID, "%s does not go with --evolving: %s", other,
                               why);
    int status = s->processes ? pleat_parse_int("--processes (with --evolving: at the start)",
                                                s->processes, 1, PLEAT_SIZE_MAX, &count, err)
                              : 0;
    if (status)
        return status;
    if (s->processes && s->processors > 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--processes and -n say the same with --evolving: leave out one of "
                               "them");
    if (s->most > 0 && count > s->most)
        return pleat_error_set(err, PLEAT_E_INVALID, "%s %lld is above --max %lld",
                               s->processes ? "--processes" : "-n", (long long)count,
                               (long long)s->most);
    if (s->initial > 0 && count > 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--initial and %s say the same with --evolving: leave out one of "
                               "them",
                               s->processes ? "--processes" : "-n");
    if (count <= 0)
        count = s->initial > 0 ? s->initial : s->least > 0 ? s->least : 1;
    s->processes = NULL;
    s->processors = -1;
    if (s->least == 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--min 0: an evolving job ends with its first process");
    s->least = s->least > 0 ? s->least : count;
    s->most = s->most > 0 ? s->most : PLEAT_SIZE_MAX;
    s->initial = count;
    return 0;
}
