/* What can be done for an array before others have left it: this rank takes the memory for its
 * part, and maps the parts that it will copy from. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "app/array-part.h"

/* Memory is taken ahead for the first arrays, as long as they are together not larger than the
 * largest array. The others are loaded one by one, when the old memory of the first ones is free
 * again. So a resize needs no more memory than that of the largest array. */
static bool may_take_memory(const struct pleat_array *array)
{
    uint64_t until = 0;
    uint64_t largest = 0;
    bool before = true;
    for (const struct pleat_object *object = array->session->objects; object;
         object = object->next) {
        uint64_t bytes = object->ops == array->object.ops ? object->ops->stored(object) : 0;
        until += before ? bytes : 0;
        largest = bytes > largest ? bytes : largest;
        before = before && object != &array->object;
    }
    return until <= largest;
}

/* Takes address space and memory in the half that the old ranks do not use. False: it cannot be
 * done, and nothing has changed. */
static bool take_memory(const struct pleat_array *array, struct pleat_array_part *part,
                        unsigned half)
{
    struct pleat_array_part there = *part;
    there.half = half;
    there.memory = NULL;
    if (pleat_array_part_check_room(array, there.half, pleat_array_part_bytes_of_all(part), NULL) ||
        pleat_array_part_reserve(array, &there, NULL))
        return false;
    if (pleat_array_part_populate(array, &there, NULL)) {
        pleat_array_part_close(&there);
        return false;
    }
    pleat_array_part_close(part);
    *part = there;
    return true;
}

/* Maps the parts that this rank will copy from. If this fails `load` does it later. */
static void map_sources(struct pleat_array *array)
{
    struct pleat_array_ahead *ahead = &array->ahead;
    struct pleat_dist_plan plan = {0};
    int code = pleat_dist_plan_receive(&ahead->from.dist, &array->now.dist, array->now.rank, NULL,
                                       0, &plan, NULL);
    if (!code && plan.peers)
        code = pleat_old_parts_open(array, &ahead->from, &ahead->old, NULL);
    if (!code && plan.peers)
        ahead->sources = calloc(plan.peers, sizeof(*ahead->sources));
    for (size_t i = 0; ahead->sources && i < plan.peers && !code; i++) {
        struct pleat_dist_plan_peer peer;
        struct pleat_layout layout;
        pleat_dist_plan_peer(&plan, i, &peer);
        code = pleat_dist_layout(&ahead->from.dist, peer.rank, NULL, &layout, NULL);
        const size_t first = (size_t)peer.rank * ahead->old.stride;
        const struct pleat_span pages = {first, first + pleat_array_part_pages(&layout)};
        if (!code)
            code = pleat_memory_ahead_over(&ahead->sources[i], ahead->old.memory, pages, NULL);
        ahead->source_count += !code;
    }
    pleat_dist_plan_finish(&plan);
}

/* Finds out where the array is; false: it is not known yet. */
static bool begin(struct pleat_array *array, int data)
{
    struct pleat_array_ahead *ahead = &array->ahead;
    array->fd = data;
    ahead->begun = !pleat_mark_read(array, array->now.rank, &ahead->from, NULL);
    if (!ahead->begun) {
        array->fd = -1;
        return false;
    }
    ahead->has_memory = array->now.layout.bytes && may_take_memory(array) &&
                        pleat_array_part_grid(&ahead->from) != pleat_array_part_grid(&array->now) &&
                        take_memory(array, &array->now, 1 - ahead->from.half);
    if (!ahead->has_memory)
        array->fd = -1;
    else if (!array->session->nodes) /* on several nodes some parts are not here */
        map_sources(array);
    return true;
}

enum pleat_foreseen pleat_array_foresee(struct pleat_object *object, int data)
{
    struct pleat_array *array = pleat_array_of(object);
    struct pleat_array_ahead *ahead = &array->ahead;
    enum pleat_foreseen all = PLEAT_FORESEEN_ALL;
    if (!ahead->begun && !begin(array, data))
        return PLEAT_FORESEEN_NOTHING;
    for (size_t i = 0; i < ahead->source_count; i++) {
        enum pleat_foreseen one = pleat_memory_ahead_go_on(&ahead->sources[i]);
        if (one != PLEAT_FORESEEN_ALL && all != PLEAT_FORESEEN_MORE)
            all = one;
    }
    return all;
}

int pleat_array_sources(struct pleat_array *array, const struct pleat_array_part *from,
                        struct pleat_old_parts *old, struct pleat_error *err)
{
    struct pleat_array_ahead *ahead = &array->ahead;
    if (!ahead->old.memory || ahead->from.half != from->half ||
        pleat_array_part_grid(&ahead->from) != pleat_array_part_grid(from))
        return pleat_old_parts_open(array, from, old, err);
    *old = ahead->old;
    ahead->old = (struct pleat_old_parts){0};
    return 0;
}

void pleat_array_drop_ahead(struct pleat_array *array)
{
    struct pleat_array_ahead *ahead = &array->ahead;
    for (size_t i = 0; i < ahead->source_count; i++)
        pleat_memory_ahead_drop(&ahead->sources[i]);
    free(ahead->sources);
    pleat_old_parts_close(&ahead->old);
    *ahead = (struct pleat_array_ahead){0};
}
