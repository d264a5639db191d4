#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

_Noreturn void app_give_up(const char *what, const struct pleat_error *err)
{
    fprintf(stderr, "%s: %s\n", what, err->text);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

void *app_allocate(long long count, size_t bytes)
{
    void *memory = calloc((size_t)(count ? count : 1), bytes);
    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return memory;
}

int app_begin(struct pleat_session *session)
{
    struct pleat_error err;
    int begun = pleat_session_begin(session, &err);
    if (begun < 0)
        app_give_up("cannot begin", &err);
    if (begun == PLEAT_LEAVE && err.code)
        fprintf(stderr, "a new rank could not join: %s\n", err.text);
    return begun;
}

long long app_number(const char *option, const char *text, long long least, long long most)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (shift)
        end++;
    if (errno || end == text || *end || number > (INT64_MAX >> shift) || number < 0 ||
        number << shift < least || number << shift > most) {
        fprintf(stderr, "--%s wants a number from %lld to %lld, not '%s'\n", option, least, most,
                text);
        exit(2);
    }
    return number << shift;
}

static double to_tolerance(const char *text)
{
    char *end;
    double tolerance = strtod(text, &end);
    if (end == text || *end || !(tolerance >= 0)) {
        fprintf(stderr, "--tolerance wants a number of at least 0, not '%s'\n", text);
        exit(2);
    }
    return tolerance;
}

void app_read_options(int argc, char **argv, const char *usage, struct app_options *options)
{
    enum { N = 1, ITERATIONS, UNTIL, WORK, USEFUL, PAUSE, TOLERANCE, FURTHER, HELP, COMMON = 8 };
    struct option table[COMMON + 2] = {
        {"n", 1, NULL, N},           {"iterations", 1, NULL, ITERATIONS},
        {"work", 1, NULL, WORK},     {"pause", 1, NULL, PAUSE},
        {"help", 0, NULL, HELP},     {"tolerance", 1, NULL, TOLERANCE},
        {"useful", 1, NULL, USEFUL}, {"until", 1, NULL, UNTIL}};
    if (options->further)
        table[COMMON] = (struct option){options->further, 0, NULL, FURTHER};
    for (int c; (c = getopt_long(argc, argv, "", table, NULL)) != -1;) {
        switch (c) {
        case N:
            options->n = app_number("n", optarg, 1, options->n_most);
            break;
        case ITERATIONS:
            options->iterations = app_number("iterations", optarg, 0, 1LL << 40);
            break;
        case WORK:
            options->work_ms = (double)app_number("work", optarg, 0, 1000000);
            break;
        case USEFUL:
            options->useful = (int)app_number("useful", optarg, 1, 1 << 20);
            break;
        case PAUSE:
            options->pause_ms = (double)app_number("pause", optarg, 0, 1000000);
            break;
        case TOLERANCE:
            options->tolerance = to_tolerance(optarg);
            break;
        case FURTHER:
            options->is_further = 1;
            break;
        case UNTIL:
            options->until = optarg;
            break;
        default:
            fputs(usage, c == HELP ? stdout : stderr);
            exit(c == HELP ? 0 : 2);
        }
    }
}

void app_pause(double milliseconds)
{
    if (milliseconds <= 0)
        return;
    struct timespec left = {.tv_sec = (time_t)(milliseconds / 1000)};
    left.tv_nsec = (long)((milliseconds - 1000.0 * (double)left.tv_sec) * 1e6);
    while (nanosleep(&left, &left) && errno == EINTR)
        ;
}

void app_pretend(const struct app_options *options, int ranks)
{
    int sharing = options->useful && options->useful < ranks ? options->useful : ranks;
    app_pause(options->pause_ms + options->work_ms / sharing);
}

int app_goes_on(const struct pleat_session *session, const struct app_options *options,
                long long done)
{
    if (!options->until)
        return done < options->iterations;
    int there = pleat_session_rank(session) == 0 && access(options->until, F_OK) == 0;
    MPI_Bcast(&there, 1, MPI_INT, 0, pleat_session_comm(session));
    return !there;
}

int app_has_done(const struct app_options *options, long long done)
{
    return options->until || done == options->iterations;
}

int app_reports(const struct pleat_session *session, const struct app_options *options,
                long long done)
{
    return pleat_session_rank(session) == 0 && !options->until &&
           done % (1 + options->iterations / 10) == 0;
}

void app_tally_open(struct app_tally *tally, const struct pleat_session *session, int begun)
{
    const char *launch = getenv("PLEAT_LAUNCH");
    const char *scratch = getenv("PLEAT_SCRATCH");
    char path[4096];
    tally->count = NULL;
    if (!launch || !scratch || pleat_session_rank(session) != 0)
        return;
    snprintf(path, sizeof(path), "%s/iterations-%s", scratch, launch);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *at = MAP_FAILED;
    struct stat st = {0};
    if (begun == PLEAT_JOINED && fd >= 0 && fstat(fd, &st) == 0 && st.st_size == 0) {
        /* the job goes on from another job's checkpoint: the iterations that the other job has
         * computed are not known here */
        (void)unlink(path);
        close(fd);
        return;
    }
    if (fd >= 0 && ftruncate(fd, sizeof(*tally->count)) == 0)
        at = mmap(NULL, sizeof(*tally->count), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (at == MAP_FAILED)
        return;
    tally->count = at;
    if (begun == PLEAT_STARTED)
        *tally->count = 0;
}

long long app_tally_skipped(const struct app_tally *tally, long long done)
{
    if (!tally->count || *tally->count >= done)
        return 0;
    fprintf(stderr, "%lld of %lld iterations were not computed\n", done - *tally->count, done);
    return done - *tally->count;
}

unsigned long long app_bits(const double *values, long long count, long long first)
{
    unsigned long long bits = 0;
    for (long long i = 0; i < count; i++) {
        unsigned long long one;
        memcpy(&one, &values[i], sizeof(one));
        one += (unsigned long long)(first + i);
        one *= 0x9e3779b97f4a7c15u;
        bits ^= one ^ one >> 32;
    }
    return bits;
}

unsigned long long app_bits_of_all(MPI_Comm comm, unsigned long long bits)
{
    unsigned long long all = bits;
    MPI_Allreduce(&bits, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_BXOR, comm);
    return all;
}

double app_noise(unsigned long long a, unsigned long long b)
{
    uint64_t x = a * UINT64_C(0x9e3779b97f4a7c15) ^ (b + 1) * UINT64_C(0xc2b2ae3d27d4eb4f);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}
