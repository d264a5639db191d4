/* graph.h - a fluid as a graph of objects: cells that hold it, walls between two of them.
 *
 * After the object graph of CFD-OG (Liu, Nazir and Sorensen 2009, section 2): a cell knows its
 * walls, a wall knows the cells on both of its sides, and nothing else has to know where they are.
 * So a cell can be replaced with four smaller ones, or four with a larger one, and cells can live
 * in another process: there a stand-in has their values, and walls do not see the difference.
 *
 * Cells are grouped by the square of a coarse grid in which they lie, their root. A root is what
 * migrates, with all its cells. What is computed depends on neither who has which root nor how many
 * processes there are, to the last bit.
 *
 * The fluid is a gas (Euler's equations) in a closed box with a hump; fluxes are Rusanov's. */
#ifndef PLEAT_APPS_GRAPH_H
#define PLEAT_APPS_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GRAPH_VALUES = 4,               /* density, momentum in both directions, energy */
    GRAPH_LEVELS = 4,               /* a cell is divided so often at most */
    GRAPH_SIDE = 1 << GRAPH_LEVELS, /* of a root, in units of the smallest cell */
};

struct wall;

struct cell {
    double values[GRAPH_VALUES];
    int32_t x, y, side; /* its lower left corner and its length, in units of the smallest cell */
    int32_t root;
    struct wall **walls;
    int32_t wall_count, wall_room;
};

/* Cells of a root, in an order that depends on where they are alone (Morton's). */
struct root {
    struct cell **cells;
    int32_t count, room;
    bool here;  /* they are here, not stand-ins of those that touch roots that are */
    bool solid; /* it is rock: there are no cells */
};

struct graph {
    int32_t columns, rows; /* of roots */
    struct root *roots;    /* root = row * columns + column */
    struct wall **walls;
    size_t wall_count, wall_room;
    double unit, step; /* the length of the smallest cell; the time that an iteration is about */
};

/* What crosses to other processes: a cell without its walls. */
struct packed_cell {
    double values[GRAPH_VALUES];
    int32_t x, y, side, root;
};

struct root_sums {
    double mass, energy;
    uint64_t hash; /* of all values */
    int32_t cells, root;
};

/* A box of columns x rows roots without cells. False: no memory (as of all functions here that
 * return whether they could). */
bool graph_create(struct graph *graph, int32_t columns, int32_t rows);
void graph_destroy(struct graph *graph);
/* Fills a root with the gas of the beginning: at rest, with a charge that explodes at the left. */
bool graph_fill(struct graph *graph, int32_t root);
/* The root at a side (0 left, 1 right, 2 below, 3 above) of another; -1: the box ends there, or
 * there is rock. */
int32_t graph_neighbour(const struct graph *graph, int32_t root, int side);

/* Cells of a root that touch another root, in order; at most GRAPH_SIDE. Returns how many. */
int graph_edge(const struct graph *graph, int32_t root, int side, struct cell *edge[GRAPH_SIDE]);
struct packed_cell graph_pack(const struct cell *cell);
/* Adds a cell to a root, behind those that it has. */
bool graph_add(struct graph *graph, const struct packed_cell *packed);
/* Takes all cells of a root out, and what is left of their walls. */
void graph_drop(struct graph *graph, int32_t root);
/* Makes the walls inside a root that has come with its cells. */
bool graph_wall_root(struct graph *graph, int32_t root);
/* Makes all walls anew that are between two roots, of which one is here, or at rock. */
bool graph_wall_between(struct graph *graph);

/* One iteration of all cells that are here. Stand-ins must have the values of now. */
void graph_advance(struct graph *graph);
/* Divides and joins cells that are here, by how much the density differs at their walls. Stand-ins
 * must have the values of now; walls between roots are to be made anew afterwards. */
bool graph_adapt(struct graph *graph);
struct root_sums graph_sums(const struct graph *graph, int32_t root);

#endif
