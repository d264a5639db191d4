/* batch_claims.h - a site with a batch system: its allocations, their nodes, and what is said of
 * them.
 *
 * What an allocation's claims gave back while others still have the rest stays in the allocation:
 * only its job's growths get it.
 */
#ifndef PLEAT_SITE_BATCH_CLAIMS_H
#define PLEAT_SITE_BATCH_CLAIMS_H

#include <jansson.h>

#include "site/batch_adapter.h"
#include "site/claimbook.h"

enum {
    PLEAT_BATCH_NAME_ROOM = 129,  /* of a job's name */
    PLEAT_BATCH_HOST_ROOM = 256,  /* of a node's name */
    PLEAT_BATCH_PREFIX_ROOM = 80, /* of what the names of all its jobs begin with */
    PLEAT_BATCH_NODE_CPUS = 4096, /* more are not used of a node */
    PLEAT_BATCH_NODES = 4096,     /* of an allocation */
    PLEAT_BATCH_UNKNOWN = 65536   /* processors, until the cluster has said how many there are */
};

enum pleat_batch_state {
    PLEAT_BATCH_WANTED,   /* to be asked for */
    PLEAT_BATCH_ASKED,    /* asked for, not answered */
    PLEAT_BATCH_QUEUED,   /* a job that waits in the queue */
    PLEAT_BATCH_STARTING, /* it runs; its agent has not called */
    PLEAT_BATCH_HELD,     /* its claims have been given */
    PLEAT_BATCH_ADOPTED,  /* of the pleatd before; whether it is still there is not known yet */
    PLEAT_BATCH_ENDING,   /* to be given back */
    PLEAT_BATCH_STRAY     /* of the pleatd before, and nobody has asked for it yet */
};

/* A host of an allocation: a node of the site, with an agent of its own. */
struct pleat_batch_node {
    uint32_t number; /* of the site's nodes */
    bool given;      /* its number was told to somebody */
    bool called;     /* its agent was started */
    bool step_over;  /* what was started there has ended */
    bool watched;    /* the adapter that is there now tells when that ends */
    bool dead;       /* nothing can run there any more */
    int64_t
        away_us; /* HELD: since when its agent is not connected, as far as that counts; 0: it is */
    char host[PLEAT_BATCH_HOST_ROOM];
    struct pleat_claimbook book; /* of this node */
};

PLEAT_ARRAY(pleat_batch_node_list, struct pleat_batch_node);

struct pleat_batch_allocation {
    uint64_t number; /* for timers and requests */
    uint64_t owner;  /* number of the job for which it was asked; 0: not known */
    enum pleat_batch_state state;
    struct pleat_site_wish wish; /* what it was asked for; in ENDING: the claim to be answered */
    int64_t until_us;            /* the wish may wait until then */
    int64_t agent_until_us;      /* STARTING: its agents must have called by then */
    int64_t end_us;              /* the batch system ends it then; 0: never, or it is not known */
    int64_t leave_us;            /* before that nobody may be left there */
    bool numbered;               /* the numbers of its nodes are known: they are in its name */
    bool answers;                /* ENDING: RELEASED is due */
    bool asked;                  /* ENDING: a request to make it is not answered yet */
    bool releasing;              /* so is one to release it */
    bool seen;
    uint32_t first, room; /* its nodes' numbers: from `first` on, `room` are kept for it */
    uint32_t job;         /* the batch system's number; 0: not known */
    char name[PLEAT_BATCH_NAME_ROOM];
    char near[PLEAT_BATCH_HOST_ROOM];   /* a node that is asked for first; "": any */
    struct pleat_batch_node_list nodes; /* by number; none: nothing was given yet */
};

PLEAT_ARRAY(pleat_batch_allocations, struct pleat_batch_allocation *);
PLEAT_ARRAY(pleat_batch_numbers, uint32_t);

/* What the batch system offers this user, and what was last wrong: for people. */
struct pleat_batch_offer {
    json_t *cluster;         /* the answer to "cluster"; NULL: none yet */
    bool checked, may;       /* whether a job of one processor would be taken */
    char refusal[300];       /* why not */
    char trouble[300];       /* why the batch system cannot be asked */
    char agent_trouble[400]; /* why an allocation was last given back unused; "": it never was */
    int64_t agents;          /* that have called */
};

struct pleat_batch_site {
    struct pleat_site_instance base;
    const struct pleat_host *host;
    const struct pleat_batch_kind *kind;
    const struct pleat_batch_options *options; /* the first of the kind's own */
    struct pleat_batch_adapter *adapter;
    uint32_t index;
    int32_t processors, threshold, capacity, largest; /* largest: CPUs of a node; 0: not known */
    int64_t total; /* CPUs of all nodes, also those that are down; 0: not known */
    int32_t partition_cpus;
    json_t *hosts;     /* of the last answer about nodes; NULL: there was none */
    int64_t hosts_us;  /* when that came */
    json_t *shut;      /* names of nodes on which nothing new is claimed; NULL: none */
    bool synced;       /* what is there was compared with what the batch system has */
    bool asking_nodes; /* not answered yet */
    bool silent;       /* people were told that it cannot be reached */
    void (*on_time)(void *site, uint64_t number); /* looks after that allocation */
    struct pleat_batch_offer offer;
    char prefix[PLEAT_BATCH_PREFIX_ROOM];
    uint64_t next_number;
    struct pleat_batch_allocations allocations;
    struct pleat_batch_numbers agents; /* of nodes whose agents are connected */
};

/* Asks what the batch system offers; `told` is called with each answer to "cluster". */
void pleat_batch_offer_ask(struct pleat_batch_site *site, pleat_batch_answered *told);
/* {"title", "adapter", "answers", "trouble", "cluster", "version", "part", "partitions", "may",
 * "refusal", "agents", "agent_trouble"}; null: not known. To be released by the caller. */
json_t *pleat_batch_offer_json(const struct pleat_batch_site *site);

/* ---- what there is ---- */

struct pleat_batch_allocation *pleat_batch_new(struct pleat_batch_site *site,
                                               enum pleat_batch_state state);
/* Forgets it. */
void pleat_batch_remove(struct pleat_batch_site *site, struct pleat_batch_allocation *one);
/* NULL: there is none. */
struct pleat_batch_allocation *pleat_batch_of_number(struct pleat_batch_site *site,
                                                     uint64_t number);
struct pleat_batch_allocation *pleat_batch_of_job(struct pleat_batch_site *site, uint32_t job);
/* *node (unless NULL): that node of it; NULL: the allocation has not been given yet. */
struct pleat_batch_allocation *pleat_batch_of_node(struct pleat_batch_site *site, uint32_t number,
                                                   struct pleat_batch_node **node);
struct pleat_batch_allocation *pleat_batch_of_claim(struct pleat_batch_site *site, uint64_t id);
/* How many nodes an allocation for it may have. */
uint32_t pleat_batch_room(const struct pleat_site_wish *wish);
/* Keeps `room` numbers in a row for it that no other one has, nor an agent that still lives: the
 * lowest that there are. */
void pleat_batch_number_nodes(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                              uint32_t room);
/* Whether nothing new is to be claimed on that node. */
bool pleat_batch_is_shut(const struct pleat_batch_site *site, const char *host);
bool pleat_batch_has_shut_node(const struct pleat_batch_site *site,
                               const struct pleat_batch_allocation *one);
bool pleat_batch_agent_is_there(const struct pleat_batch_site *site, uint32_t node);
bool pleat_batch_agents_are_there(const struct pleat_batch_site *site,
                                  const struct pleat_batch_allocation *one);
void pleat_batch_note_agent(struct pleat_batch_site *site, uint32_t node, bool there);
/* Its nodes for people: "a1", "a1 and a2", "a1 and 7 others". Until the next call. */
const char *pleat_batch_hosts(const struct pleat_batch_allocation *one);

/* ---- what is said ---- */

void pleat_batch_say(const struct pleat_batch_site *site, const char *format, ...)
    PLEAT_PRINTF(2, 3);
void pleat_batch_say_claim(const struct pleat_batch_site *site, uint16_t kind, uint64_t id,
                           uint32_t index, int32_t count, enum pleat_reason reason);
/* Tells the users of all jobs that have or want processors of it, or, with `node`, of that one. */
void pleat_batch_tell(const struct pleat_batch_site *site, const struct pleat_batch_allocation *one,
                      const struct pleat_batch_node *node, const char *format, ...)
    PLEAT_PRINTF(4, 5);
/* CLAIM_ENDS of all its claims: when the batch system ends it, if that was told. */
void pleat_batch_say_end(const struct pleat_batch_site *site,
                         const struct pleat_batch_allocation *one);
/* PIECEs and CLAIMED of a claim, and CLAIM_ENDS. */
void pleat_batch_announce(const struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                          uint64_t claim);
/* CLAIM_WAITS; start_s: its estimate, seconds since 1970; 0: none. */
void pleat_batch_say_waits(const struct pleat_batch_site *site,
                           const struct pleat_batch_allocation *one, enum pleat_claim_wait why,
                           int64_t start_s);
/* LOST of all claims that have something of that node, which they have not any more; NULL: of all
 * its nodes. */
void pleat_batch_say_lost(const struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                          const struct pleat_batch_node *node);
/* NODE_GONE of each of its nodes that was told. */
void pleat_batch_say_gone(const struct pleat_batch_site *site,
                          const struct pleat_batch_allocation *one);

#endif
