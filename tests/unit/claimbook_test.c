/* Slots of several nodes: which a claim gets, told node by node, and taken up again. */
#include "test.h"

#include <string.h>

#include "site/claimbook.h"

/* A book of three nodes, and what it announced last. */
struct bed {
    struct pleat_claimbook book;
    struct pleat_host host;
    struct pleat_event events[16];
    size_t count;
};

static void emit(void *arg, const struct pleat_event *event)
{
    struct bed *bed = arg;
    assert_true(bed->count < 16);
    bed->events[bed->count++] = *event;
}

static void open_book(struct bed *bed)
{
    static const int32_t slots[] = {4, 2, 4};
    memset(bed, 0, sizeof(*bed));
    assert_int_equal(pleat_claimbook_init(&bed->book, slots, 3), 0);
    bed->host.arg = bed;
    bed->host.emit = emit;
}

static void take(struct bed *bed, uint64_t id, int32_t count, uint64_t beside)
{
    struct pleat_booked *booked;
    const struct pleat_site_wish wish = {.id = id, .count = count, .beside = beside};
    assert_int_equal(pleat_claimbook_take(&bed->book, &wish, &booked), 0);
    bed->count = 0;
    pleat_claimbook_announce(&bed->book, booked, &bed->host);
    assert_int_equal(bed->events[bed->count - 1].kind, PLEAT_EV_CLAIMED);
    assert_int_equal(bed->events[bed->count - 1].u.claim.count, count);
}

struct row {
    uint32_t node, first, count;
};

#define EXPECT(bed, ...)                                                                           \
    expect(bed, (const struct row[]){__VA_ARGS__},                                                 \
           sizeof((const struct row[]){__VA_ARGS__}) / sizeof(struct row))

static void expect(const struct bed *bed, const struct row *rows, size_t count)
{
    assert_int_equal(bed->count, count + 1);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(bed->events[i].kind, PLEAT_EV_PIECE);
        assert_int_equal(bed->events[i].u.piece.node, rows[i].node);
        assert_int_equal(bed->events[i].u.piece.first, rows[i].first);
        assert_int_equal(bed->events[i].u.piece.count, rows[i].count);
    }
}

static void test_one_node_where_one_is_enough(void **state)
{
    (void)state;
    struct bed bed;
    open_book(&bed);
    take(&bed, 1, 2, 0); /* the node with the fewest free slots that are enough */
    EXPECT(&bed, {1, 0, 2});
    take(&bed, 2, 3, 0);
    EXPECT(&bed, {0, 0, 3});
    take(&bed, 3, 1, 0);
    EXPECT(&bed, {0, 3, 1});
    take(&bed, 4, 4, 0);
    EXPECT(&bed, {2, 0, 4});
    struct pleat_booked *booked;
    const struct pleat_site_wish wish = {.id = 5, .count = 1};
    assert_int_equal(pleat_claimbook_take(&bed.book, &wish, &booked), PLEAT_E_BUSY);
    pleat_claimbook_finish(&bed.book);
}

static void test_beside_means_on_the_same_node(void **state)
{
    (void)state;
    struct bed bed;
    open_book(&bed);
    take(&bed, 1, 4, 0);
    EXPECT(&bed, {0, 0, 4});
    take(&bed, 2, 1, 0);
    EXPECT(&bed, {1, 0, 1});
    take(&bed, 3, 1, 2);
    EXPECT(&bed, {1, 1, 1});
    take(&bed, 4, 2, 2); /* slot 2 of all is the next node's: no neighbour */
    EXPECT(&bed, {2, 0, 2});
    pleat_claimbook_drop(&bed.book, 2);
    take(&bed, 5, 1, 4);
    EXPECT(&bed, {2, 2, 1});
    pleat_claimbook_finish(&bed.book);
}

static void test_several_nodes_and_as_few_as_can_be(void **state)
{
    (void)state;
    struct bed bed;
    open_book(&bed);
    take(&bed, 1, 1, 0);
    EXPECT(&bed, {1, 0, 1});
    take(&bed, 2, 6, 0); /* the nodes that have most */
    EXPECT(&bed, {0, 0, 4}, {2, 0, 2});
    take(&bed, 3, 3, 1); /* its own node first */
    EXPECT(&bed, {1, 1, 1}, {2, 2, 2});
    assert_int_equal(bed.book.free, 0);
    assert_int_equal(pleat_claimbook_split(&bed.book, 2, 7, 0, 3), 0);
    bed.count = 0;
    pleat_claimbook_announce(&bed.book, pleat_claimbook_find(&bed.book, 7), &bed.host);
    EXPECT(&bed, {0, 3, 1}, {2, 0, 2});
    pleat_claimbook_finish(&bed.book);
}

/* Nothing is booked on a node that is shut, whoever has something there. */
static void test_a_node_that_is_shut(void **state)
{
    (void)state;
    struct bed bed;
    struct pleat_booked *booked;
    open_book(&bed);
    take(&bed, 1, 1, 0);
    EXPECT(&bed, {1, 0, 1});
    pleat_claimbook_shut(&bed.book, 1, true);
    take(&bed, 2, 1, 1);
    EXPECT(&bed, {0, 0, 1});
    pleat_claimbook_shut(&bed.book, 2, true);
    pleat_claimbook_shut(&bed.book, 3, true); /* there is none */
    struct pleat_site_wish wish = {.id = 3, .count = 4};
    assert_int_equal(pleat_claimbook_take(&bed.book, &wish, &booked), PLEAT_E_BUSY);
    wish.on_one_node = true;
    wish.count = 1;
    wish.beside = 1;
    assert_int_equal(pleat_claimbook_take(&bed.book, &wish, &booked), PLEAT_E_BUSY);
    pleat_claimbook_shut(&bed.book, 2, false);
    take(&bed, 4, 6, 0);
    EXPECT(&bed, {2, 0, 4}, {0, 1, 2});
    pleat_claimbook_finish(&bed.book);
}

/* A node where others keep processors busy is booked last. */
static void test_load_of_others(void **state)
{
    (void)state;
    struct bed bed;
    open_book(&bed);
    pleat_claimbook_others(&bed.book, 1, 1);
    take(&bed, 1, 2, 0);
    EXPECT(&bed, {0, 0, 2});
    pleat_claimbook_others(&bed.book, 2, 3);
    take(&bed, 2, 1, 0);
    EXPECT(&bed, {1, 0, 1});
    take(&bed, 3, 4, 0); /* no other one will do */
    EXPECT(&bed, {2, 0, 4});
    take(&bed, 4, 3, 0);
    EXPECT(&bed, {0, 2, 2}, {1, 1, 1});
    pleat_claimbook_finish(&bed.book);
}

/* What somebody on a node cannot go on without is booked last, also by who grows there. */
static void test_what_others_want(void **state)
{
    (void)state;
    struct bed bed;
    struct pleat_booked *booked;
    open_book(&bed);
    const int32_t wanted[] = {0, 2, 3};
    struct pleat_site_wish wish = {.id = 1, .count = 1, .on_one_node = true, .wanted = wanted};
    assert_int_equal(pleat_claimbook_take(&bed.book, &wish, &booked), 0);
    assert_int_equal(booked->slots[0], 6); /* the fullest that has one beside what is wanted */
    wish = (struct pleat_site_wish){.id = 2, .count = 1, .beside = 1, .wanted = wanted};
    assert_int_equal(pleat_claimbook_take(&bed.book, &wish, &booked), 0);
    assert_int_equal(booked->slots[0], 0);
    wish = (struct pleat_site_wish){.id = 3, .count = 1, .beside = 1, .wanted = wanted};
    wish.on_one_node = true; /* it has no choice */
    assert_int_equal(pleat_claimbook_take(&bed.book, &wish, &booked), 0);
    assert_int_equal(booked->slots[0], 7);
    wish = (struct pleat_site_wish){.id = 4, .count = 4, .beside = 3, .wanted = wanted};
    assert_int_equal(pleat_claimbook_take(&bed.book, &wish, &booked),
                     0); /* there is nothing else */
    bed.count = 0;
    pleat_claimbook_announce(&bed.book, booked, &bed.host);
    EXPECT(&bed, {0, 1, 3}, {1, 0, 1});
    pleat_claimbook_finish(&bed.book);
}

static void test_all_on_one_node_or_none(void **state)
{
    (void)state;
    struct bed bed;
    struct pleat_booked *booked;
    open_book(&bed);
    struct pleat_site_wish wish = {.id = 5, .count = 5, .on_one_node = true};
    assert_false(pleat_claimbook_could(&bed.book, &wish));
    assert_int_equal(pleat_claimbook_take(&bed.book, &wish, &booked), PLEAT_E_BUSY);
    wish.count = 4;
    assert_true(pleat_claimbook_could(&bed.book, &wish));
    take(&bed, 1, 1, 0);
    EXPECT(&bed, {1, 0, 1});
    wish.beside = 1; /* others have as many, its own node has one */
    assert_int_equal(pleat_claimbook_take(&bed.book, &wish, &booked), PLEAT_E_BUSY);
    wish.count = 1;
    assert_int_equal(pleat_claimbook_take(&bed.book, &wish, &booked), 0);
    bed.count = 0;
    pleat_claimbook_announce(&bed.book, booked, &bed.host);
    EXPECT(&bed, {1, 1, 1});
    bed.count = 0;
    pleat_claimbook_nodes(&bed.book, 7, &bed.host);
    static const int32_t slots[] = {4, 2, 4};
    assert_int_equal(bed.count, 3);
    for (uint32_t n = 0; n < 3; n++) {
        assert_int_equal(bed.events[n].kind, PLEAT_EV_NODE);
        assert_int_equal(bed.events[n].component, 7);
        assert_int_equal(bed.events[n].u.node.node, n);
        assert_int_equal(bed.events[n].u.node.slots, slots[n]);
    }
    pleat_claimbook_finish(&bed.book);
}

/* Just so many on each node, next to what the job has there; or nothing. */
static void test_as_many_on_each_node_as_is_said(void **state)
{
    (void)state;
    struct bed bed;
    struct pleat_booked *booked;
    open_book(&bed);
    take(&bed, 1, 5, 0);
    EXPECT(&bed, {0, 0, 4}, {2, 0, 1});
    struct pleat_site_part parts[] = {{2, 2}, {1, 1}};
    struct pleat_site_wish wish = {
        .id = 2, .count = 3, .beside = 1, .parts = parts, .part_count = 2};
    assert_int_equal(pleat_claimbook_take(&bed.book, &wish, &booked), 0);
    bed.count = 0;
    pleat_claimbook_announce(&bed.book, booked, &bed.host);
    EXPECT(&bed, {2, 1, 2}, {1, 0, 1});
    wish.id = 3;
    parts[0].count = 1;
    assert_int_equal(pleat_claimbook_take(&bed.book, &wish, &booked), PLEAT_E_BUSY); /* 3 of 2 */
    wish.count = 2;
    parts[1].node = 3;
    assert_int_equal(pleat_claimbook_take(&bed.book, &wish, &booked), PLEAT_E_BUSY);
    parts[1].node = 0; /* which is full */
    assert_int_equal(pleat_claimbook_take(&bed.book, &wish, &booked), PLEAT_E_BUSY);
    parts[1].node = 1;
    assert_int_equal(pleat_claimbook_take(&bed.book, &wish, &booked), 0);
    assert_int_equal(bed.book.free, 0);
    pleat_claimbook_finish(&bed.book);
}

static void test_taken_up_again(void **state)
{
    (void)state;
    struct bed bed;
    open_book(&bed);
    struct pleat_piece pieces[] = {{.node = 2, .first = 1, .count = 2}, {.node = 1, .count = 1}};
    struct pleat_site_claim known = {.id = 9, .count = 3, .pieces = pieces, .piece_count = 2};
    assert_int_equal(pleat_claimbook_adopt(&bed.book, &known), 0);
    pleat_claimbook_announce(&bed.book, pleat_claimbook_find(&bed.book, 9), &bed.host);
    EXPECT(&bed, {2, 1, 2}, {1, 0, 1});
    static const struct pleat_piece wrong[] = {
        {.node = 1, .first = 2, .count = 1},          /* there are two slots */
        {.node = 3, .count = 1},                      /* there are three nodes */
        {.node = 0, .first = UINT32_MAX, .count = 1}, /* before the node's first */
        {.node = 2, .first = 2, .count = 1},          /* taken */
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct pleat_site_claim other = {
            .id = 10, .count = 1, .pieces = &wrong[i], .piece_count = 1};
        assert_int_equal(pleat_claimbook_adopt(&bed.book, &other), PLEAT_E_STATE);
        assert_int_equal(bed.book.free, 7);
    }
    pleat_claimbook_finish(&bed.book);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_node_where_one_is_enough),
        cmocka_unit_test(test_beside_means_on_the_same_node),
        cmocka_unit_test(test_several_nodes_and_as_few_as_can_be),
        cmocka_unit_test(test_a_node_that_is_shut),
        cmocka_unit_test(test_load_of_others),
        cmocka_unit_test(test_what_others_want),
        cmocka_unit_test(test_all_on_one_node_or_none),
        cmocka_unit_test(test_as_many_on_each_node_as_is_said),
        cmocka_unit_test(test_taken_up_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
