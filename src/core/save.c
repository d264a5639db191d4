/* Writes the state as bytes (pleat_core_save); load.c reads them.
 *
 * The state is written column by column: for each member of a record its number (save_columns.c),
 * its width, and its value in all records. So a later version, whose records have other members,
 * reads the members that it knows; a member that was not written gets the value of a fresh record.
 * What can be made from the rest (trees, the view) is not written: the same state always gives the
 * same bytes. */
#include <string.h>

#include "core/save_columns.h"
#include "core/side.h"
#include "core/submit.h"

uint64_t save_checksum(const char *bytes, size_t size)
{
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i + 8 <= size; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, sizeof(word));
        sum = (sum ^ word) * 0x100000001b3u;
        sum ^= sum >> 29; /* without this the highest bits would never reach the lower ones */
    }
    return sum;
}

static char *begin_section(struct pleat_string *out, enum table table, uint16_t field, size_t width,
                           size_t count)
{
    struct section section = {(uint16_t)table, field, (uint32_t)width, count};
    pleat_string_add_bytes(out, (const char *)&section, sizeof(section));
    size_t size = width * count, before = out->length;
    static const char zeros[4096];
    for (size_t left = (size + 7) / 8 * 8; left > 0 && !out->failed;) {
        size_t part = left < sizeof(zeros) ? left : sizeof(zeros);
        pleat_string_add_bytes(out, zeros, part);
        left -= part;
    }
    return out->failed ? NULL : out->text + before;
}

static void save_bytes(struct pleat_string *out, enum table table, uint16_t field,
                       const void *items, size_t width, size_t count)
{
    char *to = begin_section(out, table, field, width, count);
    if (to && count)
        memcpy(to, items, width * count);
}

static void save_table(struct pleat_string *out, enum table table, const struct column *columns,
                       const void *items, size_t size, size_t count)
{
    for (const struct column *column = columns; column->width; column++) {
        char *to = begin_section(out, table, column->number, column->width, count);
        for (size_t i = 0; to && i < count; i++)
            memcpy(to + i * column->width, (const char *)items + i * size + column->offset,
                   column->width);
    }
}

/* Writes the records beside components, with the constant values where a component has none. */
static void save_beside(struct pleat_string *out, const struct pleat_core *core, enum side side)
{
    for (const struct column *column = side_columns[side]; column->width; column++) {
        char *to =
            begin_section(out, COMPONENTS, column->number, column->width, core->components.count);
        for (size_t i = 0; to && i < core->components.count; i++) {
            const struct pleat_component *from = &core->components.items[i];
            if (pleat_component_is_forgotten(from))
                from = component_fresh();
            memcpy(to + i * column->width,
                   (const char *)side_read(core, side, from) + column->offset, column->width);
        }
    }
}

/* A free record keeps old values, even those of a refused submission. They are no part of the
 * state: fresh values are written in their place. */
static void save_components(struct pleat_string *out, const struct pleat_core *core)
{
    struct pleat_component free_one = *component_fresh();
    free_one.state = PLEAT_DONE;
    free_one.aside = PLEAT_FORGOTTEN;
    for (const struct column *column = component_columns; column->width; column++) {
        char *to =
            begin_section(out, COMPONENTS, column->number, column->width, core->components.count);
        for (size_t i = 0; to && i < core->components.count; i++) {
            const struct pleat_component *from = &core->components.items[i];
            if (pleat_component_is_forgotten(from)) {
                free_one.next = from->next;
                from = &free_one;
            }
            memcpy(to + i * column->width, (const char *)from + column->offset, column->width);
        }
    }
    for (unsigned side = 0; side < SIDE_COUNT; side++)
        save_beside(out, core, (enum side)side);
}

static void save_lists(struct pleat_string *out, const struct pleat_core *core)
{
    size_t values = 0;
    for (size_t i = 0; i < core->size_lists.count; i++)
        values += core->size_lists.items[i].count;
    char *to =
        begin_section(out, SIZE_LISTS, LIST_LENGTHS, sizeof(uint32_t), core->size_lists.count);
    for (size_t i = 0; to && i < core->size_lists.count; i++) {
        uint32_t length = (uint32_t)core->size_lists.items[i].count;
        memcpy(to + i * sizeof(length), &length, sizeof(length));
    }
    to = begin_section(out, SIZE_LISTS, LIST_VALUES, sizeof(int32_t), values);
    for (size_t i = 0; to && i < core->size_lists.count; i++) {
        const struct pleat_size_list *list = &core->size_lists.items[i];
        if (list->count)
            memcpy(to, list->items, list->count * sizeof(int32_t));
        to += list->count * sizeof(int32_t);
    }
}

static void save_histories(struct pleat_string *out, const struct pleat_core *core)
{
    size_t rows = 0;
    for (size_t i = 0; i < core->histories.count; i++)
        rows += core->histories.items[i].count;
    char *to = begin_section(out, HISTORIES, LIST_LENGTHS, sizeof(uint32_t), core->histories.count);
    for (size_t i = 0; to && i < core->histories.count; i++) {
        uint32_t length = (uint32_t)core->histories.items[i].count;
        memcpy(to + i * sizeof(length), &length, sizeof(length));
    }
    to = begin_section(out, HISTORIES, LIST_VALUES, sizeof(struct pleat_history_row), rows);
    for (size_t i = 0; to && i < core->histories.count; i++) {
        const struct pleat_history *history = &core->histories.items[i];
        if (history->count)
            memcpy(to, history->items, history->count * sizeof(history->items[0]));
        to += history->count * sizeof(history->items[0]);
    }
}

static void save_policies(struct pleat_string *out, const struct pleat_core *core)
{
    for (unsigned q = 0; q < PLEAT_QUESTION_COUNT; q++) {
        const struct pleat_policy *policy = core->pass.policies[q];
        uint64_t which[2] = {policy->number, policy->version};
        save_bytes(out, POLICIES, (uint16_t)q, which, sizeof(which[0]), 2);
        if (policy->state_size)
            save_bytes(out, STATES, (uint16_t)q, core->states[q], 1, policy->state_size);
    }
    for (uint32_t p = pleat_parameter_next(0); p; p = pleat_parameter_next(p))
        save_bytes(out, PARAMETERS, (uint16_t)p, &core->parameters[p], sizeof(core->parameters[p]),
                   1);
}

int pleat_core_save(const struct pleat_core *core, struct pleat_string *out)
{
    size_t begin = out->length;
    uint64_t version = SAVE_VERSION;
    pleat_string_add_bytes(out, SAVE_MAGIC, SAVE_MAGIC_SIZE);
    pleat_string_add_bytes(out, (const char *)&version, sizeof(version));
    save_policies(out, core);
    save_table(out, SCALARS, scalar_columns, core, sizeof(*core), 1);
    save_lists(out, core);
    save_table(out, SITES, site_columns, core->sites.items, sizeof(struct pleat_site),
               core->sites.count);
    save_components(out, core);
    save_table(out, CLAIMS, claim_columns, core->claims.items, sizeof(struct pleat_claim),
               core->claims.count);
    save_table(out, PIECES, piece_columns, core->pieces.items, sizeof(struct pleat_piece),
               core->pieces.count);
    save_table(out, RESIZES, resize_columns, core->resizes.items, sizeof(struct pleat_resize),
               core->resizes.count);
    save_table(out, TIMINGS, timing_columns, core->timings.items, sizeof(struct pleat_timing),
               core->timings.count);
    save_table(out, INPUTS, input_columns, core->inputs.items, sizeof(struct pleat_input),
               core->inputs.count);
    save_table(out, LINKS, link_columns, core->links.items, sizeof(struct pleat_link),
               core->links.count);
    save_table(out, NODES, node_columns, core->nodes.items, sizeof(struct pleat_node),
               core->nodes.count);
    save_table(out, DEPENDENCIES, dependency_columns, core->dependencies.items,
               sizeof(struct pleat_dependency), core->dependencies.count);
    save_table(out, GROUPS, group_columns, core->groups.items, sizeof(struct pleat_group),
               core->groups.count);
    save_table(out, DEADLINES, deadline_columns, core->deadlines.entries,
               sizeof(struct pleat_heap_entry), core->deadlines.count);
    save_bytes(out, DEADLINES, DEADLINE_WHERE, core->deadlines.where, sizeof(uint32_t),
               core->deadlines.handles);
    save_table(out, BUFFERS, buffer_columns, core->buffers.items, sizeof(struct pleat_buffer),
               core->buffers.count);
    save_histories(out, core);
    if (core->outposts.count > 0)
        save_table(out, OUTPOSTS, outpost_columns, core->outposts.items,
                   sizeof(struct pleat_outpost), core->outposts.count);
    begin_section(out, END, 0, 0, 0);
    uint64_t sum = out->failed ? 0 : save_checksum(out->text + begin, out->length - begin);
    pleat_string_add_bytes(out, (const char *)&sum, sizeof(sum));
    return out->failed ? PLEAT_E_NOMEM : 0;
}
