/* Reads the state from the bytes that save.c wrote (pleat_core_load). */
#include <string.h>

#include "core/buffer.h"
#include "core/node.h"
#include "core/outpost.h"
#include "core/policies.h"
#include "core/save_columns.h"
#include "core/side.h"
#include "core/submit.h"

struct loading {
    struct pleat_core *core;
    const uint32_t *lengths; /* of the lists of sizes, then of histories; within the bytes */
    size_t lists;
};

static const struct column *find_column(const struct column *columns, uint16_t number)
{
    for (const struct column *column = columns; column->width; column++)
        if (column->number == number)
            return column;
    return NULL;
}

/* Sets one member in all records of a table, from its column. */
static int load_column(const struct column *columns, const struct section *section,
                       const char *from, void *items, size_t size)
{
    const struct column *column = find_column(columns, section->field);
    if (!column || column->width != section->width)
        return PLEAT_E_UNSUPPORTED;
    for (size_t i = 0; i < section->count; i++)
        memcpy((char *)items + i * size + column->offset, from + i * column->width, column->width);
    return 0;
}

/* The first column of a table that is read says how many records there are, and makes fresh
 * ones. */
#define LOAD_TABLE(array, columns, fresh)                                                          \
    do {                                                                                           \
        if ((array)->count == 0) {                                                                 \
            if (section->count && pleat_array_reserve(array, section->count))                      \
                return PLEAT_E_NOMEM;                                                              \
            for (size_t i = 0; i < section->count; i++)                                            \
                (array)->items[(array)->count++] = (fresh);                                        \
        }                                                                                          \
        if ((array)->count != section->count)                                                      \
            return PLEAT_E_CORRUPT;                                                                \
        return load_column(columns, section, bytes, (array)->items, sizeof((array)->items[0]));    \
    } while (0)

/* Was the column padding (all zero) in records of earlier versions? Their states are still read. */
static bool was_padding(const struct section *section)
{
    static const uint16_t numbers[] = {37, 60, 80, 83, 90, 93, 96, 106, 116};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (section->field == numbers[i])
            return true;
    return false;
}

/* Sets one member of the records beside components, where it differs from the constant one. */
static int load_beside(struct pleat_core *core, enum side side, const struct column *column,
                       const struct section *section, const char *from)
{
    if (column->width != section->width)
        return PLEAT_E_UNSUPPORTED;
    if (core->components.count != section->count)
        return PLEAT_E_CORRUPT;
    const char *none = side_read(core, side, component_fresh());
    for (uint32_t i = 0; i < section->count; i++, from += column->width) {
        if (!memcmp(from, none + column->offset, column->width))
            continue;
        char *record = side_make(core, side, i);
        if (!record)
            return PLEAT_E_NOMEM;
        memcpy(record + column->offset, from, column->width);
    }
    return 0;
}

static int load_components(struct pleat_core *core, const struct section *section,
                           const char *bytes)
{
    if (was_padding(section))
        return 0;
    for (unsigned side = 0; side < SIDE_COUNT; side++) {
        const struct column *column = find_column(side_columns[side], section->field);
        if (column)
            return load_beside(core, (enum side)side, column, section, bytes);
    }
    LOAD_TABLE(&core->components, component_columns, *component_fresh());
}

/* A state of a version that knew one node of a site: what it says of that node's agent. */
static int load_first_nodes(struct pleat_core *core, const struct section *section,
                            const char *from)
{
    size_t width = section->field == SITE_AWAY_ONCE ? sizeof(uint8_t) : sizeof(uint64_t);
    if (section->width != width)
        return PLEAT_E_UNSUPPORTED;
    for (uint32_t i = 0; i < section->count; i++, from += width) {
        uint64_t agent = 0;
        memcpy(&agent, from, width);
        if (!agent)
            continue;
        struct pleat_node *node = core_node_make(core, i, 0);
        if (!node)
            return PLEAT_E_NOMEM;
        if (section->field == SITE_AWAY_ONCE)
            node->away = 1;
        else
            node->agent = agent;
    }
    return 0;
}

static int load_sites(struct pleat_core *core, const struct section *section, const char *bytes)
{
    if (section->field == SITE_SPARE_ONCE || section->field == SITE_SPARE2_ONCE ||
        section->field == SITE_RESERVED_ONCE)
        return 0;
    if (section->field == SITE_AGENT_ONCE || section->field == SITE_AWAY_ONCE)
        return load_first_nodes(core, section, bytes);
    static const struct pleat_site fresh = {.buffers_first = PLEAT_NONE, .again = PLEAT_HEAP_NONE};
    LOAD_TABLE(&core->sites, site_columns, fresh);
}

static int load_claims(struct pleat_core *core, const struct section *section, const char *bytes)
{
    static const struct pleat_claim fresh;
    LOAD_TABLE(&core->claims, claim_columns, fresh);
}

static int load_pieces(struct pleat_core *core, const struct section *section, const char *bytes)
{
    static const struct pleat_piece fresh;
    LOAD_TABLE(&core->pieces, piece_columns, fresh);
}

static int load_resizes(struct pleat_core *core, const struct section *section, const char *bytes)
{
    static const struct pleat_resize fresh;
    if (section->field == RESIZE_GRANTED_ONCE)
        return 0;
    LOAD_TABLE(&core->resizes, resize_columns, fresh);
}

static int load_timings(struct pleat_core *core, const struct section *section, const char *bytes)
{
    static const struct pleat_timing fresh;
    LOAD_TABLE(&core->timings, timing_columns, fresh);
}

static int load_inputs(struct pleat_core *core, const struct section *section, const char *bytes)
{
    static const struct pleat_input fresh;
    LOAD_TABLE(&core->inputs, input_columns, fresh);
}

static int load_links(struct pleat_core *core, const struct section *section, const char *bytes)
{
    static const struct pleat_link fresh;
    LOAD_TABLE(&core->links, link_columns, fresh);
}

static int load_nodes(struct pleat_core *core, const struct section *section, const char *bytes)
{
    static const struct pleat_node fresh;
    if (section->field == NODE_SPARE_ONCE || section->field == NODE_SPARE2_ONCE)
        return 0;
    LOAD_TABLE(&core->nodes, node_columns, fresh);
}

static int load_dependencies(struct pleat_core *core, const struct section *section,
                             const char *bytes)
{
    static const struct pleat_dependency fresh;
    LOAD_TABLE(&core->dependencies, dependency_columns, fresh);
}

static int load_groups(struct pleat_core *core, const struct section *section, const char *bytes)
{
    static const struct pleat_group fresh;
    LOAD_TABLE(&core->groups, group_columns, fresh);
}

static int load_deadlines(struct pleat_core *core, const struct section *section, const char *bytes)
{
    struct pleat_heap *heap = &core->deadlines;
    size_t room = section->count ? section->count : 1;
    if (section->field == DEADLINE_WHERE) {
        if (section->width != sizeof(uint32_t) || heap->where || section->count < heap->count)
            return PLEAT_E_CORRUPT;
        /* handles never outnumber the room for entries: see heap.c */
        struct pleat_heap_entry *entries = realloc(heap->entries, room * sizeof(*entries));
        heap->where = malloc(room * sizeof(uint32_t));
        if (entries)
            heap->entries = entries;
        if (!entries || !heap->where)
            return PLEAT_E_NOMEM;
        memcpy(heap->where, bytes, section->count * sizeof(uint32_t));
        heap->handles = section->count;
        heap->capacity = room;
        return 0;
    }
    if (!heap->entries) {
        heap->entries = calloc(room, sizeof(*heap->entries));
        heap->count = section->count;
        if (!heap->entries)
            return PLEAT_E_NOMEM;
    }
    return section->count == heap->count ? load_column(deadline_columns, section, bytes,
                                                       heap->entries, sizeof(*heap->entries))
                                         : PLEAT_E_CORRUPT;
}

static int load_lists(struct loading *loading, const struct section *section, const char *bytes)
{
    struct pleat_core *core = loading->core;
    if (section->field == LIST_LENGTHS && section->width == sizeof(uint32_t)) {
        loading->lengths = (const uint32_t *)(const void *)bytes; /* 8 bytes aligned: see load */
        loading->lists = section->count;
        return 0;
    }
    if (section->field != LIST_VALUES || section->width != sizeof(int32_t))
        return PLEAT_E_UNSUPPORTED;
    uint64_t left = section->count;
    for (size_t i = 0; i < loading->lists; i++) {
        struct pleat_size_list fresh = {0};
        uint32_t length = loading->lengths[i];
        if (length > left)
            return PLEAT_E_CORRUPT;
        if (length && pleat_array_reserve(&fresh, length))
            return PLEAT_E_NOMEM;
        if (pleat_array_push(&core->size_lists, fresh)) {
            pleat_array_finish(&fresh);
            return PLEAT_E_NOMEM;
        }
        struct pleat_size_list *list = &core->size_lists.items[i];
        if (length)
            memcpy(list->items, bytes, length * sizeof(int32_t));
        list->count = length;
        bytes += length * sizeof(int32_t);
        left -= length;
    }
    return 0;
}

static int load_buffers(struct pleat_core *core, const struct section *section, const char *bytes)
{
    LOAD_TABLE(&core->buffers, buffer_columns, *buffer_fresh());
}

static int load_outposts(struct pleat_core *core, const struct section *section, const char *bytes)
{
    LOAD_TABLE(&core->outposts, outpost_columns, *outpost_fresh());
}

static int load_histories(struct loading *loading, const struct section *section, const char *bytes)
{
    struct pleat_core *core = loading->core;
    if (section->field == LIST_LENGTHS && section->width == sizeof(uint32_t)) {
        loading->lengths = (const uint32_t *)(const void *)bytes; /* 8 bytes aligned: see load */
        loading->lists = section->count;
        return 0;
    }
    if (section->field != LIST_VALUES || section->width != sizeof(struct pleat_history_row))
        return PLEAT_E_UNSUPPORTED;
    uint64_t left = section->count;
    for (size_t i = 0; i < loading->lists; i++) {
        struct pleat_history none = {0};
        uint32_t length = loading->lengths[i];
        if (length > left)
            return PLEAT_E_CORRUPT;
        if (pleat_array_push(&core->histories, none))
            return PLEAT_E_NOMEM;
        struct pleat_history *history = &core->histories.items[i];
        if (length && pleat_array_reserve(history, length))
            return PLEAT_E_NOMEM;
        if (length)
            memcpy(history->items, bytes, length * sizeof(history->items[0]));
        history->count = length;
        bytes += length * sizeof(history->items[0]);
        left -= length;
    }
    return 0;
}

static int load_policy(struct pleat_core *core, const struct section *section, const char *bytes)
{
    uint64_t which[2];
    if (section->width != sizeof(which[0]) || section->count != 2)
        return PLEAT_E_CORRUPT;
    memcpy(which, bytes, sizeof(which));
    const struct pleat_policy *policy =
        section->field < PLEAT_QUESTION_COUNT
            ? pleat_policy_get((enum pleat_question)section->field, (uint32_t)which[0])
            : NULL;
    return policy ? core_set_policy(core, policy) : PLEAT_E_UNSUPPORTED;
}

/* The memory of a policy. If its size differs another version of the policy wrote it: then the
 * policy begins anew. */
static int load_state(struct pleat_core *core, const struct section *section, const char *bytes)
{
    if (section->field >= PLEAT_QUESTION_COUNT || section->width != 1)
        return PLEAT_E_CORRUPT;
    if (core->pass.policies[section->field]->state_size == section->count)
        memcpy(core->states[section->field], bytes, section->count);
    return 0;
}

static int load_section(struct loading *loading, const struct section *section, const char *bytes)
{
    struct pleat_core *core = loading->core;
    switch ((enum table)section->table) {
    case SCALARS:
        return section->count == 1
                   ? load_column(scalar_columns, section, bytes, core, sizeof(*core))
                   : PLEAT_E_CORRUPT;
    case PARAMETERS:
        if (section->width != sizeof(int64_t) || section->count != 1)
            return PLEAT_E_CORRUPT;
        if (section->field >= PLEAT_PARAM_COUNT)
            return PLEAT_E_UNSUPPORTED;
        memcpy(&core->parameters[section->field], bytes, sizeof(int64_t));
        return 0;
    case POLICIES:
        return load_policy(core, section, bytes);
    case STATES:
        return load_state(core, section, bytes);
    case SIZE_LISTS:
        return load_lists(loading, section, bytes);
    case COMPONENTS:
        return load_components(core, section, bytes);
    case SITES:
        return load_sites(core, section, bytes);
    case CLAIMS:
        return load_claims(core, section, bytes);
    case PIECES:
        return load_pieces(core, section, bytes);
    case RESIZES:
        return load_resizes(core, section, bytes);
    case DEADLINES:
        return load_deadlines(core, section, bytes);
    case BUFFERS:
        return load_buffers(core, section, bytes);
    case OUTPOSTS:
        return load_outposts(core, section, bytes);
    case HISTORIES:
        return load_histories(loading, section, bytes);
    case TIMINGS:
        return load_timings(core, section, bytes);
    case INPUTS:
        return load_inputs(core, section, bytes);
    case LINKS:
        return load_links(core, section, bytes);
    case NODES:
        return load_nodes(core, section, bytes);
    case DEPENDENCIES:
        return load_dependencies(core, section, bytes);
    case GROUPS:
        return load_groups(core, section, bytes);
    default:
        return PLEAT_E_UNSUPPORTED;
    }
}

/* Makes what is not saved. The shape of a tree depends only on what is in it. */
static int rebuild(struct pleat_core *core)
{
    const struct pleat_component *all = core->components.items;
    bool keyed = core->pass.policies[PLEAT_ORDER]->key != NULL;
    uint32_t before, none = PLEAT_NONE;
    for (uint32_t c = 0; c < core->components.count; c++) /* this record is made at a submission */
        if (all[c].lead != PLEAT_NONE && !side_make(core, SIDE_COALLOCATION, c))
            return PLEAT_E_NOMEM;
    for (uint32_t c = core->view.queue_first; keyed && c != PLEAT_NONE; c = all[c].next)
        if (pleat_tree_insert(&core->places, &core->queue_root, c, all[c].key, all[c].position,
                              &before))
            return PLEAT_E_NOMEM;
    for (size_t s = 0; s < core->sites.count; s++) {
        if (pleat_array_push(&core->ends_roots, none))
            return PLEAT_E_NOMEM;
        uint32_t *root = &core->ends_roots.items[s];
        uint32_t c = core->keeps_ends ? core->sites.items[s].ends_first : PLEAT_NONE;
        for (; c != PLEAT_NONE; c = all[c].ends_next)
            if (pleat_tree_insert(&core->places, root, c, all[c].expected_end_us,
                                  (int64_t)all[c].run, &before))
                return PLEAT_E_NOMEM;
    }
    pleat_heap_note_first(&core->deadlines);
    core_sync_view(core);
    core_set_pass_time(core);
    return 0;
}

static int load(struct pleat_core *core, const char *bytes, size_t size)
{
    struct loading loading = {.core = core};
    size_t at = SAVE_MAGIC_SIZE + sizeof(uint64_t);
    int rc = 0;
    while (!rc) {
        struct section section;
        if (size - at < sizeof(section))
            return PLEAT_E_CORRUPT;
        memcpy(&section, bytes + at, sizeof(section));
        at += sizeof(section);
        if (section.table == END)
            return rebuild(core);
        if (section.width == 0 || section.count > (size - at) / section.width)
            return PLEAT_E_CORRUPT;
        rc = load_section(&loading, &section, bytes + at);
        at += (section.width * section.count + 7) / 8 * 8;
        if (at > size)
            return PLEAT_E_CORRUPT;
    }
    return rc;
}

/* 0, or why these are not the bytes of a state: PLEAT_E_CORRUPT, PLEAT_E_UNSUPPORTED. */
static int check_bytes(const char *bytes, size_t size)
{
    uint64_t version, sum, least = SAVE_MAGIC_SIZE + sizeof(version) + sizeof(sum);
    if (size < least || size % 8 || memcmp(bytes, SAVE_MAGIC, SAVE_MAGIC_SIZE))
        return PLEAT_E_CORRUPT;
    memcpy(&sum, bytes + size - sizeof(sum), sizeof(sum));
    if (sum != save_checksum(bytes, size - sizeof(sum)))
        return PLEAT_E_CORRUPT;
    memcpy(&version, bytes + SAVE_MAGIC_SIZE, sizeof(version));
    return version == SAVE_VERSION ? 0 : PLEAT_E_UNSUPPORTED;
}

int pleat_core_load(const char *bytes, size_t size, struct pleat_core **out,
                    struct pleat_error *err)
{
    struct pleat_core *core = NULL;
    int rc = check_bytes(bytes, size);
    if (!rc)
        rc = pleat_core_create(&core);
    if (!rc)
        rc = load(core, bytes, size - sizeof(uint64_t));
    if (!rc) {
        *out = core;
        return 0;
    }
    pleat_core_destroy(core);
    return pleat_error_set(err, rc, "%s",
                           rc == PLEAT_E_NOMEM ? "out of memory"
                           : rc == PLEAT_E_UNSUPPORTED
                               ? "the saved state was written by a newer Pleat: run that version"
                               : "the saved state is damaged");
}
