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

int32_t pleat_view_elsewhere(const struct pleat_view *view, const struct pleat_component *component,
                             bool all)
{
    int32_t sum = 0;
    if (view->outpost_count == 0 || component->buffer == PLEAT_NONE)
        return 0;
    uint32_t first = view->buffers[component->buffer].outposts;
    for (uint32_t o = first ? first - 1 : PLEAT_NONE; o != PLEAT_NONE; o = view->outposts[o].next)
        sum += all ? pleat_outpost_processors(&view->outposts[o]) : view->outposts[o].taken;
    return sum;
}

int32_t pleat_view_prepared_at(const struct pleat_view *view, const struct pleat_buffer *buffer,
                               uint32_t site)
{
    const struct pleat_outpost *there = pleat_view_outpost(view, buffer, site);
    int32_t sum = buffer->prepared;
    if (there)
        return there->prepared;
    for (uint32_t o = buffer->outposts ? buffer->outposts - 1 : PLEAT_NONE; o != PLEAT_NONE;
         o = view->outposts[o].next)
        sum -= view->outposts[o].prepared;
    return sum;
}

uint32_t pleat_view_claim_node(const struct pleat_view *view, const struct pleat_claim *claim)
{
    const struct pleat_component *component = &view->components[claim->component];
    if (claim->first_piece != PLEAT_NONE)
        return view->pieces[claim->first_piece].node;
    return claim->site == component->site ? component->lead_node : 0;
}

uint32_t pleat_view_claim_architecture(const struct pleat_view *view,
                                       const struct pleat_claim *claim)
{
    if (claim->state == PLEAT_CLAIM_REQUESTED)
        return claim->architecture;
    const struct pleat_node *node =
        pleat_view_node(view, claim->site, pleat_view_claim_node(view, claim));
    return node ? node->architecture : 0;
}

/* What is said of a site, or of all that are not told apart: requests that wait for it, and what
 * there is for them, prepared or on its way. */
struct stock {
    int64_t waiting;
    const uint32_t *waiting_on;      /* part of waiting, by architecture */
    uint32_t architecture;           /* of the nodes on which all others can be; 0: any */
    int64_t on[PLEAT_ARCHITECTURES]; /* by architecture; 0: not known */
};

/* Requests that wait and can be served at any site. More than wait at all there are not: both are
 * said one after the other. */
static int64_t waiting_anywhere(const struct pleat_buffer *buffer)
{
    return buffer->anywhere < buffer->waiting ? buffer->anywhere : buffer->waiting;
}

/* Without what there is, and without requests that any site can serve. */
static struct stock demand_at(const struct pleat_view *view, const struct pleat_buffer *buffer,
                              uint32_t site)
{
    const struct pleat_outpost *there = pleat_view_outpost(view, buffer, site);
    if (there)
        return (struct stock){.waiting = there->waiting,
                              .waiting_on = there->waiting_on,
                              .architecture = buffer->architecture};
    struct stock stock = {.waiting = buffer->waiting - waiting_anywhere(buffer),
                          .waiting_on = buffer->waiting_on,
                          .architecture = buffer->architecture};
    for (uint32_t o = buffer->outposts ? buffer->outposts - 1 : PLEAT_NONE; o != PLEAT_NONE;
         o = view->outposts[o].next)
        stock.waiting -= view->outposts[o].waiting;
    return stock;
}

/* held: only what is there, not what its site was asked for */
static struct stock stock_of(const struct pleat_view *view, const struct pleat_buffer *buffer,
                             uint32_t site, bool held)
{
    struct stock stock = demand_at(view, buffer, site);
    for (uint32_t c = buffer->first_claim; c != PLEAT_NONE; c = view->claims[c].next) {
        const struct pleat_claim *claim = &view->claims[c];
        if (claim->site == site &&
            (claim->state == PLEAT_CLAIM_REQUESTED ? !held
                                                   : claim->process != PLEAT_KEPT_UNPREPARING))
            stock.on[pleat_view_claim_architecture(view, claim)]++;
    }
    return stock;
}

static int32_t within(int64_t count)
{
    return count <= 0 ? 0 : count < PLEAT_SIZE_MAX ? (int32_t)count : PLEAT_SIZE_MAX;
}

/* Requests that wait and take a process on any node, or on any of the run's architecture. */
static int64_t others_waiting(const struct stock *stock)
{
    int64_t waiting = stock->waiting;
    for (uint32_t a = 1; a < PLEAT_ARCHITECTURES; a++)
        waiting -= stock->waiting_on[a];
    return waiting > 0 ? waiting : 0;
}

/* What is left of the stock when those are served that need a certain architecture: of what suits
 * the others, or of what does not. */
static int64_t left_of(const struct stock *stock, bool suiting)
{
    int64_t left = suiting ? stock->on[0] : 0;
    for (uint32_t a = 1; a < PLEAT_ARCHITECTURES; a++) {
        int64_t rest = stock->on[a] - stock->waiting_on[a];
        bool suits = stock->architecture == 0 || stock->architecture == a;
        left += rest > 0 && suits == suiting ? rest : 0;
    }
    return left;
}

static bool is_plain(const struct pleat_buffer *buffer)
{
    return buffer->architecture == 0 && buffer->outposts == 0 && buffer->anywhere == 0 &&
           !pleat_view_waits_on(buffer);
}

/* How many of the requests that wait lack a process, of a buffer that is plain. */
static int32_t plainly_lacking(const struct pleat_view *view, const struct pleat_buffer *buffer)
{
    int64_t theirs =
        view->buffer_own ? (int64_t)buffer->own : (int64_t)buffer->prepared + buffer->requested;
    return within((int64_t)buffer->waiting - theirs);
}

/* What suits of a site, and no request waits for that only this site can serve. */
static int64_t suiting_surplus(const struct pleat_view *view, const struct pleat_buffer *buffer,
                               uint32_t site, bool held)
{
    const struct stock stock = stock_of(view, buffer, site, held);
    return within(left_of(&stock, true) - others_waiting(&stock));
}

/* How much of the surplus of a site is for requests that any site can serve; with PLEAT_NONE, of
 * that of all sites. What is there serves them before what is on its way, and of each the
 * component's own site before others. */
static int64_t for_any(const struct pleat_view *view, const struct pleat_buffer *buffer,
                       uint32_t site)
{
    int64_t left = waiting_anywhere(buffer), sum = 0;
    for (int coming = 0; coming < 2 && left > 0; coming++) {
        uint32_t at = view->components[buffer->component].site;
        uint32_t next = buffer->outposts ? buffer->outposts - 1 : PLEAT_NONE;
        for (;;) {
            int64_t held = suiting_surplus(view, buffer, at, true);
            int64_t serves = coming ? suiting_surplus(view, buffer, at, false) - held : held;
            serves = serves < left ? serves : left;
            left -= serves;
            sum += at == site || site == PLEAT_NONE ? serves : 0;
            if (next == PLEAT_NONE)
                break;
            at = view->outposts[next].site;
            next = view->outposts[next].next;
        }
    }
    return sum;
}

int32_t pleat_view_lacking_any(const struct pleat_view *view, const struct pleat_buffer *buffer)
{
    return buffer->anywhere == 0
               ? 0
               : within(waiting_anywhere(buffer) - for_any(view, buffer, PLEAT_NONE));
}

const struct pleat_outpost *pleat_view_next_for_any(const struct pleat_view *view,
                                                    const struct pleat_buffer *buffer,
                                                    uint32_t rank)
{
    const struct pleat_outpost *best = NULL;
    for (uint32_t o = buffer->outposts ? buffer->outposts - 1 : PLEAT_NONE; o != PLEAT_NONE;
         o = view->outposts[o].next)
        if (view->outposts[o].rank > rank && (!best || view->outposts[o].rank < best->rank))
            best = &view->outposts[o];
    return best;
}

int32_t pleat_view_lacking_at(const struct pleat_view *view, const struct pleat_buffer *buffer,
                              uint32_t site, uint32_t architecture)
{
    if (is_plain(buffer))
        return architecture == 0 ? plainly_lacking(view, buffer) : 0;
    struct stock stock = stock_of(view, buffer, site, false);
    if (architecture > 0)
        return within((int64_t)stock.waiting_on[architecture] - stock.on[architecture]);
    return within(others_waiting(&stock) - left_of(&stock, true));
}

int32_t pleat_view_lacking_on(const struct pleat_view *view, const struct pleat_buffer *buffer,
                              uint32_t architecture)
{
    return pleat_view_lacking_at(view, buffer, view->components[buffer->component].site,
                                 architecture);
}

/* Of all that wait for a site. */
static int64_t lacking_there(const struct pleat_view *view, const struct pleat_buffer *buffer,
                             uint32_t site)
{
    const struct stock stock = demand_at(view, buffer, site);
    int64_t sum = 0;
    for (uint32_t a = 0; a < PLEAT_ARCHITECTURES; a++)
        sum += a == 0 || stock.waiting_on[a] > 0 ? pleat_view_lacking_at(view, buffer, site, a) : 0;
    return sum;
}

int32_t pleat_view_lacking(const struct pleat_view *view, const struct pleat_buffer *buffer)
{
    int64_t sum = lacking_there(view, buffer, view->components[buffer->component].site);
    for (uint32_t o = buffer->outposts ? buffer->outposts - 1 : PLEAT_NONE; o != PLEAT_NONE;
         o = view->outposts[o].next)
        sum += lacking_there(view, buffer, view->outposts[o].site);
    return within(sum + pleat_view_lacking_any(view, buffer));
}

int32_t pleat_view_spare_at(const struct pleat_view *view, const struct pleat_buffer *buffer,
                            uint32_t site)
{
    if (is_plain(buffer))
        return within((int64_t)buffer->prepared + buffer->requested - buffer->waiting);
    struct stock stock = stock_of(view, buffer, site, false);
    return within(suiting_surplus(view, buffer, site, false) - for_any(view, buffer, site) +
                  left_of(&stock, false));
}

int32_t pleat_view_spare(const struct pleat_view *view, const struct pleat_buffer *buffer)
{
    return pleat_view_spare_at(view, buffer, view->components[buffer->component].site);
}

struct pleat_buffered_on pleat_view_buffered_on(const struct pleat_view *view,
                                                const struct pleat_buffer *buffer, uint32_t site,
                                                uint32_t node)
{
    struct pleat_buffered_on sum = {0};
    for (uint32_t c = buffer->first_claim; c != PLEAT_NONE; c = view->claims[c].next) {
        const struct pleat_claim *claim = &view->claims[c];
        if (claim->state != PLEAT_CLAIM_HELD || claim->site != site ||
            claim->first_piece == PLEAT_NONE || view->pieces[claim->first_piece].node != node)
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
