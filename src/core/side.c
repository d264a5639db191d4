/* Records beside those of components: made on demand, found by an index in the component's. */
#include "core/side.h"

#include <string.h>

/* Each record begins with the index of its component, or, if it is free, of the next free
 * record. */
static const struct {
    size_t size;
    size_t index; /* in struct pleat_component */
    const void *none;
} kinds[SIDE_COUNT] = {
    [SIDE_TERMS] = {sizeof(struct pleat_terms), offsetof(struct pleat_component, terms),
                    &pleat_no_terms},
    [SIDE_FOLDING] = {sizeof(struct pleat_folding), offsetof(struct pleat_component, folding),
                      &pleat_no_folding},
    [SIDE_DECLARATION] = {sizeof(struct pleat_declaration),
                          offsetof(struct pleat_component, declaration), &pleat_no_declaration},
    [SIDE_COALLOCATION] = {sizeof(struct pleat_coallocation),
                           offsetof(struct pleat_component, coallocation), &pleat_no_coallocation},
    [SIDE_ASK] = {sizeof(struct pleat_ask), offsetof(struct pleat_component, ask), &pleat_no_ask},
};

static uint32_t index_of(const struct pleat_component *component, enum side side)
{
    uint32_t index;
    memcpy(&index, (const char *)component + kinds[side].index, sizeof(index));
    return index;
}

static void set_index(struct pleat_component *component, enum side side, uint32_t index)
{
    memcpy((char *)component + kinds[side].index, &index, sizeof(index));
}

static char *record_at(const struct pleat_core *core, enum side side, uint32_t index)
{
    return core->sides[side].items + index * kinds[side].size;
}

/* The owner of a record in use, or the free record that follows a free one. */
static uint32_t link_of(const struct pleat_core *core, enum side side, uint32_t index)
{
    uint32_t link;
    memcpy(&link, record_at(core, side, index), sizeof(link));
    return link;
}

static void set_link(struct pleat_core *core, enum side side, uint32_t index, uint32_t link)
{
    memcpy(record_at(core, side, index), &link, sizeof(link));
}

void sides_init(struct pleat_core *core)
{
    for (unsigned side = 0; side < SIDE_COUNT; side++)
        core->sides[side].free = PLEAT_NONE;
}

void sides_finish(struct pleat_core *core)
{
    for (unsigned side = 0; side < SIDE_COUNT; side++)
        free(core->sides[side].items);
}

void sides_sync_view(struct pleat_core *core)
{
    core->view.terms = (const void *)core->sides[SIDE_TERMS].items;
    core->view.foldings = (const void *)core->sides[SIDE_FOLDING].items;
    core->view.coallocations = (const void *)core->sides[SIDE_COALLOCATION].items;
    core->view.declarations = (const void *)core->sides[SIDE_DECLARATION].items;
    core->view.asks = (const void *)core->sides[SIDE_ASK].items;
    core->view.ask_count = (uint32_t)core->sides[SIDE_ASK].count;
}

/* A free record, made where there is none; PLEAT_NONE: out of memory. */
static uint32_t take(struct pleat_core *core, enum side side)
{
    struct side_records *records = &core->sides[side];
    uint32_t index = records->free;
    if (index != PLEAT_NONE) {
        records->free = link_of(core, side, index);
        return index;
    }
    if (records->count == records->capacity) {
        if (pleat_array_reserve_raw((void **)&records->items, &records->capacity, records->count, 1,
                                    kinds[side].size))
            return PLEAT_NONE;
        sides_sync_view(core); /* they may have moved */
    }
    records->count++;
    core->view.ask_count = (uint32_t)core->sides[SIDE_ASK].count;
    return (uint32_t)records->count - 1;
}

void *side_make(struct pleat_core *core, enum side side, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    uint32_t index = index_of(comp, side);
    if (index == PLEAT_NONE) {
        index = take(core, side);
        if (index == PLEAT_NONE)
            return NULL;
        memcpy(record_at(core, side, index), kinds[side].none, kinds[side].size);
        set_link(core, side, index, component);
        set_index(comp, side, index);
    }
    return record_at(core, side, index);
}

void *side_find(struct pleat_core *core, enum side side, uint32_t component)
{
    uint32_t index = index_of(component_at(core, component), side);
    return index == PLEAT_NONE ? NULL : record_at(core, side, index);
}

const void *side_read(const struct pleat_core *core, enum side side,
                      const struct pleat_component *component)
{
    uint32_t index = index_of(component, side);
    return index == PLEAT_NONE ? kinds[side].none : record_at(core, side, index);
}

void side_drop(struct pleat_core *core, uint32_t component)
{
    struct pleat_component *comp = component_at(core, component);
    for (unsigned s = 0; s < SIDE_COUNT; s++) {
        enum side side = (enum side)s;
        uint32_t index = index_of(comp, side);
        if (index == PLEAT_NONE)
            continue;
        set_link(core, side, index, core->sides[side].free);
        core->sides[side].free = index;
        set_index(comp, side, PLEAT_NONE);
    }
}

/* `seen`: a byte for each record of the kind, all 0. */
static int check_kind(const struct pleat_core *core, enum side side, char *seen,
                      struct pleat_error *err)
{
    const struct side_records *records = &core->sides[side];
    size_t known = 0;
    for (uint32_t c = 0; c < core->components.count; c++) {
        uint32_t index = index_of(&core->components.items[c], side);
        if (index == PLEAT_NONE)
            continue;
        if (index >= records->count || link_of(core, side, index) != c || seen[index])
            return pleat_error_set(err, PLEAT_E_CORRUPT,
                                   "component %u: record %u (kind %u) beside it is not its own", c,
                                   index, (unsigned)side);
        seen[index] = 1;
        known++;
    }
    for (uint32_t i = records->free; i != PLEAT_NONE; i = link_of(core, side, i)) {
        if (i >= records->count || seen[i])
            return pleat_error_set(err, PLEAT_E_CORRUPT,
                                   "record %u (kind %u) beside components is free, and is not", i,
                                   (unsigned)side);
        seen[i] = 1;
        known++;
    }
    if (known != records->count)
        return pleat_error_set(err, PLEAT_E_CORRUPT,
                               "%zu records (kind %u) beside components, %zu counted",
                               records->count, (unsigned)side, known);
    return 0;
}

int sides_check(const struct pleat_core *core, struct pleat_error *err)
{
    int rc = 0;
    for (unsigned side = 0; side < SIDE_COUNT && !rc; side++) {
        char *seen = calloc(core->sides[side].count + 1, 1);
        rc = seen ? check_kind(core, (enum side)side, seen, err) : PLEAT_E_NOMEM;
        free(seen);
    }
    return rc;
}
