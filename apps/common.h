/* common.h - what the example programs share: reading options, giving up, pausing. */
#ifndef PLEAT_APPS_COMMON_H
#define PLEAT_APPS_COMMON_H

#include <pleat.h>

/* Prints what failed and why, and ends all ranks. */
_Noreturn void app_give_up(const char *what, const struct pleat_error *err);

/* For a joiner that was not let in: the program goes on without it, so it leaves quietly (a failing
 * exit code would make mpirun end all ranks). Everybody else gives up. Returns the exit code. */
int app_not_begun(struct pleat_session *session, const struct pleat_error *err);

/* A number, optionally followed by K, M or G (powers of 1024); prints a message and exits with 2
 * when it is not one, or not within [least, most]. */
long long app_number(const char *option, const char *text, long long least, long long most);

/* The options that heat and matmul have in common. */
struct app_options {
    long long n, iterations;
    double work_ms, pause_ms, tolerance;
    long long n_most;
};

/* Reads --n, --iterations, --work, --pause, --tolerance; what is not given stays as it was. --help
 * prints `usage` and exits with 0; anything wrong exits with 2. */
void app_read_options(int argc, char **argv, const char *usage, struct app_options *options);

/* Sleeps, to stretch an iteration. */
void app_pause(double milliseconds);

/* How many iterations were really computed, counted beside the state that Pleat carries along: in a
 * file of the job's scratch directory, one for each launch of its script. What is registered may
 * say anything: an iteration that is in no file was not computed. */
struct app_tally {
    long long *count; /* NULL: not counted here (not rank 0, or not below 'pleat launch') */
};
/* After pleat_session_begin, which returned `begun`. */
void app_tally_open(struct app_tally *tally, const struct pleat_session *session, int begun);
static inline void app_tally_add(struct app_tally *tally)
{
    if (tally->count)
        ++*tally->count;
}
/* How many of `done` iterations nobody computed; says so where there are any. On rank 0. */
long long app_tally_skipped(const struct app_tally *tally, long long done);

/* Uniform in [0, 1), the same for the same arguments on every machine and number of ranks. */
double app_noise(unsigned long long a, unsigned long long b);

#endif
