/* A state whose parts are on several nodes: the table, files of the same save, damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "shm/state.h"

#define BYTES 30000

/* A node: its agent's files, and its first rank. */
struct node {
    struct pleat_state_store store;
    struct pleat_state *first, *other;
};

static struct pleat_error err;

static void node_open(struct node *node)
{
    char paths[PLEAT_STATE_PATHS_SIZE];
    assert_int_equal(pleat_state_store_init(&node->store, &err), 0);
    pleat_state_store_paths(&node->store, paths);
    assert_int_equal(pleat_state_open(paths, &node->first, &err), 0);
    assert_int_equal(pleat_state_open(paths, &node->other, &err), 0);
}

static void node_close(struct node *node)
{
    pleat_state_close(node->first);
    pleat_state_close(node->other);
    pleat_state_store_finish(&node->store);
}

static const struct pleat_state_part some_parts[] = {{0, 1000}, {5000, 5001}, {20000, 30000}};

/* The node begins to save its part, and says which that is. */
static struct pleat_state_header begin(struct node *node, uint64_t generation, uint64_t save,
                                       bool in_data)
{
    struct pleat_state_header wanted = {.generation = generation,
                                        .shape = 5,
                                        .iteration = 9,
                                        .bytes = BYTES,
                                        .nodes = 2,
                                        .save = save};
    unsigned char data[1000];
    memset(data, 'a', sizeof(data));
    assert_int_equal(pleat_state_begin(node->first, &wanted, in_data, &wanted.generation, &err), 0);
    assert_int_equal(pleat_state_join(node->other, wanted.generation, &err), 0);
    assert_int_equal(pleat_state_write(node->other, 0, data, sizeof(data), &err), 0);
    assert_int_equal(pleat_state_set_parts(node->first, some_parts, 3, &err), 0);
    return wanted;
}

static void check_parts(struct node *node, const struct pleat_state_header *wanted)
{
    struct pleat_state_header header;
    struct pleat_state_part *parts = NULL;
    unsigned char data[1000];
    assert_int_equal(pleat_state_find_same(node->other, wanted, &header, &err), 0);
    assert_int_equal(header.nodes, 2);
    assert_int_equal(header.parts, 3);
    assert_int_equal(pleat_state_get_parts(node->other, &header, &parts, &err), 0);
    assert_memory_equal(parts, some_parts, sizeof(some_parts));
    free(parts);
    assert_int_equal(pleat_state_read(node->other, 0, data, sizeof(data), &err), 0);
    assert_int_equal(data[999], 'a');
}

/* In the data file and in a slot; the number is at least that of the other nodes. */
static void test_parts_are_found_again(void **state)
{
    (void)state;
    for (int in_data = 0; in_data <= 1; in_data++) {
        struct node node;
        struct pleat_state_header held;
        node_open(&node);
        assert_int_equal(pleat_state_latest(node.first), 0);
        struct pleat_state_header wanted = begin(&node, 7, 77, in_data);
        assert_int_equal(wanted.generation, 7);
        assert_int_equal(pleat_state_latest(node.first), 7);
        assert_int_equal(pleat_state_store_held(&node.store, &held), PLEAT_E_NOTFOUND);
        assert_int_equal(pleat_state_mark(node.first, &err), 0);
        pleat_state_settle(node.first, false);
        check_parts(&node, &wanted);
        assert_int_equal(pleat_state_store_held(&node.store, &held), 0);
        assert_int_equal(held.generation, 7);
        wanted = begin(&node, 3, 78, in_data);
        assert_int_equal(wanted.generation, 8);
        node_close(&node);
    }
}

/* What another node could not keep is no state here either; the copy before is one still. */
static void test_taken_back(void **state)
{
    (void)state;
    struct node node;
    struct pleat_state_header held;
    node_open(&node);
    const struct pleat_state_header before = begin(&node, 1, 11, false);
    assert_int_equal(pleat_state_commit(node.first, &err), 0);
    for (int in_data = 0; in_data <= 1; in_data++) {
        begin(&node, 1, 12, in_data);
        assert_int_equal(pleat_state_mark(node.first, &err), 0);
        pleat_state_settle(node.first, true);
        pleat_state_abandon(node.first);
        pleat_state_abandon(node.other);
        assert_int_equal(pleat_state_store_held(&node.store, &held), 0);
        assert_int_equal(held.generation, before.generation);
        check_parts(&node, &before);
    }
    node_close(&node);
}

/* Parts of another save are not put together with those of this one, whatever their number. */
static void test_another_save(void **state)
{
    (void)state;
    struct node node;
    struct pleat_state_header header;
    node_open(&node);
    struct pleat_state_header wanted = begin(&node, 4, 44, true);
    assert_int_equal(pleat_state_find_same(node.other, &wanted, &header, &err), PLEAT_E_NOTFOUND);
    assert_int_equal(pleat_state_commit(node.first, &err), 0);
    check_parts(&node, &wanted);
    wanted.save++;
    assert_int_equal(pleat_state_find_same(node.other, &wanted, &header, &err), PLEAT_E_NOTFOUND);
    wanted.save--;
    wanted.generation++;
    assert_int_equal(pleat_state_find_same(node.other, &wanted, &header, &err), PLEAT_E_NOTFOUND);
    wanted.generation--;
    wanted.iteration++;
    assert_int_equal(pleat_state_find_same(node.other, &wanted, &header, &err), PLEAT_E_CORRUPT);
    wanted.iteration--;
    check_parts(&node, &wanted);
    node_close(&node);
}

/* What is brought to a node that has nothing of a state makes no state there. */
static void test_brought_to_a_node(void **state)
{
    (void)state;
    for (int in_data = 0; in_data <= 1; in_data++) {
        struct node node;
        struct pleat_state_header held;
        unsigned char data[100] = "brought", read[100] = "";
        node_open(&node);
        for (int i = 0; i < 2; i++) { /* two copies, one of which has to give way */
            begin(&node, 1, 1, false);
            assert_int_equal(pleat_state_commit(node.first, &err), 0);
        }
        const struct pleat_state_header wanted = {
            .generation = 9, .bytes = 2 * BYTES, .nodes = 2, .save = 99};
        assert_int_equal(pleat_state_choose(node.first, &wanted, in_data, true, &err), 0);
        assert_int_equal(pleat_state_choose(node.other, &wanted, in_data, false, &err), 0);
        assert_int_equal(pleat_state_fill(node.first, BYTES + 5, data, sizeof(data), &err), 0);
        assert_int_equal(pleat_state_take(node.other, BYTES + 5, read, sizeof(read), &err), 0);
        assert_memory_equal(read, data, sizeof(data));
        assert_int_equal(pleat_state_read(node.other, BYTES + 5, read, sizeof(read), &err), 0);
        assert_int_equal(pleat_state_store_held(&node.store, &held), 0);
        assert_int_equal(held.generation, 2);
        node_close(&node);
    }
}

static void flip(int fd, off_t at)
{
    unsigned char byte = 0;
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
}

/* A table of which a bit is another one, and a file that ends before it. */
static void test_a_damaged_table(void **state)
{
    (void)state;
    const off_t at = (4096 + BYTES + 4095) / 4096 * 4096;
    struct node node;
    struct pleat_state_header header;
    struct pleat_state_part *parts = NULL;
    node_open(&node);
    const struct pleat_state_header wanted = begin(&node, 1, 1, false);
    assert_int_equal(pleat_state_commit(node.first, &err), 0);
    for (off_t i = 0; i < (off_t)sizeof(some_parts); i++) {
        flip(node.store.fd[0], at + i);
        assert_int_equal(pleat_state_find_same(node.other, &wanted, &header, &err), 0);
        assert_int_equal(pleat_state_get_parts(node.other, &header, &parts, &err), PLEAT_E_CORRUPT);
        flip(node.store.fd[0], at + i);
    }
    check_parts(&node, &wanted);
    assert_int_equal(ftruncate(node.store.fd[0], at + 40), 0);
    assert_int_equal(pleat_state_get_parts(node.other, &header, &parts, &err), PLEAT_E_CORRUPT);
    for (size_t i = offsetof(struct pleat_state_header, nodes);
         i < offsetof(struct pleat_state_header, checksum); i++) {
        flip(node.store.fd[0], (off_t)i);
        assert_int_equal(pleat_state_find_same(node.other, &wanted, &header, &err),
                         PLEAT_E_NOTFOUND);
        flip(node.store.fd[0], (off_t)i);
    }
    node_close(&node);
}

static void test_calls_out_of_turn(void **state)
{
    (void)state;
    struct node node;
    const struct pleat_state_header none = {0};
    struct pleat_state_part *parts = NULL;
    unsigned char byte = 0;
    node_open(&node);
    assert_int_equal(pleat_state_set_parts(node.first, some_parts, 3, &err), PLEAT_E_STATE);
    assert_int_equal(pleat_state_mark(node.first, &err), PLEAT_E_STATE);
    assert_int_equal(pleat_state_get_parts(node.first, &none, &parts, &err), PLEAT_E_STATE);
    assert_int_equal(pleat_state_take(node.first, 0, &byte, 1, &err), PLEAT_E_STATE);
    assert_int_equal(pleat_state_fill(node.first, 0, &byte, 1, &err), PLEAT_E_STATE);
    pleat_state_settle(node.first, true);
    begin(&node, 1, 1, false);
    assert_int_equal(pleat_state_set_parts(node.other, some_parts, 3, &err), PLEAT_E_STATE);
    node_close(&node);
}

/* Whole pages of a part of the data file that nobody has any use for. */
static void test_freed_parts(void **state)
{
    (void)state;
    enum { PAGE = 4096 };
    struct node node;
    unsigned char data[4 * PAGE], read[4 * PAGE];
    const struct pleat_state_header wanted = {.bytes = BYTES};
    memset(data, 'b', sizeof(data));
    node_open(&node);
    assert_int_equal(pleat_state_choose(node.first, &wanted, true, true, &err), 0);
    assert_int_equal(pleat_state_fill(node.first, 0, data, sizeof(data), &err), 0);
    pleat_state_free_part(node.first, 1, 3 * PAGE - 1);
    assert_int_equal(pleat_state_take(node.first, 0, read, sizeof(read), &err), 0);
    for (int i = 0; i < 4 * PAGE; i++)
        assert_int_equal(read[i], i >= PAGE && i < 2 * PAGE ? 0 : 'b');
    node_close(&node);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts_are_found_again),
                                       cmocka_unit_test(test_taken_back),
                                       cmocka_unit_test(test_another_save),
                                       cmocka_unit_test(test_brought_to_a_node),
                                       cmocka_unit_test(test_a_damaged_table),
                                       cmocka_unit_test(test_calls_out_of_turn),
                                       cmocka_unit_test(test_freed_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
