#include "policy/buffers.h"

#include "policy/home.h"
#include "policy/view_size.h"

int32_t pleat_view_buffer_room(const struct pleat_view *view,
                               const struct pleat_component *component)
{
    int32_t size =
        component->target > component->processors ? component->target : component->processors;
    int32_t room = pleat_view_limit(view, component) - size - pleat_view_buffered(view, component);
    if (view->prepares && component->buffer != PLEAT_NONE)
        room -= view->buffers[component->buffer].leaving; /* they may be taken yet */
    return room > 0 ? room : 0;
}

uint32_t pleat_view_claim_architecture(const struct pleat_view *view,
                                       const struct pleat_claim *claim)
{
    if (claim->state == PLEAT_CLAIM_REQUESTED)
        return claim->architecture;
    const struct pleat_component *component = &view->components[claim->component];
    uint32_t number = claim->first_piece != PLEAT_NONE ? view->pieces[claim->first_piece].node
                                                       : component->lead_node;
    const struct pleat_node *node = pleat_view_node(view, claim->site, number);
    return node ? node->architecture : 0;
}

/* What there is for the requests that wait: prepared, or on its way. */
struct stock {
    int64_t on[PLEAT_ARCHITECTURES]; /* by architecture; 0: not known */
};

static struct stock stock_of(const struct pleat_view *view, const struct pleat_buffer *buffer)
{
    struct stock stock = {{0}};
    for (uint32_t c = buffer->first_claim; c != PLEAT_NONE; c = view->claims[c].next) {
        const struct pleat_claim *claim = &view->claims[c];
        if (claim->state == PLEAT_CLAIM_REQUESTED || claim->process != PLEAT_KEPT_UNPREPARING)
            stock.on[pleat_view_claim_architecture(view, claim)]++;
    }
    return stock;
}

static int32_t within(int64_t count)
{
    return count <= 0 ? 0 : count < PLEAT_SIZE_MAX ? (int32_t)count : PLEAT_SIZE_MAX;
}

/* Requests that wait and take a process on any node, or on any of the run's architecture. */
static int64_t others_waiting(const struct pleat_buffer *buffer)
{
    int64_t waiting = buffer->waiting;
    for (uint32_t a = 1; a < PLEAT_ARCHITECTURES; a++)
        waiting -= buffer->waiting_on[a];
    return waiting > 0 ? waiting : 0;
}

/* What is left of the stock when those are served that need a certain architecture: of what suits
 * the others, or of what does not. */
static int64_t left_of(const struct stock *stock, const struct pleat_buffer *buffer, bool suiting)
{
    int64_t left = suiting ? stock->on[0] : 0;
    for (uint32_t a = 1; a < PLEAT_ARCHITECTURES; a++) {
        int64_t rest = stock->on[a] - buffer->waiting_on[a];
        bool suits = buffer->architecture == 0 || buffer->architecture == a;
        left += rest > 0 && suits == suiting ? rest : 0;
    }
    return left;
}

static bool is_plain(const struct pleat_buffer *buffer)
{
    return buffer->architecture == 0 && !pleat_view_waits_on(buffer);
}

int32_t pleat_view_lacking_on(const struct pleat_view *view, const struct pleat_buffer *buffer,
                              uint32_t architecture)
{
    if (is_plain(buffer))
        return architecture == 0
                   ? within((int64_t)buffer->waiting - buffer->prepared - buffer->requested)
                   : 0;
    struct stock stock = stock_of(view, buffer);
    if (architecture > 0)
        return within((int64_t)buffer->waiting_on[architecture] - stock.on[architecture]);
    return within(others_waiting(buffer) - left_of(&stock, buffer, true));
}

int32_t pleat_view_lacking(const struct pleat_view *view, const struct pleat_buffer *buffer)
{
    int64_t sum = 0;
    for (uint32_t a = 0; a < PLEAT_ARCHITECTURES; a++)
        sum += a == 0 || buffer->waiting_on[a] > 0 ? pleat_view_lacking_on(view, buffer, a) : 0;
    return within(sum);
}

int32_t pleat_view_spare(const struct pleat_view *view, const struct pleat_buffer *buffer)
{
    if (is_plain(buffer))
        return within((int64_t)buffer->prepared + buffer->requested - buffer->waiting);
    struct stock stock = stock_of(view, buffer);
    return within(within(left_of(&stock, buffer, true) - others_waiting(buffer)) +
                  left_of(&stock, buffer, false));
}

struct pleat_buffered_on pleat_view_buffered_on(const struct pleat_view *view,
                                                const struct pleat_buffer *buffer, uint32_t node)
{
    struct pleat_buffered_on sum = {0};
    for (uint32_t c = buffer->first_claim; c != PLEAT_NONE; c = view->claims[c].next) {
        const struct pleat_claim *claim = &view->claims[c];
        if (claim->state != PLEAT_CLAIM_HELD || claim->first_piece == PLEAT_NONE ||
            view->pieces[claim->first_piece].node != node)
            continue;
        sum.prepared += claim->process == PLEAT_KEPT_WAITING;
        sum.leaving += claim->process == PLEAT_KEPT_UNPREPARING;
    }
    return sum;
}

/* The first row of an iteration that is not before `iteration`. */
static size_t row_of(const struct pleat_history *history, int64_t iteration)
{
    size_t low = 0, high = history->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (history->items[middle].iteration < iteration)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int64_t pleat_view_requested(const struct pleat_view *view, const struct pleat_component *component,
                             int64_t from, int64_t to)
{
    int64_t sum = 0;
    if (component->buffer == PLEAT_NONE)
        return 0;
    const struct pleat_history *history = &view->histories[component->buffer];
    for (size_t i = row_of(history, from); i < history->count && history->items[i].iteration <= to;
         i++)
        sum += history->items[i].requests;
    return sum;
}
