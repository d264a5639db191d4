#include "multi.h"

#include <stdbool.h>
#include <stdlib.h>

#define C MULTI_COMPONENTS

/* ---- cells ---- */

long long multi_offset(const struct multi *multi, const struct multi_cell *cell, long long x,
                       long long y, long long z)
{
    long long h = multi->halo;
    return (x + h) * cell->stride[0] + (y + h) * cell->stride[1] + (z + h) * cell->stride[2];
}

static void make_cell(const struct multi *multi, struct multi_cell *cell, const int at[3])
{
    cell->points = 1;
    for (int d = 0; d < 3; d++) {
        cell->at[d] = at[d];
        cell->first[d] = multi->n * at[d] / multi->q;
        cell->count[d] = multi->n * (at[d] + 1) / multi->q - cell->first[d];
        cell->stride[d] = cell->points * C;
        cell->points *= cell->count[d] + 2 * multi->halo;
    }
    cell->u = plain_allocate((size_t)(cell->points * C), sizeof(double));
    cell->rhs = plain_allocate((size_t)(cell->points * C), sizeof(double));
}

void multi_begin(struct multi *multi, struct plain *plain, long long n, int halo)
{
    int q = 1;
    *multi = (struct multi){.plain = plain, .n = n, .halo = halo};
    while (q * q < plain->ranks)
        q++;
    if (q * q != plain->ranks || q * halo > n)
        plain_refuse_ranks(plain, "a square number of ranks (1, 4, 9, ...), fewer than points");
    multi->q = q;
    int i = plain->rank % q, j = plain->rank / q;
    /* The cell (x, y, z) is at the rank (x - z, y - z). */
    static const int steps[3][2] = {{1, 0}, {0, 1}, {-1, -1}};
    for (int d = 0; d < 3; d++)
        for (int side = 0; side < 2; side++) {
            int sign = side ? 1 : -1;
            multi->rank_of[d][side] =
                (i + q + sign * steps[d][0]) % q + (j + q + sign * steps[d][1]) % q * q;
        }
    multi->cell = plain_allocate((size_t)q, sizeof(*multi->cell));
    for (int c = 0; c < q; c++)
        make_cell(multi, &multi->cell[c], (int[3]){(i + c) % q, (j + c) % q, c});
    long long edge = n / q + 1; /* at most, of a cell */
    size_t face = (size_t)(edge * edge * C);
    for (int d = 0; d < 3; d++)
        for (int k = 0; k < 4; k++)
            multi->faces[d][k / 2][k % 2] =
                plain_allocate(face * (size_t)(q * halo), sizeof(double));
    multi->in = plain_allocate(face * (C + 1), sizeof(double));
    multi->out = plain_allocate(face * (C + 1), sizeof(double));
}

void multi_end(struct multi *multi)
{
    for (int c = 0; c < multi->q; c++) {
        free(multi->cell[c].u);
        free(multi->cell[c].rhs);
    }
    for (int d = 0; d < 3; d++)
        for (int k = 0; k < 4; k++)
            free(multi->faces[d][k / 2][k % 2]);
    free(multi->cell);
    free(multi->in);
    free(multi->out);
}

/* ---- halos ---- */

/* Copies `halo` layers from the position `from` on to the buffer, or from it. Returns its end. */
static double *copy_layers(const struct multi *multi, struct multi_cell *cell, int d,
                           long long from, double *buffer, bool out)
{
    int a = (d + 1) % 3, b = (d + 2) % 3;
    double *origin = cell->u + multi_offset(multi, cell, 0, 0, 0);
    for (long long k = from; k < from + multi->halo; k++)
        for (long long j = 0; j < cell->count[b]; j++)
            for (long long i = 0; i < cell->count[a]; i++) {
                double *u =
                    origin + k * cell->stride[d] + j * cell->stride[b] + i * cell->stride[a];
                for (int m = 0; m < C; m++)
                    *(out ? &buffer[m] : &u[m]) = out ? u[m] : buffer[m];
                buffer += C;
            }
    return buffer;
}

/* Layers to (or from, if not `out`) the neighbour on a side, of all cells that have one. */
static long long copy_side(struct multi *multi, int d, int side, bool out)
{
    double *buffer = multi->faces[d][side][out], *end = buffer;
    for (int c = 0; c < multi->q; c++) {
        struct multi_cell *cell = &multi->cell[c];
        if (cell->at[d] == (side ? multi->q - 1 : 0))
            continue;
        long long inner = side ? cell->count[d] - multi->halo : 0;
        long long outer = side ? cell->count[d] : -multi->halo;
        end = copy_layers(multi, cell, d, out ? inner : outer, end, out);
    }
    return end - buffer;
}

/* Behind a wall, the value at which is 0. */
static void mirror(struct multi *multi, struct multi_cell *cell, int d, int side)
{
    int a = (d + 1) % 3, b = (d + 2) % 3;
    double *origin = cell->u + multi_offset(multi, cell, 0, 0, 0);
    long long wall = side ? cell->count[d] : -1, to = side ? 1 : -1;
    for (long long j = 0; j < cell->count[b]; j++)
        for (long long i = 0; i < cell->count[a]; i++) {
            double *u = origin + wall * cell->stride[d] + j * cell->stride[b] + i * cell->stride[a];
            for (int m = 0; m < C; m++)
                u[to * cell->stride[d] + m] = -u[-to * cell->stride[d] + m];
        }
}

void multi_exchange(struct multi *multi)
{
    MPI_Request requests[12];
    MPI_Status statuses[12];
    int count = 0;
    for (int c = 0; multi->halo > 1 && c < multi->q; c++)
        for (int d = 0; d < 3; d++)
            for (int side = 0; side < 2; side++)
                if (multi->cell[c].at[d] == (side ? multi->q - 1 : 0))
                    mirror(multi, &multi->cell[c], d, side);
    if (multi->q == 1)
        return;
    long long most = (multi->n / multi->q + 1) * (multi->n / multi->q + 1) * C * multi->halo;
    for (int d = 0; d < 3; d++)
        for (int side = 0; side < 2; side++)
            MPI_Irecv(multi->faces[d][side][0], (int)(most * multi->q), MPI_DOUBLE,
                      multi->rank_of[d][side], d * 2 + !side, MPI_COMM_WORLD, &requests[count++]);
    for (int d = 0; d < 3; d++)
        for (int side = 0; side < 2; side++)
            MPI_Isend(multi->faces[d][side][1], (int)copy_side(multi, d, side, true), MPI_DOUBLE,
                      multi->rank_of[d][side], d * 2 + side, MPI_COMM_WORLD, &requests[count++]);
    MPI_Waitall(count, requests, statuses);
    for (int d = 0; d < 3; d++)
        for (int side = 0; side < 2; side++)
            copy_side(multi, d, side, false);
}

/* ---- lines ---- */

static void solve_cell(struct multi *multi, struct multi_cell *cell, int d, multi_line *line,
                       void *data, int words, bool is_first)
{
    int a = (d + 1) % 3, b = (d + 2) % 3;
    long long origin = multi_offset(multi, cell, 0, 0, 0), number = 0;
    for (long long j = 0; j < cell->count[b]; j++)
        for (long long i = 0; i < cell->count[a]; i++, number++)
            line(data, cell, d, origin + j * cell->stride[b] + i * cell->stride[a],
                 is_first ? NULL : multi->in + number * words, multi->out + number * words);
}

static struct multi_cell *cell_in_slab(struct multi *multi, int d, int slab)
{
    int c = 0;
    while (multi->cell[c].at[d] != slab)
        c++;
    return &multi->cell[c];
}

/* One way over all slabs: forward with side 1, back with 0. */
static void pass(struct multi *multi, int d, int side, multi_line *line, void *data, int words)
{
    MPI_Request sent = MPI_REQUEST_NULL;
    int tag = 6 + d * 2 + side;
    for (int stage = 0; stage < multi->q; stage++) {
        struct multi_cell *cell = cell_in_slab(multi, d, side ? stage : multi->q - 1 - stage);
        long long lines = cell->count[(d + 1) % 3] * cell->count[(d + 2) % 3];
        if (stage)
            MPI_Recv(multi->in, (int)(lines * words), MPI_DOUBLE, multi->rank_of[d][!side], tag,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&sent, MPI_STATUS_IGNORE); /* before its buffer is filled again */
        solve_cell(multi, cell, d, line, data, words, stage == 0);
        if (stage < multi->q - 1)
            MPI_Isend(multi->out, (int)(lines * words), MPI_DOUBLE, multi->rank_of[d][side], tag,
                      MPI_COMM_WORLD, &sent);
    }
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
}

void multi_solve(struct multi *multi, int direction, const struct multi_sweep *sweep)
{
    pass(multi, direction, 1, sweep->forward, sweep->data, sweep->forward_words);
    pass(multi, direction, 0, sweep->backward, sweep->data, sweep->backward_words);
}

/* ---- values ---- */

typedef void point_function(struct multi *multi, const struct modes *modes, const double *powers,
                            const long long at[3], double *u);

static void each_point(struct multi *multi, const struct modes *modes, long long steps,
                       point_function *function)
{
    double powers[C];
    modes_powers(modes, steps, powers);
    for (int c = 0; c < multi->q; c++) {
        struct multi_cell *cell = &multi->cell[c];
        for (long long z = 0; z < cell->count[2]; z++)
            for (long long y = 0; y < cell->count[1]; y++)
                for (long long x = 0; x < cell->count[0]; x++)
                    function(
                        multi, modes, powers,
                        (long long[3]){cell->first[0] + x, cell->first[1] + y, cell->first[2] + z},
                        cell->u + multi_offset(multi, cell, x, y, z));
    }
}

static void fill_point(struct multi *multi, const struct modes *modes, const double *powers,
                       const long long at[3], double *u)
{
    (void)multi;
    modes_at(modes, powers, at[0], at[1], at[2], u);
}

static void check_point(struct multi *multi, const struct modes *modes, const double *powers,
                        const long long at[3], double *u)
{
    modes_check(modes, multi->plain, powers, at[0], at[1], at[2], u);
}

void multi_fill(struct multi *multi, const struct modes *modes)
{
    each_point(multi, modes, 0, fill_point);
}

void multi_check(struct multi *multi, const struct modes *modes, long long steps)
{
    each_point(multi, modes, steps, check_point);
}

void multi_add(struct multi *multi)
{
    for (int c = 0; c < multi->q; c++) {
        struct multi_cell *cell = &multi->cell[c];
        for (long long z = 0; z < cell->count[2]; z++)
            for (long long y = 0; y < cell->count[1]; y++) {
                long long row = multi_offset(multi, cell, 0, y, z);
                for (long long i = row; i < row + cell->count[0] * C; i++)
                    cell->u[i] += cell->rhs[i];
            }
    }
}

uint64_t multi_sum(const struct multi *multi)
{
    uint64_t sum = 0;
    for (int c = 0; c < multi->q; c++) {
        const struct multi_cell *cell = &multi->cell[c];
        for (long long z = 0; z < cell->count[2]; z++)
            for (long long y = 0; y < cell->count[1]; y++)
                sum += plain_bits(cell->u + multi_offset(multi, cell, 0, y, z), cell->count[0] * C);
    }
    return sum;
}

/* ---- the program ---- */

static void iterate(struct multi *multi, const struct multi_scheme *scheme)
{
    multi_exchange(multi);
    for (int c = 0; c < multi->q; c++) {
        struct multi_cell *cell = &multi->cell[c];
        for (long long z = 0; z < cell->count[2]; z++)
            for (long long y = 0; y < cell->count[1]; y++)
                for (long long x = 0; x < cell->count[0]; x++)
                    scheme->right_hand_side(scheme->sweep.data, cell, x, y, z);
    }
    for (int d = 0; d < 3; d++)
        multi_solve(multi, d, &scheme->sweep);
    multi_add(multi);
}

uint64_t multi_run(struct multi *multi, const struct modes *modes,
                   const struct multi_scheme *scheme)
{
    struct plain *plain = multi->plain;
    for (long long i = 0; i < plain->iterations; i++) {
        iterate(multi, scheme);
        struct multi_cell *cell = &multi->cell[0];
        cell->u[multi_offset(multi, cell, 0, 0, 0)] += i == plain->corrupt;
        if (plain->verify)
            multi_check(multi, modes, i + 1);
        plain_step(plain);
    }
    multi_check(multi, modes, plain->iterations);
    return multi_sum(multi);
}
