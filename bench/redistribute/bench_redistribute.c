/* bench_redistribute [options] - what it costs to move a 2-D block-cyclic matrix from one process
 * grid to another one in memory: the time to make a rank's plan, and the time to copy all parts of
 * all ranks in one process, against memcpy of the same bytes.
 *
 * Both copy from the same memory, and into memory of the same state: fresh (just mapped, every page
 * faults) and used (written before). They alternate, and begin in turn. Times are processor time,
 * which counts page faults, too.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "dist/copy.h"
#include "dist/grid.h"
#include "options.h"
#include "report.h"
#include "support/dist_elements.h"

static const char usage[] =
    "usage: bench_redistribute [options]\n"
    "Moves a 2-D block-cyclic matrix between process grids, in one process.\n"
    "  --repeats N      measurements of each value (default 7)\n"
    "  --largest N      matrices up to N x N (default 8000)\n"
    "  --block NB       block size (default 64)\n"
    "  --only PART      plan (the time to make plans) or copy\n"
    "  --json           rows as JSON: name, value, unit, baseline, ratio, goal, met\n";

#define REPEATS_MAX 100
#define GOAL 2.0
#define PARTS_MAX 16

static const int orders[] = {2000, 4000, 8000};
static const int steps[][2] = {{2, 4}, {4, 8}, {8, 6}, {4, 2}};
enum { ORDERS = 3, STEPS = 4 };
enum { FRESH, USED, STATES };
static const char *const state_names[] = {"fresh", "used"};

struct figures {
    struct bench_series plan_us, ratio[STATES], copy_ms[STATES], memcpy_ms[STATES];
    double megabytes;
};

static struct figures figures[ORDERS][STEPS];

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "bench_redistribute: %s\n", what);
    exit(1);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- what is moved ---- */

static struct pleat_dist matrix(int order, int block, int ranks)
{
    const struct pleat_grid_wish wish = {.dims = 2};
    int grid[PLEAT_DIST_DIMS];
    struct pleat_error err;
    if (pleat_grid_propose(ranks, &wish, grid, &err))
        give_up(err.text);
    struct pleat_dist dist = {.name = "matrix",
                              .dims = 2,
                              .ranks = ranks,
                              .element_bytes = 8,
                              .storage = PLEAT_DIST_COLUMN_MAJOR};
    for (int d = 0; d < 2; d++)
        dist.dim[d] = (struct pleat_dim){.extent = order,
                                         .format = PLEAT_DIM_BLOCK_CYCLIC,
                                         .processes = grid[d],
                                         .block = block};
    return dist;
}

/* The parts of all ranks, one after the other in one piece of memory. */
struct parts {
    struct pleat_dist dist;
    struct pleat_layout layout[PARTS_MAX];
    size_t offset[PARTS_MAX];
    size_t bytes;
};

static void describe(struct parts *parts, int order, int block, int ranks)
{
    struct pleat_error err;
    *parts = (struct parts){.dist = matrix(order, block, ranks)};
    for (int rank = 0; rank < ranks; rank++) {
        if (pleat_dist_layout(&parts->dist, rank, NULL, &parts->layout[rank], &err))
            give_up(err.text);
        parts->offset[rank] = parts->bytes;
        parts->bytes += (size_t)parts->layout[rank].bytes;
    }
}

static char *map(size_t bytes)
{
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        give_up("no memory");
    return memory;
}

struct move {
    struct parts old, new;
    char *from;
    struct pleat_dist_plan plans[PARTS_MAX];
};

static void make_plans(struct move *move)
{
    struct pleat_error err;
    for (int rank = 0; rank < move->new.dist.ranks; rank++)
        if (pleat_dist_plan_receive(&move->old.dist, &move->new.dist, rank, NULL, 0,
                                    &move->plans[rank], &err))
            give_up(err.text);
}

static void drop_plans(struct move *move)
{
    for (int rank = 0; rank < move->new.dist.ranks; rank++)
        pleat_dist_plan_finish(&move->plans[rank]);
}

static void copy_all(const struct move *move, char *to)
{
    struct pleat_error err;
    for (int rank = 0; rank < move->new.dist.ranks; rank++) {
        struct pleat_copy_source sources[PARTS_MAX];
        for (size_t i = 0; i < move->plans[rank].peers; i++) {
            struct pleat_dist_plan_peer peer;
            pleat_dist_plan_peer(&move->plans[rank], i, &peer);
            sources[i] =
                (struct pleat_copy_source){.base = move->from + move->old.offset[peer.rank]};
        }
        if (pleat_copy_all(&move->plans[rank], sources, to + move->new.offset[rank], &err))
            give_up(err.text);
    }
}

static void copy_plainly(const struct move *move, char *to)
{
    for (int rank = 0; rank < move->new.dist.ranks; rank++)
        memcpy(to + move->new.offset[rank], move->from + move->new.offset[rank],
               (size_t)move->new.layout[rank].bytes);
}

/* Every element is where it belongs, or is put there: that of row i and column j is i * 65536 + j.
 */
static void check(const struct parts *parts, char *memory, bool fill)
{
    for (int rank = 0; rank < parts->dist.ranks; rank++) {
        const int64_t *owned = parts->layout[rank].owned;
        double *element = (double *)(void *)(memory + parts->offset[rank]);
        for (int64_t j = 0; j < owned[1]; j++)
            for (int64_t i = 0; i < owned[0]; i++, element++) {
                int64_t global[2] = {0};
                dist_global(&parts->dist, rank, (const int64_t[]){i, j}, global);
                double value = (double)(global[0] * 65536 + global[1]);
                if (fill)
                    *element = value;
                else if (memcmp(element, &value, sizeof(value)) != 0)
                    give_up("an element is wrong");
            }
    }
}

/* ---- measuring ---- */

static double time_once(const struct move *move, char *used, int state, bool plainly)
{
    char *to = state == FRESH ? map(move->new.bytes) : used;
    double begun = seconds();
    (plainly ? copy_plainly : copy_all)(move, to);
    double took = (seconds() - begun) * 1e3;
    if (state == FRESH)
        munmap(to, move->new.bytes);
    return took;
}

static void measure_copies(struct figures *f, struct move *move, int repeats)
{
    char *used = map(move->new.bytes);
    make_plans(move);
    copy_all(move, used);
    check(&move->new, used, false);
    for (int i = 0; i < repeats; i++)
        for (int state = 0; state < STATES; state++) {
            double took[2];
            for (int turn = 0; turn < 2; turn++)
                took[(turn + i) % 2] = time_once(move, used, state, (turn + i) % 2);
            bench_add(&f->copy_ms[state], took[0]);
            bench_add(&f->memcpy_ms[state], took[1]);
            bench_add(&f->ratio[state], took[0] / took[1]);
        }
    drop_plans(move);
    munmap(used, move->new.bytes);
}

static void measure_plans(struct figures *f, struct move *move, int repeats)
{
    enum { TIMES = 100 }; /* the clock is coarser than a plan */
    for (int i = 0; i < repeats; i++) {
        double begun = seconds();
        for (int j = 0; j < TIMES; j++) {
            make_plans(move);
            drop_plans(move);
        }
        bench_add(&f->plan_us, (seconds() - begun) * 1e6 / TIMES / move->new.dist.ranks);
    }
}

static void measure(struct figures *f, int order, int block, const int step[2], int repeats,
                    const char *only)
{
    static struct move move;
    describe(&move.old, order, block, step[0]);
    describe(&move.new, order, block, step[1]);
    f->megabytes = (double)move.new.bytes / 1e6;
    if (!only || strcmp(only, "plan") == 0)
        measure_plans(f, &move, repeats);
    if (only && strcmp(only, "plan") == 0)
        return;
    move.from = map(move.old.bytes);
    check(&move.old, move.from, true);
    measure_copies(f, &move, repeats);
    munmap(move.from, move.old.bytes);
}

/* ---- reporting ---- */

static void add_row(struct bench_row *row, const char *what, int n, int s, double value,
                    const char *unit)
{
    *row = (struct bench_row){.value = value, .unit = unit};
    snprintf(row->name, sizeof(row->name), "redistribute_%s_%d_%d_to_%d", what, orders[n],
             steps[s][0], steps[s][1]);
}

static void report_json(int largest)
{
    static struct bench_row rows[ORDERS * STEPS * (STATES + 1)];
    size_t count = 0;
    for (int n = 0; n < ORDERS; n++)
        for (int s = 0; s < STEPS && orders[n] <= largest; s++) {
            const struct figures *f = &figures[n][s];
            if (f->plan_us.count)
                add_row(&rows[count++], "plan", n, s, bench_median(&f->plan_us), "us");
            for (int state = 0; state < STATES && f->copy_ms[state].count; state++) {
                struct bench_row *row = &rows[count++];
                add_row(row, state_names[state], n, s, bench_median(&f->copy_ms[state]), "ms");
                row->baseline = bench_median(&f->memcpy_ms[state]);
                row->goal = GOAL;
                row->met = bench_ratio(row) <= GOAL;
            }
        }
    bench_print_json(rows, count);
}

static void print_range(const struct bench_series *s, const char *format)
{
    char text[64] = "-";
    if (s->count)
        snprintf(text, sizeof(text), format, bench_median(s), bench_quantile(s, 0),
                 bench_quantile(s, 1));
    printf("  %-26s", text);
}

static void report(int largest)
{
    printf("median [min .. max], processor time\n"
           "    N  ranks       MB  %-26s  state  %-26s  %-26s  %-26s  goal %.0f\n",
           "a rank's plan, us", "memcpy, ms", "copy, ms", "ratio", GOAL);
    for (int n = 0; n < ORDERS; n++)
        for (int s = 0; s < STEPS && orders[n] <= largest; s++) {
            const struct figures *f = &figures[n][s];
            for (int state = 0; state < STATES; state++) {
                printf("%5d  %d -> %d  %7.0f", orders[n], steps[s][0], steps[s][1], f->megabytes);
                print_range(&f->plan_us, "%6.1f [%6.1f .. %6.1f]");
                if (!f->copy_ms[state].count) {
                    printf("\n");
                    break;
                }
                printf("  %-5s", state_names[state]);
                print_range(&f->memcpy_ms[state], "%6.1f [%5.1f .. %6.1f]");
                print_range(&f->copy_ms[state], "%6.1f [%5.1f .. %6.1f]");
                print_range(&f->ratio[state], "%4.2f [%4.2f .. %4.2f]");
                printf("  %s\n",
                       bench_median(&f->copy_ms[state]) <= GOAL * bench_median(&f->memcpy_ms[state])
                           ? "met"
                           : "NOT MET");
            }
        }
    if (figures[0][0].copy_ms[USED].count)
        printf("every element was compared once, in each row\n");
}

int main(int argc, char **argv)
{
    static const char *const parts[] = {"plan", "copy", NULL};
    int repeats = 7, largest = orders[ORDERS - 1], block = 64;
    const char *only = NULL;
    bool json = false;
    const struct bench_option options[] = {
        {.name = "repeats", .number = &repeats, .least = 1, .most = REPEATS_MAX},
        {.name = "largest", .number = &largest, .least = orders[0], .most = INT_MAX},
        {.name = "block", .number = &block, .least = 1, .most = INT_MAX},
        {.name = "only", .text = &only, .choices = parts},
        {.name = "json", .flag = &json}};
    bench_options(argc, argv, usage, options, sizeof(options) / sizeof(*options));
    for (int n = 0; n < ORDERS; n++)
        for (int s = 0; s < STEPS && orders[n] <= largest; s++)
            measure(&figures[n][s], orders[n], block, steps[s], repeats, only);
    if (json)
        report_json(largest);
    else
        report(largest);
    return 0;
}
