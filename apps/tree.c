#include "tree.h"

#include <math.h>
#include <stdlib.h>

#define LEAF 8    /* bodies in a cube that is not divided */
#define LEVELS 20 /* a cube of the last level is not divided */

int tree_open(struct tree *tree, int bodies)
{
    *tree = (struct tree){.bodies = bodies};
    tree->order = calloc((size_t)bodies, sizeof(*tree->order));
    tree->keys = calloc((size_t)bodies, sizeof(*tree->keys));
    return tree->order && tree->keys;
}

void tree_close(struct tree *tree)
{
    free(tree->order);
    free(tree->keys);
    free(tree->nodes);
    *tree = (struct tree){.bodies = 0};
}

/* ---- the order: by the cubes of all levels in which a body is (Morton's) ---- */

static void bounds(const struct tree *tree, double low[3], double *edge)
{
    *edge = 0;
    for (int d = 0; d < 3; d++) {
        double high = tree->x[0][d];
        low[d] = high;
        for (int i = 1; i < tree->bodies; i++) {
            low[d] = fmin(low[d], tree->x[i][d]);
            high = fmax(high, tree->x[i][d]);
        }
        *edge = fmax(*edge, high - low[d]);
    }
    *edge = *edge > 0 ? *edge * (1 + 1e-9) : 1;
}

static unsigned long long key_of(const double x[3], const double low[3], double edge)
{
    unsigned long long key = 0;
    for (int level = LEVELS - 1; level >= 0; level--)
        for (int d = 0; d < 3; d++) {
            double cell = (x[d] - low[d]) / edge * (double)(1ULL << LEVELS);
            key = key << 1 | ((unsigned long long)cell >> level & 1);
        }
    return key;
}

struct keyed {
    unsigned long long key;
    int body;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed *left = a, *right = b;
    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return left->body < right->body ? -1 : left->body > right->body;
}

static int sort(struct tree *tree, const double low[3], double edge)
{
    struct keyed *all = calloc((size_t)tree->bodies, sizeof(*all));
    if (!all)
        return 0;
    for (int i = 0; i < tree->bodies; i++)
        all[i] = (struct keyed){tree->keys[i] = key_of(tree->x[i], low, edge), i};
    qsort(all, (size_t)tree->bodies, sizeof(*all), by_key);
    for (int i = 0; i < tree->bodies; i++)
        tree->order[i] = all[i].body;
    free(all);
    return 1;
}

/* ---- the nodes, each followed by its descendants ---- */

static struct tree_node *add_node(struct tree *tree)
{
    if (tree->node_count == tree->node_room) {
        int room = tree->node_room ? 2 * tree->node_room : 256;
        struct tree_node *nodes = realloc(tree->nodes, (size_t)room * sizeof(*nodes));
        if (!nodes)
            return NULL;
        tree->nodes = nodes;
        tree->node_room = room;
    }
    tree->nodes[tree->node_count] = (struct tree_node){.mass = 0};
    return &tree->nodes[tree->node_count++];
}

static void weigh(const struct tree *tree, struct tree_node *node)
{
    for (int i = node->first; i < node->first + node->count; i++) {
        int body = tree->order[i];
        node->mass += tree->mass[body];
        for (int d = 0; d < 3; d++)
            node->centre[d] += tree->mass[body] * tree->x[body][d];
    }
    for (int d = 0; d < 3; d++)
        node->centre[d] /= node->mass;
}

/* The cube with `count` bodies from `first` on, of this level (0: that of all); its parts first
 * begin where the keys have other digits. No memory: 0. */
static int grow(struct tree *tree, int first, int count, int level, double edge)
{
    int at = tree->node_count;
    struct tree_node *node = add_node(tree);
    if (!node)
        return 0;
    node->first = first;
    node->count = count;
    node->edge = edge;
    node->is_leaf = count <= LEAF || level == LEVELS;
    weigh(tree, node);
    int is_leaf = node->is_leaf;
    int shift = 3 * (LEVELS - 1 - level);
    for (int from = first, to; !is_leaf && from < first + count; from = to) {
        unsigned long long digit = tree->keys[tree->order[from]] >> shift;
        for (to = from + 1; to < first + count; to++)
            if (tree->keys[tree->order[to]] >> shift != digit)
                break;
        if (!grow(tree, from, to - from, level + 1, edge / 2))
            return 0;
    }
    tree->nodes[at].next = tree->node_count;
    return 1;
}

int tree_build(struct tree *tree, const double (*x)[3], const double *mass)
{
    double low[3], edge;
    tree->x = x;
    tree->mass = mass;
    tree->node_count = 0;
    if (!tree->bodies)
        return 1;
    bounds(tree, low, &edge);
    return sort(tree, low, edge) && grow(tree, 0, tree->bodies, 0, edge);
}

/* ---- forces ---- */

static double distance2(const double a[3], const double b[3])
{
    double sum = 0;
    for (int d = 0; d < 3; d++)
        sum += (a[d] - b[d]) * (a[d] - b[d]);
    return sum;
}

static void add(struct tree_pull *pull, const double from[3], const double at[3], double mass)
{
    double soft = 1 / sqrt(distance2(from, at) + TREE_EPS * TREE_EPS);
    double factor = mass * soft * soft * soft;
    for (int d = 0; d < 3; d++)
        pull->acceleration[d] += factor * (from[d] - at[d]);
    pull->potential -= mass * soft;
}

struct tree_pull tree_pull_on(const struct tree *tree, int body, double theta)
{
    struct tree_pull pull = {.work = 0};
    const double *at = tree->x[body];
    for (int k = 0; k < tree->node_count;) {
        const struct tree_node *node = &tree->nodes[k];
        pull.work++;
        if (node->is_leaf) {
            for (int i = node->first; i < node->first + node->count; i++)
                if (tree->order[i] != body)
                    add(&pull, tree->x[tree->order[i]], at, tree->mass[tree->order[i]]);
            pull.work += node->count;
            k = node->next;
        } else if (node->edge * node->edge < theta * theta * distance2(node->centre, at)) {
            add(&pull, node->centre, at, node->mass);
            k = node->next;
        } else {
            k++;
        }
    }
    return pull;
}

struct tree_pull tree_pull_directly(const struct tree *tree, int body)
{
    struct tree_pull pull = {.work = tree->bodies};
    for (int i = 0; i < tree->bodies; i++)
        if (i != body)
            add(&pull, tree->x[i], tree->x[body], tree->mass[i]);
    return pull;
}
