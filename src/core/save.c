/* The state as bytes, and back (pleat_core_save, pleat_core_load).
 *
 * Written column by column: for each member of a record its number here, its width, and its value
 * in all records. So a later version, whose records have other members, reads what it knows; what
 * was not written yet gets the value of a fresh record. What can be made from the rest (trees, the
 * view) is not written: the same state always gives the same bytes.
 *
 * Whoever adds a member to a record, or state to struct pleat_core, adds it here, at the end of its
 * list and with the next number: numbers are never used again. */
#include <string.h>

#include "core/internal.h"

static const char magic[8] = "PLEATCOR";
enum { VERSION = 1 };

enum table {
    END,
    SCALARS, /* field: which; one value of 8 bytes */
    PARAMETERS,
    POLICIES, /* field: the question; number and version */
    STATES,   /* field: the question; bytes */
    SIZE_LISTS,
    COMPONENTS,
    SITES,
    CLAIMS,
    PIECES,
    RESIZES,
    DEADLINES,
    TIMINGS,
    BUFFERS,
    HISTORIES,
    INPUTS,
    LINKS
};

struct column {
    uint16_t number;
    uint16_t width;
    size_t offset;
};

#define COMPONENT_MEMBERS(X)                                                                       \
    X(1, previous)                                                                                 \
    X(2, next)                                                                                     \
    X(3, ends_previous)                                                                            \
    X(4, ends_next)                                                                                \
    X(5, minimum)                                                                                  \
    X(6, maximum)                                                                                  \
    X(7, earmarked)                                                                                \
    X(8, target)                                                                                   \
    X(9, estimate_us)                                                                              \
    X(10, promised_us)                                                                             \
    X(11, expected_end_us)                                                                         \
    X(12, reference)                                                                               \
    X(13, state)                                                                                   \
    X(14, kind)                                                                                    \
    X(15, sizes_kind)                                                                              \
    X(16, aside)                                                                                   \
    X(17, processors)                                                                              \
    X(18, cap)                                                                                     \
    X(19, site)                                                                                    \
    X(20, coming)                                                                                  \
    X(21, quiet_until_us)                                                                          \
    X(22, job)                                                                                     \
    X(23, submit_us)                                                                               \
    X(24, due_us)                                                                                  \
    X(25, begin_us)                                                                                \
    X(26, key)                                                                                     \
    X(27, position)                                                                                \
    X(28, initial)                                                                                 \
    X(29, sizes_parameter)                                                                         \
    X(30, wanted_site)                                                                             \
    X(31, ordinal)                                                                                 \
    X(32, flags)                                                                                   \
    X(33, priority)                                                                                \
    X(34, reason)                                                                                  \
    X(35, exited)                                                                                  \
    X(36, starting)                                                                                \
    X(37, reserved)                                                                                \
    X(38, signal)                                                                                  \
    X(39, code)                                                                                    \
    X(40, processes)                                                                               \
    X(41, run)                                                                                     \
    X(42, start_us)                                                                                \
    X(43, end_us)                                                                                  \
    X(44, last_try_us)                                                                             \
    X(45, resize)                                                                                  \
    X(46, first_claim)                                                                             \
    X(47, last_claim)                                                                              \
    X(48, claims)                                                                                  \
    X(49, start_claim)                                                                             \
    X(50, promised_site)                                                                           \
    X(51, deadline)                                                                                \
    X(52, tries)                                                                                   \
    X(53, attempt)                                                                                 \
    X(54, notice_us)                                                                               \
    X(55, lifetime_us)                                                                             \
    X(56, limit_us)                                                                                \
    X(57, relaunches)                                                                              \
    X(58, since_us)                                                                                \
    X(59, held)                                                                                    \
    X(60, spare)                                                                                   \
    X(61, first_timing)                                                                            \
    X(63, job_class)                                                                               \
    X(64, mpl_max)                                                                                 \
    X(65, mpl)                                                                                     \
    X(66, preempted)                                                                               \
    X(67, buffer)                                                                                  \
    X(68, spare_last)                                                                              \
    X(70, lead)                                                                                    \
    X(71, sibling)                                                                                 \
    X(72, total)                                                                                   \
    X(73, first_input)                                                                             \
    X(74, files_site)                                                                              \
    X(75, retries)                                                                                 \
    X(76, files_us)                                                                                \
    X(77, claimed_us)                                                                              \
    X(78, staging)                                                                                 \
    X(79, below)                                                                                   \
    X(80, spare2)

#define SITE_MEMBERS(X)                                                                            \
    X(1, capacity)                                                                                 \
    X(2, background)                                                                               \
    X(3, threshold)                                                                                \
    X(4, held)                                                                                     \
    X(5, releasing)                                                                                \
    X(6, coming)                                                                                   \
    X(7, quiet_until_us)                                                                           \
    X(8, reclaimable)                                                                              \
    X(9, malleable_count)                                                                          \
    X(10, resizing_count)                                                                          \
    X(11, growers)                                                                                 \
    X(12, malleable_first)                                                                         \
    X(13, malleable_last)                                                                          \
    X(14, rigid_first)                                                                             \
    X(15, rigid_last)                                                                              \
    X(16, ends_first)                                                                              \
    X(17, ends_last)                                                                               \
    X(18, instant)                                                                                 \
    X(19, reserved)                                                                                \
    X(20, buffers_first)                                                                           \
    X(21, buffered)                                                                                \
    X(22, slowest_claim_us)                                                                        \
    X(23, barred)                                                                                  \
    X(24, errors)                                                                                  \
    X(25, again)                                                                                   \
    X(26, spare)

#define CLAIM_MEMBERS(X)                                                                           \
    X(1, id)                                                                                       \
    X(2, component)                                                                                \
    X(3, site)                                                                                     \
    X(4, count)                                                                                    \
    X(5, state)                                                                                    \
    X(6, purpose)                                                                                  \
    X(7, previous)                                                                                 \
    X(8, next)                                                                                     \
    X(9, first_piece)                                                                              \
    X(10, last_piece)                                                                              \
    X(11, asked_us)

#define PIECE_MEMBERS(X)                                                                           \
    X(1, node)                                                                                     \
    X(2, first)                                                                                    \
    X(3, count)                                                                                    \
    X(4, next)

#define RESIZE_MEMBERS(X)                                                                          \
    X(1, id)                                                                                       \
    X(2, begun_us)                                                                                 \
    X(3, granted_us)                                                                               \
    X(4, component)                                                                                \
    X(5, waiter)                                                                                   \
    X(6, claim)                                                                                    \
    X(7, deadline)                                                                                 \
    X(8, from)                                                                                     \
    X(9, to)                                                                                       \
    X(10, offered)                                                                                 \
    X(11, accepted)                                                                                \
    X(12, step)                                                                                    \
    X(13, mandatory)                                                                               \
    X(14, by_user)                                                                                 \
    X(15, warned)                                                                                  \
    X(16, cause)

#define TIMING_MEMBERS(X)                                                                          \
    X(1, iteration_us)                                                                             \
    X(2, redistribution_us)                                                                        \
    X(3, processors)                                                                               \
    X(4, next)

#define BUFFER_MEMBERS(X)                                                                          \
    X(1, component)                                                                                \
    X(2, previous)                                                                                 \
    X(3, next)                                                                                     \
    X(4, due_previous)                                                                             \
    X(5, due_next)                                                                                 \
    X(6, deadline)                                                                                 \
    X(7, first_claim)                                                                              \
    X(8, last_claim)                                                                               \
    X(9, held)                                                                                     \
    X(10, requested)                                                                               \
    X(11, iteration)                                                                               \
    X(12, review_iteration)                                                                        \
    X(13, executions)                                                                              \
    X(14, requests)                                                                                \
    X(15, satisfied)                                                                               \
    X(16, due)                                                                                     \
    X(17, reserved)                                                                                \
    X(18, iteration_us)                                                                            \
    X(19, waited_us)                                                                               \
    X(20, counted_us)

#define INPUT_MEMBERS(X)                                                                           \
    X(1, bytes)                                                                                    \
    X(2, file)                                                                                     \
    X(3, site)                                                                                     \
    X(4, next)                                                                                     \
    X(5, reserved)

#define LINK_MEMBERS(X)                                                                            \
    X(1, bytes_per_s)                                                                              \
    X(2, from)                                                                                     \
    X(3, to)

#define DEADLINE_MEMBERS(X)                                                                        \
    X(1, time_us)                                                                                  \
    X(2, sequence)                                                                                 \
    X(3, payload)                                                                                  \
    X(4, handle)

/* field of DEADLINES besides the members of its entries */
enum { DEADLINE_WHERE = 100 };
/* fields of SIZE_LISTS and HISTORIES */
enum { LIST_LENGTHS = 1, LIST_VALUES = 2 };

#define COLUMN(type, number, member)                                                               \
    {number, sizeof(((struct type *)0)->member), offsetof(struct type, member)},
#define WIDTH(type, member) +sizeof(((struct type *)0)->member)

#define OF_COMPONENT(number, member) COLUMN(pleat_component, number, member)
#define OF_SITE(number, member) COLUMN(pleat_site, number, member)
#define OF_CLAIM(number, member) COLUMN(pleat_claim, number, member)
#define OF_PIECE(number, member) COLUMN(pleat_piece, number, member)
#define OF_RESIZE(number, member) COLUMN(pleat_resize, number, member)
#define OF_TIMING(number, member) COLUMN(pleat_timing, number, member)
#define OF_BUFFER(number, member) COLUMN(pleat_buffer, number, member)
#define OF_INPUT(number, member) COLUMN(pleat_input, number, member)
#define OF_LINK(number, member) COLUMN(pleat_link, number, member)
#define OF_DEADLINE(number, member) COLUMN(pleat_heap_entry, number, member)

static const struct column component_columns[] = {COMPONENT_MEMBERS(OF_COMPONENT){0}};
static const struct column site_columns[] = {SITE_MEMBERS(OF_SITE){0}};
static const struct column claim_columns[] = {CLAIM_MEMBERS(OF_CLAIM){0}};
static const struct column piece_columns[] = {PIECE_MEMBERS(OF_PIECE){0}};
static const struct column resize_columns[] = {RESIZE_MEMBERS(OF_RESIZE){0}};
static const struct column timing_columns[] = {TIMING_MEMBERS(OF_TIMING){0}};
static const struct column buffer_columns[] = {BUFFER_MEMBERS(OF_BUFFER){0}};
static const struct column input_columns[] = {INPUT_MEMBERS(OF_INPUT){0}};
static const struct column link_columns[] = {LINK_MEMBERS(OF_LINK){0}};
static const struct column deadline_columns[] = {DEADLINE_MEMBERS(OF_DEADLINE){0}};

/* Nothing of a record may be left out: the sum of its members is its size, less its padding. */
#define COMPONENT_WIDTH(number, member) WIDTH(pleat_component, member)
#define SITE_WIDTH(number, member) WIDTH(pleat_site, member)
#define CLAIM_WIDTH(number, member) WIDTH(pleat_claim, member)
#define PIECE_WIDTH(number, member) WIDTH(pleat_piece, member)
#define RESIZE_WIDTH(number, member) WIDTH(pleat_resize, member)
#define TIMING_WIDTH(number, member) WIDTH(pleat_timing, member)
#define INPUT_WIDTH(number, member) WIDTH(pleat_input, member)
#define LINK_WIDTH(number, member) WIDTH(pleat_link, member)
_Static_assert((0 COMPONENT_MEMBERS(COMPONENT_WIDTH)) == sizeof(struct pleat_component),
               "a member of pleat_component is not saved");
_Static_assert((0 SITE_MEMBERS(SITE_WIDTH)) == sizeof(struct pleat_site),
               "a member of pleat_site is not saved");
_Static_assert((0 CLAIM_MEMBERS(CLAIM_WIDTH)) + 2 == sizeof(struct pleat_claim),
               "a member of pleat_claim is not saved");
_Static_assert((0 PIECE_MEMBERS(PIECE_WIDTH)) == sizeof(struct pleat_piece),
               "a member of pleat_piece is not saved");
_Static_assert((0 RESIZE_MEMBERS(RESIZE_WIDTH)) + 3 == sizeof(struct pleat_resize),
               "a member of pleat_resize is not saved");
_Static_assert((0 TIMING_MEMBERS(TIMING_WIDTH)) == sizeof(struct pleat_timing),
               "a member of pleat_timing is not saved");
#define BUFFER_WIDTH(number, member) WIDTH(pleat_buffer, member)
_Static_assert((0 BUFFER_MEMBERS(BUFFER_WIDTH)) == sizeof(struct pleat_buffer),
               "a member of pleat_buffer is not saved");
_Static_assert((0 INPUT_MEMBERS(INPUT_WIDTH)) == sizeof(struct pleat_input),
               "a member of pleat_input is not saved");
_Static_assert((0 LINK_MEMBERS(LINK_WIDTH)) == sizeof(struct pleat_link),
               "a member of pleat_link is not saved");

/* State of its own that the core has besides its records. */
#define SCALAR_MEMBERS(X)                                                                          \
    X(1, view.now_us)                                                                              \
    X(2, view.queue_first)                                                                         \
    X(3, view.queue_last)                                                                          \
    X(4, view.reserved_first)                                                                      \
    X(5, view.queue_count)                                                                         \
    X(6, free_component)                                                                           \
    X(7, free_claim)                                                                               \
    X(8, free_piece)                                                                               \
    X(9, free_resize)                                                                              \
    X(10, first_position)                                                                          \
    X(11, last_position)                                                                           \
    X(12, wake)                                                                                    \
    X(13, next_id)                                                                                 \
    X(14, wants_pass)                                                                              \
    X(15, malleable)                                                                               \
    X(16, deadlines.free_handle)                                                                   \
    X(17, deadlines.next_sequence)                                                                 \
    X(18, view.holds)                                                                              \
    X(19, free_timing)                                                                             \
    X(20, free_buffer)                                                                             \
    X(21, view.reviews_first)                                                                      \
    X(22, reviews_last)                                                                            \
    X(23, view.evolves)                                                                            \
    X(24, free_input)                                                                              \
    X(25, open_lead)                                                                               \
    X(26, view.stages)                                                                             \
    X(27, view.several)                                                                            \
    X(28, view.wasted_us)

#define OF_CORE(number, member) COLUMN(pleat_core, number, member)
static const struct column scalar_columns[] = {SCALAR_MEMBERS(OF_CORE){0}};

struct section {
    uint16_t table, field;
    uint32_t width;
    uint64_t count;
};

/* Of 8 bytes at a time, as everything here is a multiple of that. */
static uint64_t checksum(const char *bytes, size_t size)
{
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i + 8 <= size; i += 8) {
        uint64_t word;
        memcpy(&word, bytes + i, sizeof(word));
        sum = (sum ^ word) * 0x100000001b3u;
        sum ^= sum >> 29; /* or the highest bits would never reach the lower ones */
    }
    return sum;
}

/* ---- writing ---- */

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

/* Free records keep what a refused submission had put there: that is no part of the state. */
static void save_components(struct pleat_string *out, const struct pleat_core *core)
{
    struct pleat_component free_one = *component_fresh();
    free_one.state = PLEAT_DONE;
    free_one.aside = 1;
    for (const struct column *column = component_columns; column->width; column++) {
        char *to =
            begin_section(out, COMPONENTS, column->number, column->width, core->components.count);
        for (size_t i = 0; to && i < core->components.count; i++) {
            const struct pleat_component *from = &core->components.items[i];
            if (pleat_state_is_final((enum pleat_state)from->state) && from->aside) {
                free_one.next = from->next;
                from = &free_one;
            }
            memcpy(to + i * column->width, (const char *)from + column->offset, column->width);
        }
    }
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
    uint64_t version = VERSION;
    pleat_string_add_bytes(out, magic, sizeof(magic));
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
    save_table(out, DEADLINES, deadline_columns, core->deadlines.entries,
               sizeof(struct pleat_heap_entry), core->deadlines.count);
    save_bytes(out, DEADLINES, DEADLINE_WHERE, core->deadlines.where, sizeof(uint32_t),
               core->deadlines.handles);
    save_table(out, BUFFERS, buffer_columns, core->buffers.items, sizeof(struct pleat_buffer),
               core->buffers.count);
    save_histories(out, core);
    begin_section(out, END, 0, 0, 0);
    uint64_t sum = out->failed ? 0 : checksum(out->text + begin, out->length - begin);
    pleat_string_add_bytes(out, (const char *)&sum, sizeof(sum));
    return out->failed ? PLEAT_E_NOMEM : 0;
}

/* ---- reading ---- */

struct loading {
    struct pleat_core *core;
    const uint32_t *lengths; /* of the lists of sizes, then of histories; not aligned to more than
                              * 8 */
    size_t lists;
};

static const struct column *find_column(const struct column *columns, uint16_t number)
{
    for (const struct column *column = columns; column->width; column++)
        if (column->number == number)
            return column;
    return NULL;
}

/* One member of `count` records, which are there. */
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

/* The first column of a table says how many records there are; fresh ones are made. */
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

static int load_components(struct pleat_core *core, const struct section *section,
                           const char *bytes)
{
    LOAD_TABLE(&core->components, component_columns, *component_fresh());
}

static int load_sites(struct pleat_core *core, const struct section *section, const char *bytes)
{
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

/* What a policy remembers: of another size it is another version's, and the policy begins anew. */
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
    case HISTORIES:
        return load_histories(loading, section, bytes);
    case TIMINGS:
        return load_timings(core, section, bytes);
    case INPUTS:
        return load_inputs(core, section, bytes);
    case LINKS:
        return load_links(core, section, bytes);
    default:
        return PLEAT_E_UNSUPPORTED;
    }
}

/* What is made from the rest: a tree's shape depends only on what is in it. */
static int rebuild(struct pleat_core *core)
{
    const struct pleat_component *all = core->components.items;
    bool keyed = core->pass.policies[PLEAT_ORDER]->key != NULL;
    uint32_t before, none = PLEAT_NONE;
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
    core_sync_view(core);
    return 0;
}

static int load(struct pleat_core *core, const char *bytes, size_t size)
{
    struct loading loading = {.core = core};
    size_t at = sizeof(magic) + sizeof(uint64_t);
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
    uint64_t version, sum, least = sizeof(magic) + sizeof(version) + sizeof(sum);
    if (size < least || size % 8 || memcmp(bytes, magic, sizeof(magic)))
        return PLEAT_E_CORRUPT;
    memcpy(&sum, bytes + size - sizeof(sum), sizeof(sum));
    if (sum != checksum(bytes, size - sizeof(sum)))
        return PLEAT_E_CORRUPT;
    memcpy(&version, bytes + sizeof(magic), sizeof(version));
    return version == VERSION ? 0 : PLEAT_E_UNSUPPORTED;
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
