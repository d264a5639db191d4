/* state.h - the state of the core: its records, lists and deadlines */
#ifndef PLEAT_CORE_STATE_H
#define PLEAT_CORE_STATE_H

#include "base/heap.h"
#include "base/tree.h"
#include "core/core.h"
#include "policy/accept.h"
#include "policy/buffers.h"
#include "policy/estimates.h"
#include "policy/files.h"
#include "policy/nodes.h"
#include "policy/siblings.h"

PLEAT_ARRAY(pleat_component_array, struct pleat_component);
PLEAT_ARRAY(pleat_site_array, struct pleat_site);
PLEAT_ARRAY(pleat_claim_array, struct pleat_claim);
PLEAT_ARRAY(pleat_piece_array, struct pleat_piece);
PLEAT_ARRAY(pleat_resize_array, struct pleat_resize);
PLEAT_ARRAY(pleat_size_list_array, struct pleat_size_list);
PLEAT_ARRAY(pleat_timing_array, struct pleat_timing);
PLEAT_ARRAY(pleat_buffer_array, struct pleat_buffer);
PLEAT_ARRAY(pleat_history_array, struct pleat_history);
PLEAT_ARRAY(pleat_outpost_array, struct pleat_outpost);
PLEAT_ARRAY(pleat_input_array, struct pleat_input);
PLEAT_ARRAY(pleat_link_array, struct pleat_link);
PLEAT_ARRAY(pleat_node_array, struct pleat_node);
PLEAT_ARRAY(pleat_dependency_array, struct pleat_dependency);
PLEAT_ARRAY(pleat_group_array, struct pleat_group);
PLEAT_ARRAY(pleat_roots, uint32_t);

/* Kinds of records beside those of components, which only some have: core/side.h. */
enum side { SIDE_TERMS, SIDE_FOLDING, SIDE_DECLARATION, SIDE_COALLOCATION, SIDE_ASK, SIDE_COUNT };

struct side_records {
    char *items;
    size_t count, capacity;
    uint32_t free; /* PLEAT_NONE: all are in use */
};

/* What is added here must be saved, too: see save_columns.c. */
struct pleat_core {
    struct pleat_view view; /* its pointers follow the arrays below: core_sync_view */
    struct pleat_component_array components;
    struct side_records sides[SIDE_COUNT];
    struct pleat_site_array sites;
    struct pleat_claim_array claims;
    struct pleat_piece_array pieces;
    struct pleat_resize_array resizes;
    struct pleat_size_list_array size_lists;
    struct pleat_timing_array timings;
    struct pleat_buffer_array buffers;
    struct pleat_history_array histories; /* by buffer */
    struct pleat_outpost_array outposts;  /* the first free record is used next */
    struct pleat_input_array inputs;
    struct pleat_link_array links; /* sorted by (from, to) */
    struct pleat_node_array nodes; /* sorted by (site, node) */
    struct pleat_dependency_array dependencies;
    struct pleat_group_array groups;
    uint32_t reviews_last;                /* the last of the buffers whose review is due */
    uint32_t decided_first, decided_last; /* dependencies, settled before the call returns */
    /* free records, by their `next` (resize: `waiter`) */
    uint32_t free_component, free_claim, free_piece, free_resize, free_timing, free_buffer,
        free_input, free_dependency, free_group;
    uint32_t open_lead;  /* lead of the job whose last component has not come yet; PLEAT_NONE */
    uint32_t queue_root; /* PLEAT_NONE: in order of arrival, which needs no tree */
    /* trees of waiting components in the queue, and of running ones by their ends */
    struct pleat_tree places;
    struct pleat_roots ends_roots;         /* per site */
    int64_t first_position, last_position; /* positions given out in the queue */
    uint64_t notes;                        /* NOTE effects that are wanted: pleat_note_bit */
    struct pleat_heap deadlines;
    uint64_t next_id;
    uint32_t wake; /* handle of the policies' wake-up */
    /* handle of when the next node with too many errors is considered again; PLEAT_HEAP_NONE */
    uint32_t nodes_again;
    /* passes in succession, with nothing between them but time and promises */
    uint32_t idle_passes;
    bool keeps_ends;
    bool wants_pass;
    /* when the pass that is wanted may be made, if policies decide at some times only
     * (PLEAT_PARAM_DECIDE_US); PLEAT_NEVER: none is wanted */
    int64_t pass_us;
    bool decides_at_times; /* as configured */
    /* in the pass under way: components that were placed before have claimed their processors,
     * which its policies took for free */
    bool overtaken;
    bool observed; /* some policy in force observes */
    bool settles;  /* the policies in force that start components all settle: see pleat_policy */
    struct pleat_plan plan;
    struct pleat_pass pass; /* what policies get, and which are in force; made once */
    void *states[PLEAT_QUESTION_COUNT];
    int64_t parameters[PLEAT_PARAM_COUNT];
    uint64_t operations;
    struct pleat_effects *out; /* of the call under way */
    int failed;                /* out of memory in the call under way */
    unsigned needs;            /* PLEAT_NEEDS_* of the policies in force */
};

static inline struct pleat_component *component_at(struct pleat_core *core, uint32_t index)
{
    return &core->components.items[index];
}

static inline struct pleat_site *site_at(struct pleat_core *core, uint32_t index)
{
    return &core->sites.items[index];
}

static inline struct pleat_claim *claim_at(struct pleat_core *core, uint32_t index)
{
    return &core->claims.items[index];
}

static inline struct pleat_resize *resize_at(struct pleat_core *core, uint32_t index)
{
    return &core->resizes.items[index];
}

static inline int64_t now_of(const struct pleat_core *core)
{
    return core->view.now_us;
}

#endif
