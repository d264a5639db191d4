/* tree.h - gravity of many bodies by a tree of cubes (J. Barnes, P. Hut, "A hierarchical O(N log N)
 * force-calculation algorithm", Nature 324, 1986). Nothing here knows of MPI or Pleat.
 *
 * The tree depends on nothing but positions and masses, and a force is summed up in the tree's
 * order: whoever computes it gets the same bits.
 */
#ifndef PLEAT_APPS_TREE_H
#define PLEAT_APPS_TREE_H

#define TREE_THETA 0.5 /* a cube counts as one body where it looks smaller than that */
#define TREE_EPS 0.05  /* forces are softened at this distance */

struct tree_node {
    double centre[3]; /* of mass */
    double mass, edge;
    int first, count; /* bodies, in the tree's order */
    int next;         /* the node after its last descendant */
    int is_leaf;
};

struct tree {
    int bodies;
    const double (*x)[3]; /* by number of the body, as in tree_build */
    const double *mass;
    int *order; /* bodies' numbers in the order of the tree: near ones are near */
    struct tree_node *nodes;
    int node_count, node_room;
    unsigned long long *keys; /* by number */
};

struct tree_pull {
    double acceleration[3], potential;
    long long work; /* how many nodes and bodies were looked at */
};

/* 0: there is no memory. For at most `bodies`; to be closed in any case. */
int tree_open(struct tree *tree, int bodies);
void tree_close(struct tree *tree);
/* Makes the tree of all bodies. The arrays are borrowed until the next call. 0: there is no memory.
 */
int tree_build(struct tree *tree, const double (*x)[3], const double *mass);
/* What all bodies do to one of them. theta: TREE_THETA, or 0: each counts by itself. */
struct tree_pull tree_pull_on(const struct tree *tree, int body, double theta);
/* The same without the tree, one body after the other. */
struct tree_pull tree_pull_directly(const struct tree *tree, int body);

#endif
