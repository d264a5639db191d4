/* mz - many zones of different size, of the class of the multi-zone NAS benchmark BT-MZ: a box is
 * cut into zones whose widths and depths grow by a factor from one to the next, and zones go to
 * ranks in turn, whatever their size, so some ranks have several times as much to do as others. In
 * each iteration the zones exchange their edges; then each solves block-tridiagonal systems with 5
 * x 5 blocks along its vertical lines. Any number of ranks, at most one for each zone.
 *
 * A step is implicit along z and explicit along x and y: with K and D as in bt
 *   (1 - t K Dz) u' = u + t (source + K (Dx + Dy) u).
 * So what u has to be is known after any number of steps, and does not depend on the zones.
 */
#include <math.h>
#include <stdlib.h>

#include "blocks.h"
#include "modes.h"

#define ZONES 4             /* along x and along y */
#define ALL (ZONES * ZONES) /* number y * ZONES + x */
#define SPAN 4.5            /* widest over narrowest; areas differ by about the square */
#define STEP 0.02           /* t */
#define SIDES 4             /* lower x, higher x, lower y, higher y */

static const char usage[] = "usage: mpirun ... mz [options]\n"
                            "Zones of different size, dealt to ranks whatever their size; at most "
                            "16 ranks.\n" PLAIN_USAGE_SIZED PLAIN_USAGE;

struct zone {
    int number, rank;
    long long first[2], count[2]; /* along x and y; of height they are all the same */
    long long stride[2];          /* in doubles; z is next to z */
    double *u, *next;             /* with a halo; NULL: another rank's zone */
    double *face[SIDES][2];       /* in, out */
};

struct mz {
    struct plain plain;
    struct modes modes;
    long long points[3], cuts[2][ZONES + 1];
    struct zone zone[ALL];
    double diagonal[BLOCK_WORDS], beside[BLOCK_WORDS], source[BLOCK];
    double *upper; /* of one line */
};

/* ---- zones ---- */

static double *at(const struct zone *zone, double *values, long long x, long long y)
{
    return values + (x + 1) * zone->stride[0] + (y + 1) * zone->stride[1];
}

/* Widths as a geometric series. */
static void cut(long long points, long long cuts[ZONES + 1])
{
    double factor = pow(SPAN, 1.0 / (ZONES - 1)), all = 0, sum = 0;
    for (int i = 0; i < ZONES; i++)
        all += pow(factor, i);
    for (int i = 0; i < ZONES; i++) {
        cuts[i] = llround((double)points * sum / all);
        sum += pow(factor, i);
    }
    cuts[ZONES] = points;
}

static long long face_words(const struct mz *mz, const struct zone *zone, int side)
{
    return zone->count[side < 2 ? 1 : 0] * mz->points[2] * BLOCK;
}

static void make_zone(struct mz *mz, int number)
{
    struct zone *zone = &mz->zone[number];
    zone->number = number;
    zone->rank = number % mz->plain.ranks;
    for (int d = 0; d < 2; d++) {
        int part = d ? number / ZONES : number % ZONES;
        zone->first[d] = mz->cuts[d][part];
        zone->count[d] = mz->cuts[d][part + 1] - zone->first[d];
    }
    zone->stride[0] = mz->points[2] * BLOCK;
    zone->stride[1] = zone->stride[0] * (zone->count[0] + 2);
    if (zone->rank != mz->plain.rank)
        return;
    size_t words = (size_t)(zone->stride[1] * (zone->count[1] + 2));
    zone->u = plain_allocate(words, sizeof(double));
    zone->next = plain_allocate(words, sizeof(double));
    for (int side = 0; side < SIDES; side++)
        for (int way = 0; way < 2; way++)
            zone->face[side][way] =
                plain_allocate((size_t)face_words(mz, zone, side), sizeof(double));
}

/* The zone beyond a side; NULL: a wall. */
static struct zone *beyond(struct mz *mz, const struct zone *zone, int side)
{
    int x = zone->number % ZONES + (side == 1) - (side == 0);
    int y = zone->number / ZONES + (side == 3) - (side == 2);
    if (x < 0 || x >= ZONES || y < 0 || y >= ZONES)
        return NULL;
    return &mz->zone[y * ZONES + x];
}

/* ---- edges ---- */

/* Copies a zone's own edge out, or what came into the layer beyond it. */
static void copy_face(const struct mz *mz, struct zone *zone, int side, int out)
{
    int d = side / 2; /* across which it lies */
    long long position = side % 2 ? zone->count[d] - out : out - 1;
    double *face = zone->face[side][out];
    for (long long i = 0; i < zone->count[!d]; i++) {
        double *line = d ? at(zone, zone->u, i, position) : at(zone, zone->u, position, i);
        for (long long k = 0; k < mz->points[2] * BLOCK; k++, face++)
            *(out ? face : &line[k]) = out ? line[k] : *face;
    }
}

static void exchange(struct mz *mz)
{
    MPI_Request requests[ALL * SIDES * 2];
    MPI_Status statuses[ALL * SIDES * 2];
    int count = 0;
    for (int pass = 0; pass < 2; pass++) /* receives are there before anything is sent */
        for (int n = 0; n < ALL; n++)
            for (int side = 0; side < SIDES; side++) {
                struct zone *zone = &mz->zone[n], *other = beyond(mz, zone, side);
                if (zone->rank != mz->plain.rank || !other)
                    continue;
                int words = (int)face_words(mz, zone, side);
                if (pass == 0) { /* the sender's number and side */
                    MPI_Irecv(zone->face[side][0], words, MPI_DOUBLE, other->rank,
                              other->number * SIDES + (side ^ 1), MPI_COMM_WORLD,
                              &requests[count++]);
                    continue;
                }
                copy_face(mz, zone, side, 1);
                MPI_Isend(zone->face[side][1], words, MPI_DOUBLE, other->rank, n * SIDES + side,
                          MPI_COMM_WORLD, &requests[count++]);
            }
    MPI_Waitall(count, requests, statuses);
    for (int n = 0; n < ALL; n++)
        for (int side = 0; side < SIDES; side++)
            if (mz->zone[n].rank == mz->plain.rank && beyond(mz, &mz->zone[n], side))
                copy_face(mz, &mz->zone[n], side, 0);
}

/* ---- a step ---- */

static void solve_line(struct mz *mz, struct zone *zone, long long x, long long y)
{
    double *next = at(zone, zone->next, x, y);
    const double *u = at(zone, zone->u, x, y);
    for (long long z = 0; z < mz->points[2]; z++, u += BLOCK) {
        double around[BLOCK], *r = next + z * BLOCK;
        double shape =
            modes_shape(&mz->modes, MODE_STAYS, zone->first[0] + x, zone->first[1] + y, z);
        for (int c = 0; c < BLOCK; c++) {
            around[c] = 4 * u[c];
            for (int d = 0; d < 2; d++)
                around[c] -= u[c - zone->stride[d]] + u[c + zone->stride[d]];
            around[c] *= STEP;
            r[c] = u[c] + STEP * shape * mz->source[c];
        }
        block_subtract(r, block_coupling, around);
    }
    struct block_line line = {mz->points[2], BLOCK, BLOCK_WORDS, next, mz->upper};
    block_forward(&line, mz->diagonal, mz->beside, NULL, NULL);
    block_backward(&line, NULL);
}

static void iterate(struct mz *mz)
{
    exchange(mz);
    for (int n = 0; n < ALL; n++) {
        struct zone *zone = &mz->zone[n];
        if (!zone->u)
            continue;
        for (long long y = 0; y < zone->count[1]; y++)
            for (long long x = 0; x < zone->count[0]; x++)
                solve_line(mz, zone, x, y);
        double *swap = zone->u; /* in both, what lies beyond walls is 0 */
        zone->u = zone->next;
        zone->next = swap;
    }
}

/* ---- what has to come out ---- */

static void set_modes(struct mz *mz)
{
    static const int number[MODES] = {[MODE_STAYS] = 2, [MODE_FADES] = 1}; /* of K's eigenvectors */
    modes_begin(&mz->modes, mz->points);
    double value[MODES][3];
    for (int m = 0; m < MODES; m++)
        for (int d = 0; d < 3; d++)
            value[m][d] = block_coupling_value(number[m]) * mz->modes.eigenvalue[m][d];
    const double *fades = value[MODE_FADES], *stays = value[MODE_STAYS];
    for (int c = 0; c < BLOCK; c++) {
        for (int m = 0; m < MODES; m++)
            mz->modes.amplitude[m][c] = block_coupling_vector(number[m], c);
        mz->modes.factor[c] = (1 - STEP * (fades[0] + fades[1])) / (1 + STEP * fades[2]);
        mz->source[c] = (stays[0] + stays[1] + stays[2]) * mz->modes.amplitude[MODE_STAYS][c];
    }
    for (int i = 0; i < BLOCK_WORDS; i++) {
        mz->beside[i] = -STEP * block_coupling[i];
        mz->diagonal[i] = (i % (BLOCK + 1) == 0) + 2 * STEP * block_coupling[i];
    }
}

/* Sets all values to those after `steps` steps, or compares them with those. */
static void visit(struct mz *mz, long long steps, int compare)
{
    double powers[BLOCK];
    modes_powers(&mz->modes, steps, powers);
    for (int n = 0; n < ALL; n++) {
        struct zone *zone = &mz->zone[n];
        for (long long y = 0; zone->u && y < zone->count[1]; y++)
            for (long long x = 0; x < zone->count[0]; x++)
                for (long long z = 0; z < mz->points[2]; z++) {
                    long long in_x = zone->first[0] + x, in_y = zone->first[1] + y;
                    double *u = at(zone, zone->u, x, y) + z * BLOCK;
                    if (compare)
                        modes_check(&mz->modes, &mz->plain, powers, in_x, in_y, z, u);
                    else
                        modes_at(&mz->modes, powers, in_x, in_y, z, u);
                }
    }
}

static void begin(struct mz *mz)
{
    if (mz->plain.ranks > ALL)
        plain_refuse_ranks(&mz->plain, "16 ranks at most, one for each zone");
    long long edge = mz->plain.size ? 48 : 24;
    mz->points[0] = mz->points[1] = edge;
    mz->points[2] = edge / 2;
    cut(edge, mz->cuts[0]);
    cut(edge, mz->cuts[1]);
    for (int n = 0; n < ALL; n++)
        make_zone(mz, n);
    mz->upper = plain_allocate((size_t)(mz->points[2] * BLOCK_WORDS), sizeof(double));
    set_modes(mz);
    visit(mz, 0, 0);
}

static uint64_t finish(struct mz *mz)
{
    uint64_t sum = 0;
    for (int n = 0; n < ALL; n++) {
        struct zone *zone = &mz->zone[n];
        if (!zone->u)
            continue;
        for (long long y = 0; y < zone->count[1]; y++)
            sum += plain_bits(at(zone, zone->u, 0, y), zone->count[0] * zone->stride[0]);
        free(zone->u);
        free(zone->next);
        for (int side = 0; side < SIDES; side++)
            for (int way = 0; way < 2; way++)
                free(zone->face[side][way]);
    }
    modes_end(&mz->modes);
    free(mz->upper);
    return sum;
}

int main(int argc, char **argv)
{
    struct mz mz = {.plain = {.name = "mz"}};
    plain_begin_sized(&mz.plain, argc, argv, usage, 250, 550);
    begin(&mz);
    for (long long i = 0; i < mz.plain.iterations; i++) {
        iterate(&mz);
        *at(&mz.zone[mz.plain.rank], mz.zone[mz.plain.rank].u, 0, 0) += i == mz.plain.corrupt;
        if (mz.plain.verify)
            visit(&mz, i + 1, 1);
        plain_step(&mz.plain);
    }
    visit(&mz, mz.plain.iterations, 1);
    return plain_end(&mz.plain, finish(&mz));
}
