#include "plain.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 800 /* in a unit of work */
#define MULTIPLIER UINT64_C(6364136223846793005)
#define INCREMENT UINT64_C(1442695040888963407)
#define OPTIONS_MAX 20
#define HOLD_NS 1000000 /* between two looks for the file of --hold */

/* ---- options ---- */

static _Noreturn void refuse(const struct plain_option *option, const char *text)
{
    if (option->words)
        fprintf(stderr, "--%s wants one of %s, not '%s'\n", option->name, option->words, text);
    else
        fprintf(stderr, "--%s wants a number from %lld to %lld, not '%s'\n", option->name,
                option->least, option->most, text);
    exit(2);
}

/* The index of `text` among words separated by commas; -1: not there. */
static long long index_of(const char *words, const char *text)
{
    size_t length = strlen(text);
    for (long long i = 0; words; i++) {
        if (strcspn(words, ",") == length && !strncmp(words, text, length))
            return i;
        words = strchr(words, ',');
        words = words ? words + 1 : NULL;
    }
    return -1;
}

static void take(const struct plain_option *option, const char *text)
{
    char *end = NULL;
    if (option->words) {
        *option->value = index_of(option->words, text);
        if (*option->value < 0)
            refuse(option, text);
    } else if (!option->most) {
        *option->value = 1;
    } else {
        errno = 0;
        *option->value = strtoll(text, &end, 10);
        if (errno || end == text || *end || *option->value < option->least ||
            *option->value > option->most)
            refuse(option, text);
    }
}

static void read_options(struct plain *plain, int argc, char **argv, const char *usage,
                         const struct plain_option *more)
{
    struct plain_option all[OPTIONS_MAX] = {{"iterations", &plain->iterations, 0, 1LL << 40, NULL},
                                            {"work", &plain->work, 0, 1LL << 40, NULL},
                                            {"verify", &plain->verify, 0, 0, NULL},
                                            {"corrupt", &plain->corrupt, 0, 1LL << 40, NULL}};
    enum { RATE = OPTIONS_MAX, TIMES, HOLD, HELP, OTHERS = 4 };
    struct option table[OPTIONS_MAX + OTHERS + 1] = {{"rate", 1, NULL, RATE},
                                                     {"times", 1, NULL, TIMES},
                                                     {"hold", 1, NULL, HOLD},
                                                     {"help", 0, NULL, HELP}};
    int count = 4;
    for (; more && more->name; more++)
        all[count++] = *more;
    for (int i = 0; i < count; i++)
        table[i + OTHERS] = (struct option){all[i].name, all[i].words || all[i].most, NULL, i};
    for (int c; (c = getopt_long(argc, argv, "", table, NULL)) != -1;) {
        if (c == RATE)
            plain->rate = optarg;
        else if (c == TIMES)
            plain->times = optarg;
        else if (c == HOLD)
            plain->hold = optarg;
        else if (c >= 0 && c < count)
            take(&all[c], optarg);
        else {
            fputs(usage, c == HELP ? stdout : stderr);
            exit(c == HELP ? 0 : 2);
        }
    }
    if (optind < argc) {
        fprintf(stderr, "'%s' is not an option\n%s", argv[optind], usage);
        exit(2);
    }
}

/* ---- start and end ---- */

static long long clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (long long)now.tv_sec * 1000000000 + now.tv_nsec;
}

void plain_begin(struct plain *plain, int argc, char **argv, const char *usage,
                 const struct plain_option *more)
{
    plain->corrupt = -1;
    read_options(plain, argc, argv, usage, more);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &plain->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &plain->ranks);
    plain->begun_ns = clock_ns(CLOCK_MONOTONIC);
    plain->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (!plain->rate || plain->rank)
        return;
    plain->rate_file = fopen(plain->rate, "a");
    if (!plain->rate_file) {
        fprintf(stderr, "--rate: %s: %s\n", plain->rate, strerror(errno));
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
}

void plain_begin_sized(struct plain *plain, int argc, char **argv, const char *usage,
                       long long small_iterations, long long large_iterations)
{
    const struct plain_option size[] = {{"size", &plain->size, 0, 0, "small,large"},
                                        {NULL, NULL, 0, 0, NULL}};
    plain->iterations = -1;
    plain_begin(plain, argc, argv, usage, size);
    if (plain->iterations < 0)
        plain->iterations = plain->size ? large_iterations : small_iterations;
}

_Noreturn void plain_refuse_ranks(const struct plain *plain, const char *wanted)
{
    if (plain->rank == 0)
        fprintf(stderr, "%s runs on %s, not on %d\n", plain->name, wanted, plain->ranks);
    MPI_Finalize();
    exit(2);
}

/* Waits for the file of --hold, exchanging messages, without a change to the result. All ranks take
 * part in each round, so that none gets ahead, and sleep for a moment before it: those who wait for
 * the file or for a change of the processors are not to have these for themselves alone. */
static void hold(const struct plain *plain)
{
    const struct timespec moment = {0, HOLD_NS};
    for (int waits = 1; waits;) {
        (void)nanosleep(&moment, NULL);
        int missing = plain->rank == 0 && access(plain->hold, F_OK) != 0;
        MPI_Allreduce(&missing, &waits, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
}

void plain_iterated(struct plain *plain)
{
    if (plain->hold && ++plain->iterated == (plain->iterations + 1) / 2)
        hold(plain);
    if (plain->rate_file)
        fprintf(plain->rate_file, "%lld\n", clock_ns(CLOCK_MONOTONIC));
}

void plain_step(struct plain *plain)
{
    if (!plain->steps++)
        plain->worked = plain_seed((uint64_t)plain->rank);
    plain->worked = plain_work(plain->worked, plain->work);
    plain_iterated(plain);
}

/* Whether --work gave something else than it has to. */
static bool is_work_wrong(const struct plain *plain)
{
    struct plain_jump jump = plain_jump(plain->work * plain->steps);
    return plain->steps &&
           plain->worked != plain_jump_apply(jump, plain_seed((uint64_t)plain->rank));
}

/* Writes the line at once, so that lines of several ranks do not mix. */
static void append_times(const struct plain *plain)
{
    char line[128];
    int length =
        snprintf(line, sizeof(line), "%d %lld %lld %lld\n", plain->rank, plain->begun_ns,
                 clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_PROCESS_CPUTIME_ID) - plain->cpu_ns);
    int fd = open(plain->times, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || write(fd, line, (size_t)length) != length || close(fd)) {
        fprintf(stderr, "--times: %s: %s\n", plain->times, strerror(errno));
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
}

int plain_end(struct plain *plain, uint64_t sum)
{
    uint64_t mine[2] = {sum, (uint64_t)plain->wrong + is_work_wrong(plain)};
    uint64_t all[2] = {0, 0};
    MPI_Allreduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (plain->times)
        append_times(plain);
    if (plain->rate_file && fclose(plain->rate_file)) {
        fprintf(stderr, "--rate: %s: %s\n", plain->rate, strerror(errno));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (plain->rank == 0)
        printf("RESULT %s %s ranks=%d iterations=%lld sum=%016llx\n", all[1] ? "wrong" : "ok",
               plain->name, plain->ranks, plain->iterations, (unsigned long long)all[0]);
    MPI_Finalize();
    return all[1] != 0;
}

void *plain_allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory) {
        fprintf(stderr, "no memory for %zu times %zu bytes\n", count, size);
        MPI_Abort(MPI_COMM_WORLD, 1);
        exit(1);
    }
    return memory;
}

/* ---- work ---- */

uint64_t plain_work(uint64_t value, long long units)
{
    for (long long unit = 0; unit < units; unit++)
        for (int i = 0; i < ROUNDS; i++)
            value = value * MULTIPLIER + INCREMENT;
    return value;
}

struct plain_jump plain_jump_rounds(uint64_t rounds)
{
    struct plain_jump all = {1, 0};
    struct plain_jump step = {MULTIPLIER, INCREMENT}; /* for 1, 2, 4, ... rounds */
    for (; rounds; rounds >>= 1) {
        if (rounds & 1) {
            all.increment = all.increment * step.multiplier + step.increment;
            all.multiplier *= step.multiplier;
        }
        step.increment *= step.multiplier + 1;
        step.multiplier *= step.multiplier;
    }
    return all;
}

struct plain_jump plain_jump(long long units)
{
    return plain_jump_rounds((uint64_t)units * ROUNDS);
}

uint64_t plain_jump_apply(struct plain_jump jump, uint64_t value)
{
    return jump.multiplier * value + jump.increment;
}

uint64_t plain_seed(uint64_t number)
{
    uint64_t x = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 31;
}

double plain_random(uint64_t number)
{
    return (double)(plain_seed(number) >> 11) * 0x1p-52 - 1;
}

/* ---- checks ---- */

void plain_compare(struct plain *plain, double found, double expected, double tolerance)
{
    plain->wrong += !(fabs(found - expected) <= tolerance);
}

uint64_t plain_bits(const double *values, long long count)
{
    uint64_t sum = 0, bits;
    for (long long i = 0; i < count; i++) {
        memcpy(&bits, &values[i], sizeof(bits));
        sum += bits;
    }
    return sum;
}

/* ---- messages ---- */

void plain_pack(uint64_t value, uint64_t *words, long long count)
{
    for (long long i = 0; i < count; i++)
        words[i] = value + (uint64_t)i;
}

uint64_t plain_unpack(struct plain *plain, const uint64_t *words, long long count)
{
    uint64_t value = words[0];
    for (long long i = plain->verify ? 1 : count - 1; i < count; i++)
        plain->wrong += words[i] != value + (uint64_t)i;
    return value;
}
