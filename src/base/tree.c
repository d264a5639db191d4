#include "base/tree.h"

#include <stdbool.h>
#include <stdlib.h>

void pleat_tree_finish(struct pleat_tree *tree)
{
    free(tree->nodes);
    *tree = (struct pleat_tree){0};
}

/* A treap's random priority. It depends on the index only, since results must be reproducible. */
static uint32_t priority(uint32_t index)
{
    uint32_t x = index + 0x9e3779b9u;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

static bool comes_before(const struct pleat_tree_node *a, const struct pleat_tree_node *b)
{
    return a->key != b->key ? a->key < b->key : a->tie < b->tie;
}

static int reserve(struct pleat_tree *tree, uint32_t index)
{
    if (index < tree->capacity)
        return 0;
    size_t capacity = (size_t)index + index / 2 + 64;
    struct pleat_tree_node *nodes = realloc(tree->nodes, capacity * sizeof(*nodes));
    if (!nodes)
        return PLEAT_E_NOMEM;
    tree->nodes = nodes;
    tree->capacity = capacity;
    return 0;
}

int pleat_tree_insert(struct pleat_tree *tree, uint32_t *root, uint32_t index, int64_t key,
                      int64_t tie, uint32_t *before)
{
    if (reserve(tree, index))
        return PLEAT_E_NOMEM;
    struct pleat_tree_node *nodes = tree->nodes, *fresh = &nodes[index];
    *fresh = (struct pleat_tree_node){key, tie, PLEAT_TREE_NONE, PLEAT_TREE_NONE};
    *before = PLEAT_TREE_NONE;
    uint32_t mine = priority(index);
    uint32_t *link = root;
    while (*link != PLEAT_TREE_NONE && priority(*link) >= mine) {
        struct pleat_tree_node *node = &nodes[*link];
        tree->steps++;
        if (comes_before(node, fresh)) {
            *before = *link;
            link = &node->right;
        } else {
            link = &node->left;
        }
    }
    /* splits the tree into what comes before the new node and what comes after it */
    uint32_t rest = *link, *smaller = &fresh->left, *larger = &fresh->right;
    *link = index;
    while (rest != PLEAT_TREE_NONE) {
        struct pleat_tree_node *node = &nodes[rest];
        tree->steps++;
        if (comes_before(node, fresh)) {
            *before = rest;
            *smaller = rest;
            smaller = &node->right;
            rest = node->right;
        } else {
            *larger = rest;
            larger = &node->left;
            rest = node->left;
        }
    }
    *smaller = *larger = PLEAT_TREE_NONE;
    return 0;
}

void pleat_tree_remove(struct pleat_tree *tree, uint32_t *root, uint32_t index)
{
    struct pleat_tree_node *nodes = tree->nodes, *gone = &nodes[index];
    uint32_t *link = root;
    while (*link != index) {
        struct pleat_tree_node *node = &nodes[*link];
        tree->steps++;
        link = comes_before(node, gone) ? &node->right : &node->left;
    }
    uint32_t left = gone->left, right = gone->right;
    while (left != PLEAT_TREE_NONE && right != PLEAT_TREE_NONE) {
        tree->steps++;
        if (priority(left) >= priority(right)) {
            *link = left;
            link = &nodes[left].right;
            left = *link;
        } else {
            *link = right;
            link = &nodes[right].left;
            right = *link;
        }
    }
    *link = left != PLEAT_TREE_NONE ? left : right;
}
