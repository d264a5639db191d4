#include "graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GAMMA 1.4
/* A cell is divided where the density differs by this share at one of its walls; four are joined
 * where it differs by less than that at all of theirs. */
#define DIVIDE 0.10
#define JOIN 0.03

struct wall {
    struct cell *low, *high; /* left and right, or below and above; NULL: rock */
    int direction;           /* across it: 0 in x, 1 in y */
    double length;
    double flux[GRAPH_VALUES]; /* from low to high */
    size_t at;                 /* its place in the graph's list */
};

/* Room for one more element. */
static void *grown(void *items, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return items;
    size_t more = *room ? 2 * *room : 8;
    void *grown = realloc(items, more * size);
    if (grown)
        *room = more;
    return grown;
}

/* ---- walls ---- */

static bool hang(struct cell *cell, struct wall *wall)
{
    size_t room = (size_t)cell->wall_room;
    struct wall **walls =
        grown(cell->walls, (size_t)cell->wall_count, &room, sizeof(struct wall *));
    if (!walls)
        return false;
    cell->walls = walls;
    cell->wall_room = (int32_t)room;
    cell->walls[cell->wall_count++] = wall;
    return true;
}

static void unhang(struct cell *cell, const struct wall *wall)
{
    for (int32_t i = 0; cell && i < cell->wall_count; i++)
        if (cell->walls[i] == wall) {
            cell->walls[i] = cell->walls[--cell->wall_count];
            return;
        }
}

static void wall_remove(struct graph *graph, struct wall *wall)
{
    unhang(wall->low, wall);
    unhang(wall->high, wall);
    graph->walls[wall->at] = graph->walls[--graph->wall_count];
    graph->walls[wall->at]->at = wall->at;
    free(wall);
}

static bool wall_add(struct graph *graph, struct cell *low, struct cell *high, int direction,
                     int32_t length)
{
    struct wall **walls =
        grown(graph->walls, graph->wall_count, &graph->wall_room, sizeof(struct wall *));
    struct wall *wall = walls ? calloc(1, sizeof(*wall)) : NULL;
    if (walls)
        graph->walls = walls;
    if (!wall)
        return false;
    *wall = (struct wall){.low = low,
                          .high = high,
                          .direction = direction,
                          .length = length * graph->unit,
                          .at = graph->wall_count};
    graph->walls[graph->wall_count++] = wall;
    bool hung = (!low || hang(low, wall)) && (!high || hang(high, wall));
    if (!hung)
        wall_remove(graph, wall);
    return hung;
}

static int32_t overlap(int32_t a, int32_t a_side, int32_t b, int32_t b_side)
{
    int32_t from = a > b ? a : b, to = a + a_side < b + b_side ? a + a_side : b + b_side;
    return to > from ? to - from : 0;
}

/* Makes the wall between two cells, if they touch. */
static bool join_cells(struct graph *graph, struct cell *a, struct cell *b)
{
    int32_t along_y = overlap(a->y, a->side, b->y, b->side);
    int32_t along_x = overlap(a->x, a->side, b->x, b->side);
    if (along_y && a->x + a->side == b->x)
        return wall_add(graph, a, b, 0, along_y);
    if (along_y && b->x + b->side == a->x)
        return wall_add(graph, b, a, 0, along_y);
    if (along_x && a->y + a->side == b->y)
        return wall_add(graph, a, b, 1, along_x);
    if (along_x && b->y + b->side == a->y)
        return wall_add(graph, b, a, 1, along_x);
    return true;
}

static struct cell *across(const struct wall *wall, const struct cell *cell)
{
    return wall->low == cell ? wall->high : wall->low;
}

/* ---- cells ---- */

static struct cell *cell_new(const struct packed_cell *packed)
{
    struct cell *cell = calloc(1, sizeof(*cell));
    if (!cell)
        return NULL;
    memcpy(cell->values, packed->values, sizeof(cell->values));
    cell->x = packed->x;
    cell->y = packed->y;
    cell->side = packed->side;
    cell->root = packed->root;
    return cell;
}

static void cell_free(struct graph *graph, struct cell *cell)
{
    while (cell->wall_count)
        wall_remove(graph, cell->walls[cell->wall_count - 1]);
    free(cell->walls);
    free(cell);
}

struct packed_cell graph_pack(const struct cell *cell)
{
    struct packed_cell packed = {
        .x = cell->x, .y = cell->y, .side = cell->side, .root = cell->root};
    memcpy(packed.values, cell->values, sizeof(packed.values));
    return packed;
}

static bool append(struct root *root, struct cell *cell)
{
    size_t room = (size_t)root->room;
    struct cell **cells = grown(root->cells, (size_t)root->count, &room, sizeof(struct cell *));
    if (!cells)
        return false;
    root->cells = cells;
    root->room = (int32_t)room;
    root->cells[root->count++] = cell;
    return true;
}

bool graph_add(struct graph *graph, const struct packed_cell *packed)
{
    struct cell *cell = cell_new(packed);
    if (cell && append(&graph->roots[packed->root], cell))
        return true;
    free(cell);
    return false;
}

void graph_drop(struct graph *graph, int32_t root)
{
    struct root *of = &graph->roots[root];
    for (int32_t i = 0; i < of->count; i++)
        cell_free(graph, of->cells[i]);
    of->count = 0;
    of->here = false;
}

/* ---- the box ---- */

/* The hump stands on the ground, a third of the way, a quarter as high as the box. */
static bool is_hump(int32_t columns, int32_t rows, int32_t column, int32_t row)
{
    return column >= columns / 3 && column < columns / 3 + (columns + 7) / 8 && row < rows / 4;
}

bool graph_create(struct graph *graph, int32_t columns, int32_t rows)
{
    *graph = (struct graph){.columns = columns, .rows = rows, .unit = 1.0 / (rows * GRAPH_SIDE)};
    graph->roots = calloc((size_t)columns * (size_t)rows, sizeof(*graph->roots));
    if (!graph->roots)
        return false;
    /* waves are never faster than 4.5 here: the smallest cell is not crossed in an iteration */
    graph->step = 0.2 * graph->unit / 4.5;
    for (int32_t row = 0; row < rows; row++)
        for (int32_t column = 0; column < columns; column++)
            graph->roots[row * columns + column].solid = is_hump(columns, rows, column, row);
    return true;
}

void graph_destroy(struct graph *graph)
{
    for (int32_t root = 0; graph->roots && root < graph->columns * graph->rows; root++) {
        graph_drop(graph, root);
        free(graph->roots[root].cells);
    }
    free(graph->roots);
    free(graph->walls);
    *graph = (struct graph){0};
}

bool graph_fill(struct graph *graph, int32_t root)
{
    int32_t column = root % graph->columns, row = root / graph->columns;
    struct root *of = &graph->roots[root];
    of->here = true;
    if (of->solid)
        return true;
    bool charge = column == 1 && row == graph->rows / 2;
    struct packed_cell all = {
        .x = column * GRAPH_SIDE,
        .y = row * GRAPH_SIDE,
        .side = GRAPH_SIDE,
        .root = root,
        .values = {charge ? 4.0 : 1.0, 0, 0, (charge ? 8.0 : 1.0) / (GAMMA - 1)}};
    return graph_add(graph, &all);
}

int32_t graph_neighbour(const struct graph *graph, int32_t root, int side)
{
    int32_t column = root % graph->columns, row = root / graph->columns;
    column += side == 0 ? -1 : side == 1;
    row += side == 2 ? -1 : side == 3;
    if (column < 0 || column >= graph->columns || row < 0 || row >= graph->rows)
        return -1;
    int32_t other = row * graph->columns + column;
    return graph->roots[other].solid ? -1 : other;
}

static bool touches(const struct graph *graph, const struct cell *cell, int side)
{
    int32_t x = cell->root % graph->columns * GRAPH_SIDE,
            y = cell->root / graph->columns * GRAPH_SIDE;
    switch (side) {
    case 0:
        return cell->x == x;
    case 1:
        return cell->x + cell->side == x + GRAPH_SIDE;
    case 2:
        return cell->y == y;
    default:
        return cell->y + cell->side == y + GRAPH_SIDE;
    }
}

int graph_edge(const struct graph *graph, int32_t root, int side, struct cell *edge[GRAPH_SIDE])
{
    const struct root *of = &graph->roots[root];
    int count = 0;
    for (int32_t i = 0; i < of->count && count < GRAPH_SIDE; i++)
        if (touches(graph, of->cells[i], side))
            edge[count++] = of->cells[i];
    return count;
}

bool graph_wall_root(struct graph *graph, int32_t root)
{
    const struct root *of = &graph->roots[root];
    for (int32_t i = 0; i < of->count; i++)
        for (int32_t j = 0; j < i; j++)
            if (!join_cells(graph, of->cells[i], of->cells[j]))
                return false;
    return true;
}

/* Walls of a root's side: to another root, or to rock. */
static bool wall_side(struct graph *graph, int32_t root, int side)
{
    struct cell *mine[GRAPH_SIDE], *theirs[GRAPH_SIDE];
    int32_t other = graph_neighbour(graph, root, side);
    int count = graph_edge(graph, root, side, mine), others = 0;
    if (other >= 0 && graph->roots[other].here && other < root)
        return true; /* made from over there */
    if (other >= 0)
        others = graph_edge(graph, other, side ^ 1, theirs);
    for (int i = 0; i < count; i++) {
        bool low = side == 1 || side == 3;
        if (other < 0 &&
            !wall_add(graph, low ? mine[i] : NULL, low ? NULL : mine[i], side / 2, mine[i]->side))
            return false;
        for (int j = 0; j < others; j++)
            if (!join_cells(graph, mine[i], theirs[j]))
                return false;
    }
    return true;
}

/* The order in which a cell's walls are added up must not depend on how they came to be. */
static int by_place(const void *a, const void *b)
{
    const struct wall *x = *(struct wall *const *)a, *y = *(struct wall *const *)b;
    const struct cell *of[2] = {x->low ? x->low : x->high, y->low ? y->low : y->high};
    const struct cell *to[2] = {x->high ? x->high : x->low, y->high ? y->high : y->low};
    int32_t keys[2][6] = {{x->direction, !x->low, of[0]->x, of[0]->y, to[0]->x, to[0]->y},
                          {y->direction, !y->low, of[1]->x, of[1]->y, to[1]->x, to[1]->y}};
    for (int i = 0; i < 6; i++)
        if (keys[0][i] != keys[1][i])
            return keys[0][i] < keys[1][i] ? -1 : 1;
    return 0;
}

bool graph_wall_between(struct graph *graph)
{
    for (size_t i = graph->wall_count; i-- > 0;) {
        struct wall *wall = graph->walls[i];
        if (!wall->low || !wall->high || wall->low->root != wall->high->root)
            wall_remove(graph, wall); /* the one moved to its place was looked at */
    }
    int32_t roots = graph->columns * graph->rows;
    for (int32_t root = 0; root < roots; root++)
        for (int side = 0; graph->roots[root].here && side < 4; side++)
            if (!wall_side(graph, root, side))
                return false;
    for (int32_t root = 0; root < roots; root++)
        for (int32_t i = 0; graph->roots[root].here && i < graph->roots[root].count; i++) {
            struct cell *cell = graph->roots[root].cells[i];
            qsort(cell->walls, (size_t)cell->wall_count, sizeof(struct wall *), by_place);
        }
    return true;
}

/* ---- the gas ---- */

static double pressure_of(const double v[GRAPH_VALUES])
{
    return (GAMMA - 1) * (v[3] - 0.5 * (v[1] * v[1] + v[2] * v[2]) / v[0]);
}

/* What crosses a wall of length 1 in a time of 1, by Rusanov. */
static void flux_of(const double low[GRAPH_VALUES], const double high[GRAPH_VALUES], int direction,
                    double flux[GRAPH_VALUES])
{
    const double *states[2] = {low, high};
    double fluxes[2][GRAPH_VALUES], fastest = 0;
    for (int i = 0; i < 2; i++) {
        const double *v = states[i];
        double pressure = pressure_of(v), speed = v[1 + direction] / v[0];
        double wave = fabs(speed) + sqrt(GAMMA * pressure / v[0]);
        for (int k = 0; k < GRAPH_VALUES; k++)
            fluxes[i][k] = v[k] * speed;
        fluxes[i][1 + direction] += pressure;
        fluxes[i][3] += pressure * speed;
        fastest = wave > fastest ? wave : fastest;
    }
    for (int k = 0; k < GRAPH_VALUES; k++)
        flux[k] = 0.5 * (fluxes[0][k] + fluxes[1][k]) - 0.5 * fastest * (high[k] - low[k]);
}

/* At rock the gas meets itself, coming the other way. */
static void compute_wall(struct wall *wall)
{
    double mirrored[GRAPH_VALUES];
    const struct cell *inside = wall->low ? wall->low : wall->high;
    memcpy(mirrored, inside->values, sizeof(mirrored));
    mirrored[1 + wall->direction] = -mirrored[1 + wall->direction];
    flux_of(wall->low ? wall->low->values : mirrored, wall->high ? wall->high->values : mirrored,
            wall->direction, wall->flux);
}

void graph_advance(struct graph *graph)
{
    for (size_t i = 0; i < graph->wall_count; i++)
        compute_wall(graph->walls[i]);
    for (int32_t root = 0; root < graph->columns * graph->rows; root++) {
        const struct root *of = &graph->roots[root];
        for (int32_t i = 0; of->here && i < of->count; i++) {
            struct cell *cell = of->cells[i];
            double side = cell->side * graph->unit, sum[GRAPH_VALUES] = {0};
            for (int32_t w = 0; w < cell->wall_count; w++) {
                const struct wall *wall = cell->walls[w];
                double sign = wall->low == cell ? -1 : 1;
                for (int k = 0; k < GRAPH_VALUES; k++)
                    sum[k] += sign * wall->length * wall->flux[k];
            }
            for (int k = 0; k < GRAPH_VALUES; k++)
                cell->values[k] += graph->step / (side * side) * sum[k];
        }
    }
}

/* ---- other sizes of cells ---- */

/* The largest share by which the density differs at a cell's walls. */
static double unevenness(const struct cell *cell)
{
    double most = 0;
    for (int32_t w = 0; w < cell->wall_count; w++) {
        const struct cell *other = across(cell->walls[w], cell);
        double differs = other ? fabs(other->values[0] - cell->values[0]) : 0;
        double least = other ? fmin(other->values[0], cell->values[0]) : 1;
        most = fmax(most, differs / least);
    }
    return most;
}

/* Replaces cells with others that fill the same place: these get walls to all that those had walls
 * to in this root, and to one another. */
static bool replace(struct graph *graph, struct cell *const *old, int olds, struct cell *const *new,
                    int news)
{
    bool done = true;
    for (int i = 0; i < olds; i++)
        for (int32_t w = 0; w < old[i]->wall_count; w++) {
            struct cell *other = across(old[i]->walls[w], old[i]);
            bool inside = other && other->root == old[i]->root;
            for (int j = 0; j < olds; j++)
                inside &= other != old[j];
            /* two small cells may have had the same large one beside them */
            for (int j = 0; inside && j < i; j++)
                for (int32_t v = 0; v < old[j]->wall_count; v++)
                    inside &= across(old[j]->walls[v], old[j]) != other;
            for (int j = 0; inside && j < news; j++)
                done &= join_cells(graph, new[j], other);
        }
    for (int i = 0; i < olds; i++)
        cell_free(graph, old[i]);
    for (int i = 0; i < news; i++)
        for (int j = 0; j < i; j++)
            done &= join_cells(graph, new[i], new[j]);
    return done;
}

static bool divide(struct graph *graph, struct root *into, struct cell *cell)
{
    struct cell *parts[4] = {NULL};
    bool made = true;
    for (int i = 0; i < 4; i++) {
        struct packed_cell part = graph_pack(cell);
        part.side /= 2;
        part.x += i % 2 * part.side;
        part.y += i / 2 * part.side;
        parts[i] = cell_new(&part);
        made &= parts[i] && append(into, parts[i]);
    }
    return made && replace(graph, &cell, 1, parts, 4);
}

static bool join(struct graph *graph, struct root *into, struct cell *const cells[4])
{
    struct packed_cell all = graph_pack(cells[0]);
    all.side *= 2;
    for (int k = 0; k < GRAPH_VALUES; k++)
        all.values[k] = ((cells[0]->values[k] + cells[1]->values[k]) +
                         (cells[2]->values[k] + cells[3]->values[k])) /
                        4;
    struct cell *joined = cell_new(&all);
    return joined && append(into, joined) && replace(graph, cells, 4, &joined, 1);
}

/* Are the four cells from here on the parts of one, and may they become it again? */
static bool may_join(struct cell *const cells[4], const double uneven[4])
{
    int32_t side = cells[0]->side;
    bool parts =
        side < GRAPH_SIDE && cells[0]->x % (2 * side) == 0 && cells[0]->y % (2 * side) == 0;
    for (int i = 0; parts && i < 4; i++)
        parts = cells[i]->side == side && uneven[i] < JOIN;
    return parts;
}

static bool adapt_root(struct graph *graph, struct root *root, const double *uneven)
{
    struct root next = {.here = true};
    bool done = true;
    for (int32_t i = 0; done && i < root->count; i++) {
        struct cell *cell = root->cells[i];
        if (i + 4 <= root->count && may_join(&root->cells[i], &uneven[i])) {
            done = join(graph, &next, &root->cells[i]);
            i += 3;
        } else if (uneven[i] > DIVIDE && cell->side > 1) {
            done = divide(graph, &next, cell);
        } else {
            done = append(&next, cell);
        }
    }
    free(root->cells);
    *root = next;
    return done;
}

bool graph_adapt(struct graph *graph)
{
    int32_t roots = graph->columns * graph->rows;
    size_t cells = 1, at = 0;
    for (int32_t root = 0; root < roots; root++)
        cells += graph->roots[root].here ? (size_t)graph->roots[root].count : 0;
    /* all of them before the first cell changes: what its neighbours see must not depend on which
     * of them is looked at first */
    double *uneven = malloc(cells * sizeof(*uneven));
    if (!uneven)
        return false;
    for (int32_t root = 0; root < roots; root++)
        for (int32_t i = 0; graph->roots[root].here && i < graph->roots[root].count; i++)
            uneven[at++] = unevenness(graph->roots[root].cells[i]);
    bool done = true;
    at = 0;
    for (int32_t root = 0; done && root < roots; root++) {
        struct root *of = &graph->roots[root];
        size_t count = (size_t)of->count;
        if (of->here && !of->solid) {
            done = adapt_root(graph, of, uneven + at);
            at += count;
        }
    }
    free(uneven);
    return done;
}

struct root_sums graph_sums(const struct graph *graph, int32_t root)
{
    const struct root *of = &graph->roots[root];
    struct root_sums sums = {.root = root, .cells = of->count, .hash = 14695981039346656037u};
    for (int32_t i = 0; i < of->count; i++) {
        const struct cell *cell = of->cells[i];
        double side = cell->side * graph->unit;
        unsigned char bytes[sizeof(cell->values)];
        memcpy(bytes, cell->values, sizeof(bytes));
        for (size_t k = 0; k < sizeof(bytes); k++)
            sums.hash = (sums.hash ^ bytes[k]) * 1099511628211u; /* FNV-1a */
        sums.mass += side * side * cell->values[0];
        sums.energy += side * side * cell->values[3];
    }
    return sums;
}
