/* site.h - the interface of sites: whatever gives processors, such as this machine or a batch
 * system.
 *
 * A call only accepts a request: it returns 0, or a negative code with nothing begun. The result
 * comes once, as an event through the host, which queues it: the core never gets it inside the
 * call.
 *   claim    -> CLAIM_WAITS*, then PIECE* CLAIMED (its count may be less than asked) |
 *               CLAIM_FAILED (reason). Where nodes come with claims, before that a NODE for each
 *               node that came (PLEAT_NODE_LENT)
 *   release  -> RELEASED, also when the claim was not granted yet (a CLAIMED may still come before)
 *   open     -> SITE, and a NODE for each node where there are several
 *   any time -> CLAIM_ENDS (until when the processors of a claim are lent, or, sooner than was
 *               said, until when they are left: PLEAT_REASON_TAKEN),
 *               NODE_MORE, NODE_HOME (of nodes that came with claims),
 *               NODE_GONE (a node of a site that brings agents: after LOST or RELEASED of all its
 *               claims), LOST (the claim is gone already; a release of it is still answered),
 *               SITE (capacity), BACKGROUND
 * A site answers a claim within the time that is configured (claim_s), or emits CLAIM_WAITS: why
 * the claim waits, until when it may wait, and when it may be given. The event is repeated when one
 * of these changes. A claim that is not given in time is released. Repeating a claim or release of
 * the same id (after a restart) changes nothing, and is answered again. CLAIM_FAILED has one of
 * three reasons: "cannot" (PLEAT_REASON_CLAIM_CANNOT: it will never be possible), "refused" (not
 * now), "failed" (something broke). tests/conformance/site.c runs over every site.
 */
#ifndef PLEAT_SITE_SITE_H
#define PLEAT_SITE_SITE_H

#include <stdbool.h>

#include "model/host.h"
#include "site/option.h"

enum pleat_site_capability {
    PLEAT_SITE_SPLITS = 1, /* part of a claim can be given back */
    PLEAT_SITE_GROWS = 2,  /* a running job can get further claims */
    /* its nodes come with claims, and it starts their agents itself (host->agent_call). Nodes are
     * numbered by the site; a claim is told CLAIMED when the agents of all its nodes are there */
    PLEAT_SITE_BRINGS_AGENTS = 4
};

/* What sites of all kinds have. */
struct pleat_site_options {
    const char *name;
    uint32_t index;     /* the site's index in the core */
    int32_t processors; /* 0: all processors that it has */
    int32_t threshold;  /* processors that growing leaves free */
    const void *own;    /* options of its kind (pleat_site_ops.options); NULL: as usual. Borrowed
                         * until close */
    /* Letters and digits that identify this pleatd, for the names of what the site makes elsewhere.
     * NULL: there is no other pleatd */
    const char *instance;
};

/* What a site hands out of pleatd's own machine. */
struct pleat_site_here {
    uint32_t nodes; /* nodes whose agents pleatd starts, numbered from 0 */
    bool over_tcp;  /* these agents connect as agents of other machines would */
    char *cpus;     /* CPUs of the slots, in their order, those of node 0 first; NULL: not told.
                     * Part of the options */
};

/* Processors of one node that are asked for. */
struct pleat_site_part {
    uint32_t node;
    int32_t count;
};

/* Processors that are asked for. A site may ignore members that it cannot use. */
struct pleat_site_wish {
    uint64_t id; /* of the claim */
    uint32_t index;
    int32_t count;
    enum pleat_purpose purpose; /* RUN, GROWTH or BUFFER: a growth should not wait for long */
    uint64_t job;               /* number of the job, for people */
    /* id of a claim of the same job, next to whose processors the new ones should be; 0: none */
    uint64_t beside;
    bool on_one_node; /* all on one node: that of `beside`, if there is one */
    /* the job's processes stay on the node with this number, and are told which CPUs to use: CPUs
     * of other nodes that are the same host will do for a growth */
    bool stays;
    uint32_t stays_on;
    bool anew; /* none that the site has for the job already, since these end soon */
    /* For each node: processors without which other jobs there cannot go on. These are the last to
     * be given. NULL: none on any node. */
    const int32_t *wanted;
    /* A growth for processes that stay on their nodes: so many on each of these, `count` together,
     * and none elsewhere, or fewer. NULL: the site chooses. Only for the call */
    const struct pleat_site_part *parts;
    size_t part_count;
};

/* A claim that the core holds, for a site that is opened after a restart. */
struct pleat_site_claim {
    uint64_t id;
    uint32_t index;
    int32_t count;
    const struct pleat_piece *pieces; /* piece_count of them; `next` is not used */
    uint32_t piece_count;
    uint64_t job;  /* number of the job that has it; 0: not known */
    bool stays;    /* as in a wish, if its processes are on one node */
    bool is_guest; /* its node is the same host as another one, where these processes are */
};

struct pleat_site_instance {
    const struct pleat_site_ops *ops;
};

/* What a site's batch system said of its nodes when it was asked last. */
struct pleat_site_nodes {
    /* [{"name", "processors", "used" (by this site), "background" (by others), "free", "state"}];
     * NULL: it has not said anything yet. To be released by the caller */
    struct json_t *list;
    /* What it offers this user: see pleat_batch_offer_json; NULL: it has none. To be released by
     * the caller */
    struct json_t *offer;
    int64_t at_us; /* when it was asked */
    bool asked;    /* it is being asked again now */
};

struct pleat_site_ops {
    const char *name; /* kind: "local", ... */
    unsigned capabilities;
    const struct pleat_site_option *options; /* options of this kind; NULL: it has none */
    size_t own_size;                         /* size of the struct that has these options */
    /* Checks options against each other, and completes them; NULL: there is nothing to check.
     * PLEAT_E_INVALID: err says what is wrong. */
    int (*settle)(struct pleat_site_options *options, struct pleat_error *err);
    /* Fills *here from the options (`own`); NULL: this machine is its only node, or, if it brings
     * its agents, no node of it. */
    void (*here)(const void *own, struct pleat_site_here *here);
    /* Opens a site, and emits a SITE event with its capacity. The host is borrowed until close. */
    int (*open)(const struct pleat_site_options *options, const struct pleat_host *host,
                struct pleat_site_instance **site, struct pleat_error *err);
    /* Measures capacity and background now; emits events where they changed. */
    int (*probe)(struct pleat_site_instance *site, struct pleat_error *err);
    int (*claim)(struct pleat_site_instance *site, const struct pleat_site_wish *wish,
                 struct pleat_error *err);
    /* Moves the last `count` processors of a held claim to the claim `into`. Emits no event. */
    int (*split)(struct pleat_site_instance *site, uint64_t id, uint64_t into, uint32_t into_index,
                 int32_t count, struct pleat_error *err);
    int (*release)(struct pleat_site_instance *site, uint64_t id, uint32_t index,
                   struct pleat_error *err);
    /* Takes over a claim that the core holds. Emits no event, or LOST if the claim is gone. */
    int (*adopt)(struct pleat_site_instance *site, const struct pleat_site_claim *claim,
                 struct pleat_error *err);
    /* The agent of a node has called pleatd, or its connection is gone; NULL: the site need not
     * know. After a restart of pleatd the agents that live call again. */
    void (*agent)(struct pleat_site_instance *site, uint32_t node, bool there);
    /* The agent of a node is connected and does not answer: its node is to be given up, as if it
     * were lost. NULL for sites whose agents pleatd starts. */
    void (*end_node)(struct pleat_site_instance *site, uint32_t node);
    /* Gives what is known of the nodes of its batch system, for which `probe` asks; NULL: it has
     * none. */
    void (*nodes)(const struct pleat_site_instance *site, struct pleat_site_nodes *nodes);
    /* Nothing is claimed on a node from now on, or again; what is held stays. NULL: its nodes are
     * told by no NODE event. */
    void (*shut_node)(struct pleat_site_instance *site, uint32_t node, bool shut);
    /* The nodes of its batch system, by name, on which nothing is claimed from now on: a list of
     * texts, which is copied. What is held or asked for stays. NULL: it has no such nodes. */
    void (*shut_hosts)(struct pleat_site_instance *site, const struct json_t *names);
    /* Whether nothing of the site is left anywhere, once it has no claims: a site that is to go is
     * closed then. NULL: the site leaves nothing. */
    bool (*rests)(const struct pleat_site_instance *site);
    /* Frees the site; emits no event. Claims in a batch system stay. Accepts NULL. */
    void (*close)(struct pleat_site_instance *site);
};

/* The kinds that there are. */
#define SITE(kind) extern const struct pleat_site_ops pleat_site_##kind;
#include "site/kinds.def"
#undef SITE

/* The site's operations by kind (kinds.c); NULL: there is no such kind. */
const struct pleat_site_ops *pleat_site_find(const char *kind);
/* The kinds in the order of the table; NULL: there are not as many. */
const struct pleat_site_ops *pleat_site_kind_at(size_t index);
/* Appends the names of all kinds for people, as in "local or slurm". */
void pleat_site_kinds_add(struct pleat_string *text);

#endif
