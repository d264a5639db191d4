/* The heap of times against a naive model. */
#include "test.h"

#include <string.h>

#include "base/heap.h"
#include "base/random.h"

enum { MODEL_MAX = 600 };

struct entry {
    int64_t time_us;
    uint64_t order; /* of insertion, or of the last move */
    uint64_t payload;
    uint32_t handle;
};

struct model {
    struct entry entries[MODEL_MAX];
    size_t count;
    uint64_t next_order;
};

static size_t first_of(const struct model *model)
{
    size_t first = 0;
    for (size_t i = 1; i < model->count; i++) {
        const struct entry *a = &model->entries[i], *b = &model->entries[first];
        if (a->time_us < b->time_us || (a->time_us == b->time_us && a->order < b->order))
            first = i;
    }
    return first;
}

static void forget(struct model *model, size_t index)
{
    model->entries[index] = model->entries[--model->count];
}

static void push(struct pleat_heap *heap, struct model *model, int64_t time_us)
{
    struct entry *entry = &model->entries[model->count++];
    entry->time_us = time_us;
    entry->order = entry->payload = model->next_order++;
    assert_int_equal(pleat_heap_push(heap, time_us, entry->payload, &entry->handle), 0);
    for (size_t i = 0; i + 1 < model->count; i++)
        assert_int_not_equal(model->entries[i].handle, entry->handle);
}

static void check_first(const struct pleat_heap *heap, const struct model *model)
{
    const struct pleat_heap_entry *first = pleat_heap_first(heap);
    assert_int_equal(heap->count, model->count);
    if (model->count == 0) {
        assert_null(first);
        assert_true(pleat_heap_first_us(heap) == INT64_MAX);
        return;
    }
    const struct entry *expected = &model->entries[first_of(model)];
    assert_int_equal(first->time_us, expected->time_us);
    assert_int_equal(pleat_heap_first_us(heap), expected->time_us);
    assert_int_equal(first->payload, expected->payload);
    assert_int_equal(first->handle, expected->handle);
}

static void run_random(uint64_t seed, uint64_t times, uint64_t pushes_of_ten)
{
    struct pleat_heap heap;
    struct pleat_random random;
    static struct model model;
    memset(&model, 0, sizeof(model));
    pleat_heap_init(&heap);
    pleat_random_init(&random, seed);
    for (int step = 0; step < 6000; step++) {
        uint64_t choice = pleat_random_below(&random, 10);
        if (model.count == 0 || (choice < pushes_of_ten && model.count < MODEL_MAX)) {
            /* few distinct times: many are equal, some negative */
            push(&heap, &model, (int64_t)pleat_random_below(&random, times) - 5);
        } else if (choice % 2) {
            size_t first = first_of(&model);
            struct pleat_heap_entry popped = pleat_heap_pop(&heap);
            assert_int_equal(popped.payload, model.entries[first].payload);
            forget(&model, first);
        } else if (choice % 4) {
            struct entry *moved = &model.entries[pleat_random_below(&random, model.count)];
            moved->time_us = (int64_t)pleat_random_below(&random, times) - 5;
            moved->order = model.next_order++;
            pleat_heap_move(&heap, moved->handle, moved->time_us);
        } else {
            size_t victim = pleat_random_below(&random, model.count);
            pleat_heap_remove(&heap, model.entries[victim].handle);
            forget(&model, victim);
        }
        check_first(&heap, &model);
    }
    while (model.count > 0) {
        size_t first = first_of(&model);
        assert_int_equal(pleat_heap_pop(&heap).payload, model.entries[first].payload);
        forget(&model, first);
    }
    assert_null(pleat_heap_first(&heap));
    pleat_heap_finish(&heap);
}

static void test_against_model(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        run_random(seed, 12, 5);
        run_random(seed, 1000000, 6);
        run_random(seed, 3, 7);
    }
}

static void test_equal_times_in_order(void **state)
{
    (void)state;
    struct pleat_heap heap;
    uint32_t handle;
    pleat_heap_init(&heap);
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(pleat_heap_push(&heap, 7, i, &handle), 0);
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(pleat_heap_pop(&heap).payload, i);
    pleat_heap_finish(&heap);
}

static void test_handles_are_used_again(void **state)
{
    (void)state;
    struct pleat_heap heap;
    uint32_t handle, largest = 0;
    pleat_heap_init(&heap);
    for (int64_t i = 0; i < 100000; i++) {
        assert_int_equal(pleat_heap_push(&heap, i, 0, &handle), 0);
        largest = handle > largest ? handle : largest;
        if (i % 2 && i > 10)
            pleat_heap_remove(&heap, handle);
        else if (i > 10)
            pleat_heap_pop(&heap);
    }
    assert_true(largest < 20); /* as many as were ever held at once */
    pleat_heap_finish(&heap);
}

static void test_extreme_times(void **state)
{
    (void)state;
    struct pleat_heap heap;
    uint32_t handle;
    pleat_heap_init(&heap);
    assert_int_equal(pleat_heap_push(&heap, INT64_MAX, 3, &handle), 0);
    assert_int_equal(pleat_heap_push(&heap, INT64_MIN, 1, &handle), 0);
    assert_int_equal(pleat_heap_push(&heap, 0, 2, &handle), 0);
    for (uint64_t i = 1; i <= 3; i++)
        assert_int_equal(pleat_heap_pop(&heap).payload, i);
    pleat_heap_finish(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_model),
        cmocka_unit_test(test_equal_times_in_order),
        cmocka_unit_test(test_handles_are_used_again),
        cmocka_unit_test(test_extreme_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
