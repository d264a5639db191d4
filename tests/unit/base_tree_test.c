/* The tree of places against a sorted array. */
#include "test.h"

#include <stdbool.h>
#include <string.h>

#include "base/random.h"
#include "base/tree.h"

enum { MOST = 400 };

struct model {
    struct {
        int64_t key, tie;
        uint32_t index;
    } sorted[MOST];
    size_t count;
    bool used[MOST];
};

static size_t place_of(const struct model *model, int64_t key, int64_t tie)
{
    size_t i = 0;
    while (i < model->count && (model->sorted[i].key < key ||
                                (model->sorted[i].key == key && model->sorted[i].tie < tie)))
        i++;
    return i;
}

static void insert(struct pleat_tree *tree, uint32_t *root, struct model *model, uint32_t index,
                   int64_t key, int64_t tie)
{
    size_t place = place_of(model, key, tie);
    uint32_t before;
    assert_int_equal(pleat_tree_insert(tree, root, index, key, tie, &before), 0);
    assert_int_equal(before, place ? model->sorted[place - 1].index : PLEAT_TREE_NONE);
    memmove(&model->sorted[place + 1], &model->sorted[place],
            (model->count - place) * sizeof(model->sorted[0]));
    model->sorted[place].key = key;
    model->sorted[place].tie = tie;
    model->sorted[place].index = index;
    model->count++;
    model->used[index] = true;
}

static void take_out(struct pleat_tree *tree, uint32_t *root, struct model *model, size_t place)
{
    pleat_tree_remove(tree, root, model->sorted[place].index);
    model->used[model->sorted[place].index] = false;
    model->count--;
    memmove(&model->sorted[place], &model->sorted[place + 1],
            (model->count - place) * sizeof(model->sorted[0]));
}

static void test_against_a_sorted_array(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        static struct model model;
        struct pleat_tree tree = {0};
        struct pleat_random random;
        uint32_t root = PLEAT_TREE_NONE;
        int64_t tie = 0;
        memset(&model, 0, sizeof(model));
        pleat_random_init(&random, seed);
        for (int step = 0; step < 4000; step++) {
            uint32_t index = (uint32_t)pleat_random_below(&random, MOST);
            if (!model.used[index] && pleat_random_below(&random, 5) < 3)
                /* few keys, many ties; seed 1: sorted input, which ruins a plain tree */
                insert(&tree, &root, &model, index,
                       seed == 1 ? step : (int64_t)pleat_random_below(&random, 20), ++tie);
            else if (model.count > 0)
                take_out(&tree, &root, &model, pleat_random_below(&random, model.count));
        }
        while (model.count > 0)
            take_out(&tree, &root, &model, pleat_random_below(&random, model.count));
        assert_int_equal(root, PLEAT_TREE_NONE);
        pleat_tree_finish(&tree);
    }
}

static void test_two_trees_share_the_nodes(void **state)
{
    (void)state;
    struct pleat_tree tree = {0};
    uint32_t a = PLEAT_TREE_NONE, b = PLEAT_TREE_NONE, before;
    assert_int_equal(pleat_tree_insert(&tree, &a, 3, 10, 0, &before), 0);
    assert_int_equal(pleat_tree_insert(&tree, &b, 7, 5, 0, &before), 0);
    assert_int_equal(before, PLEAT_TREE_NONE);
    assert_int_equal(pleat_tree_insert(&tree, &a, 5000, 11, 0, &before), 0);
    assert_int_equal(before, 3);
    pleat_tree_remove(&tree, &a, 3);
    assert_int_equal(pleat_tree_insert(&tree, &b, 3, 6, 0, &before), 0);
    assert_int_equal(before, 7);
    pleat_tree_finish(&tree);
}

/* Sorted input must not make a list of it. */
static void test_depth(void **state)
{
    (void)state;
    struct pleat_tree tree = {0};
    uint32_t root = PLEAT_TREE_NONE, before;
    enum { COUNT = 100000 };
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(pleat_tree_insert(&tree, &root, i, i, 0, &before), 0);
    assert_true(tree.steps < (uint64_t)COUNT * 50);
    pleat_tree_finish(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_a_sorted_array),
        cmocka_unit_test(test_two_trees_share_the_nodes),
        cmocka_unit_test(test_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
