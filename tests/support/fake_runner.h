/* fake_runner.h - applications that exist only as numbers: they compute, adapt, refuse, die and get
 * stuck as a seed says. */
#ifndef PLEAT_TESTS_FAKE_RUNNER_H
#define PLEAT_TESTS_FAKE_RUNNER_H

#include "runner/runner.h"

struct pleat_fake_runner_options {
    uint64_t seed;
    int64_t start_delay_us; /* all delays uniform in 0 .. this */
    int64_t run_us;         /* processor-microseconds of work: ends when that much is done */
    int64_t adapt_us;       /* until the next adaptation point */
    int64_t vacate_us;
    double start_fail; /* probabilities: the start fails (half of them the user's fault) */
    double crash;      /* it dies with a signal before its work is done */
    double refuse;     /* an asked one refuses; accepts part of the offer with the same odds */
    double overaccept; /* an asked one accepts more than was offered */
    double answer_twice;
    double ignore;      /* a resize is never applied (withdrawing works) */
    double stuck;       /* a resize is never applied, nor can it be withdrawn */
    double resize_fail; /* the application reports that it could not carry out a resize */
    double die_in_resize;
    double broken;         /* of those that die in a resize: a state is held, it can go on */
    double relaunch_fail;  /* it cannot be started again (half: the start fails, else it exits) */
    double relaunch_never; /* a relaunch is never answered */
    double stateless;      /* a relaunched application has no state, and begins from its
                            * beginning */
};

int pleat_fake_runner_open(const struct pleat_fake_runner_options *options,
                           const struct pleat_host *host, struct pleat_runner **runner,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
/* An application gives back some of its processes' processors by itself, at once; the caller says
 * so (PLEAT_EV_RETURNED). */
void pleat_fake_runner_give_back(struct pleat_runner *runner, uint32_t component, int32_t count);
/* Processes that its applications have now (leaving ones included), for comparing. */
int32_t pleat_fake_runner_processes(const struct pleat_runner *runner, uint32_t component);
/* Its processes, and all that is known of its run, are gone without a word. */
void pleat_fake_runner_lose(struct pleat_runner *runner, uint32_t component);
/* An application has this number of processes more (fewer) by its own wish. */
void pleat_fake_runner_add(struct pleat_runner *runner, uint32_t component, int32_t more);

#endif
