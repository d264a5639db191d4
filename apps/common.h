/* common.h - shared by the example programs: options, errors, pauses. */
#ifndef PLEAT_APPS_COMMON_H
#define PLEAT_APPS_COMMON_H

#include <pleat.h>

/* Prints what failed and why, and ends all ranks. */
_Noreturn void app_give_up(const char *what, const struct pleat_error *err);

/* Zeroed memory for `count` pieces of `bytes` each, never NULL, to be freed. Ends all ranks where
 * there is none. */
void *app_allocate(long long count, size_t bytes);

/* pleat_session_begin, but gives up where that fails, and says why a rank is not let in. */
int app_begin(struct pleat_session *session);

/* A number, optionally followed by K, M or G (powers of 1024). If it is not one, or not within
 * [least, most], prints a message and exits with 2. */
long long app_number(const char *option, const char *text, long long least, long long most);

/* The options that all but loop share. */
struct app_options {
    long long n, iterations;
    double work_ms, pause_ms, tolerance;
    int useful; /* ranks that share work_ms at most; 0: all */
    long long n_most;
    const char *further; /* a further option of the program, without a value; NULL: it has none */
    int is_further;      /* that was given */
    const char *until;   /* a file (app_goes_on); NULL: it was not given */
};

/* Reads --n, --iterations, --until, --work, --useful, --pause, --tolerance and the further one into
 * *options; others stay as they were.
 * --help prints `usage` and exits with 0; a wrong option exits with 2. */
void app_read_options(int argc, char **argv, const char *usage, struct app_options *options);

/* Sleeps, to make an iteration longer. */
void app_pause(double milliseconds);
/* What an iteration pretends to compute on so many ranks, by sleeping. */
void app_pretend(const struct app_options *options, int ranks);

/* Whether another iteration is wanted, the same on all ranks: with --until FILE as long as there is
 * no such file, which rank 0 looks for, else up to --iterations. */
int app_goes_on(const struct pleat_session *session, const struct app_options *options,
                long long done);
/* Whether that is as many as were wanted, at the end. */
int app_has_done(const struct app_options *options, long long done);
/* Whether this rank is to print how far they are: about ten times in all, with --until never. */
int app_reports(const struct pleat_session *session, const struct app_options *options,
                long long done);

/* Counts the iterations that were really computed, independently of the state that Pleat carries
 * along: in a file of the job's scratch directory, one file for each launch of its script. A
 * restored state may claim an iteration that was never computed; the file shows that. */
struct app_tally {
    /* NULL: not counted by this rank (not rank 0, not started by 'pleat launch', or begun from
     * another job's checkpoint) */
    long long *count;
};
/* To be called after pleat_session_begin, which returned `begun`. */
void app_tally_open(struct app_tally *tally, const struct pleat_session *session, int begun);
static inline void app_tally_add(struct app_tally *tally)
{
    if (tally->count)
        ++*tally->count;
}
/* On rank 0: how many of `done` iterations were not computed; prints it if there are any. */
long long app_tally_skipped(const struct app_tally *tally, long long done);

/* A number for all bits of values that a rank has, `first` being the index of the first one among
 * those of all ranks. Several parts are put together by exclusive or. */
unsigned long long app_bits(const double *values, long long count, long long first);
/* Those of all ranks together. Whatever the number of ranks, two runs that agree in it have the
 * same values to the last bit. */
unsigned long long app_bits_of_all(MPI_Comm comm, unsigned long long bits);

/* A number in [0, 1) that depends only on the arguments, not on machine or number of ranks. */
double app_noise(unsigned long long a, unsigned long long b);

#endif
