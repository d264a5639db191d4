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
    PLEAT_BATCH_NAME_ROOM = 129,  /* bytes of a job's name */
    PLEAT_BATCH_HOST_ROOM = 256,  /* bytes of a node's name */
    PLEAT_BATCH_PREFIX_ROOM = 80, /* bytes of the beginning of all its jobs' names */
    PLEAT_BATCH_NODE_CPUS = 4096, /* CPUs of a node; more are not used */
    PLEAT_BATCH_NODES = 4096,     /* nodes of an allocation */
    PLEAT_BATCH_UNKNOWN = 65536   /* processors, until the cluster has said how many there are */
};

enum pleat_batch_state {
    PLEAT_BATCH_WANTED,   /* to be asked for */
    PLEAT_BATCH_ASKED,    /* asked for, not answered */
    PLEAT_BATCH_QUEUED,   /* a job that waits in the queue */
    PLEAT_BATCH_STARTING, /* its job runs; not all its agents have called */
    PLEAT_BATCH_HELD,     /* its claims have been given */
    PLEAT_BATCH_ADOPTED,  /* of an earlier pleatd; whether it is still there is not known yet */
    PLEAT_BATCH_ENDING,   /* to be given back */
    PLEAT_BATCH_STRAY     /* of an earlier pleatd, and not asked for by this one yet */
};

/* A host of an allocation: a node of the site, with an agent of its own. */
struct pleat_batch_node {
    uint32_t number;   /* its number among the site's nodes */
    bool given;        /* its number was told to the core or an agent */
    bool called;       /* a start of its agent was asked for */
    bool step_over;    /* the agent that was started there has ended */
    bool dead;         /* nothing can run there any more */
    bool leaves;       /* the batch system was asked to take it back alone */
    int32_t told_more; /* what was told of its host, plus 1; 0: nothing */
    bool told_confined;
    int64_t
        away_us; /* HELD: since when its agent is not connected, as far as that counts; 0: it is */
    bool away_told; /* the job's user knows */
    char host[PLEAT_BATCH_HOST_ROOM];
    struct pleat_claimbook book; /* the book of this node */
};

PLEAT_ARRAY(pleat_batch_node_list, struct pleat_batch_node);

struct pleat_batch_allocation {
    uint64_t number; /* its number in timers and requests */
    uint64_t owner;  /* number of the job for which it was asked; 0: not known */
    enum pleat_batch_state state;
    struct pleat_site_wish wish; /* the wish that it was asked for; in ENDING: the claim to be
                                  * answered */
    int64_t until_us;            /* how long the wish may wait */
    int64_t agent_until_us;      /* STARTING: when its agents must have called */
    int64_t end_us;              /* when the batch system ends it; 0: never, or not known */
    int64_t leave_us;            /* when nobody may be left there */
    bool numbered;               /* the numbers of its nodes are known, from its name */
    bool answers;                /* ENDING: RELEASED is due */
    bool asked;                  /* ENDING: the request for the allocation is not answered yet */
    bool releasing;              /* ENDING: a request to release it is not answered yet */
    bool seen;
    bool taken;   /* HELD: the batch system ends it, and its processes have a while to end */
    bool adopted; /* HELD: of an earlier pleatd, which its agents had called; they call again */
    bool whole;   /* HELD: the batch system does not take some of its nodes back */
    /* it is, or is to be, on the host of another node, for processes that run there
     * (batch_guests.h) */
    bool is_guest;
    /* HELD: the batch system ends it, why, and since when (0: not known); but how long its
     * processes have is not known yet */
    bool ends;
    char ends_why[64];
    int64_t ends_s;
    uint32_t first, room; /* numbers kept for its nodes: `room`, from `first` on */
    uint32_t job;         /* the batch system's number; 0: not known */
    char name[PLEAT_BATCH_NAME_ROOM];
    /* a node that is asked for first, or, for a guest, alone; "": any */
    char near[PLEAT_BATCH_HOST_ROOM];
    struct pleat_batch_node_list nodes; /* its nodes, by number; none: it was not given yet */
};

PLEAT_ARRAY(pleat_batch_allocations, struct pleat_batch_allocation *);
PLEAT_ARRAY(pleat_batch_numbers, uint32_t);

/* What the batch system offers this user, and the last trouble with it: for people. */
struct pleat_batch_offer {
    json_t *cluster;         /* the answer to "cluster"; NULL: none yet */
    json_t *accounts;        /* the answer to "accounts"; NULL: none yet, or it has failed */
    char no_accounts[300];   /* how; "": it has not */
    bool checked, may;       /* whether a job of one processor would be taken */
    char refusal[300];       /* why not */
    char trouble[300];       /* why the batch system cannot be asked */
    char agent_trouble[400]; /* why an allocation was last given back unused; "": it never was */
    int64_t agents;          /* number of agents that have called */
};

struct pleat_batch_site {
    struct pleat_site_instance base;
    const struct pleat_host *host;
    const struct pleat_batch_kind *kind;
    const struct pleat_batch_options *options; /* the options of all such kinds, with which the
                                                * kind's own begin */
    struct pleat_batch_adapter *adapter;
    uint32_t index;
    int32_t processors, threshold, capacity, largest; /* largest: CPUs of a node; 0: not known */
    int32_t partition_cpus;
    int32_t whole;         /* CPUs once nodes that take no jobs now do again; 0: not known */
    int32_t told_most;     /* what was told of `largest` */
    int32_t told_whole;    /* ... of `whole` */
    int32_t others;        /* what was told of what others use */
    int64_t others_before; /* the same of the answer at others_us, as it was */
    int64_t others_us;     /* 0: there was none */
    json_t *coming_hosts;  /* of an answer in parts: those that have come */
    json_t *hosts;         /* of the last answer about nodes; NULL: there was none */
    int64_t hosts_us;      /* when that came */
    json_t *shut;          /* names of nodes on which nothing new is claimed; NULL: none */
    bool synced;           /* what is there was compared with what the batch system has */
    bool asking_nodes;     /* not answered yet */
    bool nodes_answered;   /* it was, once at least, whatever the answer */
    bool silent;           /* people were told that it cannot be reached */
    void (*on_time)(void *site, uint64_t number); /* looks after that allocation */
    struct pleat_batch_offer offer;
    char prefix[PLEAT_BATCH_PREFIX_ROOM];
    uint64_t next_number;
    struct pleat_batch_allocations allocations;
    struct pleat_batch_numbers agents; /* numbers of nodes whose agents are connected */
};

/* Asks what the batch system offers; `told` is called with each answer to "cluster". */
void pleat_batch_offer_ask(struct pleat_batch_site *site, pleat_batch_answered *told);
/* Once its name is known: asks what accounts this user has there. */
void pleat_batch_offer_ask_accounts(struct pleat_batch_site *site);
/* {"title", "adapter", "answers", "trouble", "cluster", "version", "part", "partitions",
 * "accounts", "qos", "no_accounts", "may", "refusal", "agents", "agent_trouble"}; null: not known.
 * To be released by the caller. */
json_t *pleat_batch_offer_json(const struct pleat_batch_site *site);

/* ---- what there is ---- */

struct pleat_batch_allocation *pleat_batch_new(struct pleat_batch_site *site,
                                               enum pleat_batch_state state);
/* Forgets an allocation. */
void pleat_batch_remove(struct pleat_batch_site *site, struct pleat_batch_allocation *one);
/* NULL: there is none. */
struct pleat_batch_allocation *pleat_batch_of_number(struct pleat_batch_site *site,
                                                     uint64_t number);
struct pleat_batch_allocation *pleat_batch_of_job(struct pleat_batch_site *site, uint32_t job);
/* *node (unless NULL): the allocation's node of that number; NULL: it has not been given yet. */
struct pleat_batch_allocation *pleat_batch_of_node(struct pleat_batch_site *site, uint32_t number,
                                                   struct pleat_batch_node **node);
struct pleat_batch_allocation *pleat_batch_of_claim(struct pleat_batch_site *site, uint64_t id);
/* How many nodes an allocation for a wish may have. */
uint32_t pleat_batch_room(const struct pleat_site_wish *wish);
/* Keeps `room` consecutive numbers for the nodes of an allocation: the lowest that neither another
 * allocation nor a living agent has. */
void pleat_batch_number_nodes(struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                              uint32_t room);
/* Whether nothing new is to be claimed on that node. */
bool pleat_batch_is_shut(const struct pleat_batch_site *site, const char *host);
/* Whether a node takes jobs of this site, or may again: of a site with a reservation of its own, it
 * is in that. */
bool pleat_batch_may_return(const struct pleat_batch_site *site, const json_t *node);
/* Processors that others use of a node, as the batch system told it. */
int64_t pleat_batch_others_on(const struct pleat_batch_site *site, const json_t *node);
/* Of a site with a reservation of its own: a node of it is open, any other one is "outside", and
 * has nothing for this site. */
void pleat_batch_note_reservation(const struct pleat_batch_site *site, json_t *node);
/* Processors that others use, or that the batch system keeps for others, for whom the node is
 * reserved. */
int64_t pleat_batch_kept_on(const struct pleat_batch_site *site, const json_t *node);
/* Processors of a host that nobody uses: what others have is that of the last answer. */
int64_t pleat_batch_free_on(const struct pleat_batch_site *site, const char *host);
bool pleat_batch_has_shut_node(const struct pleat_batch_site *site,
                               const struct pleat_batch_allocation *one);
bool pleat_batch_agent_is_there(const struct pleat_batch_site *site, uint32_t node);
bool pleat_batch_agents_are_there(const struct pleat_batch_site *site,
                                  const struct pleat_batch_allocation *one);
void pleat_batch_note_agent(struct pleat_batch_site *site, uint32_t node, bool there);
/* An allocation's nodes for people: "a1", "a1 and a2", "a1 and 7 others". Valid until the next
 * call. */
const char *pleat_batch_hosts(const struct pleat_batch_allocation *one);

/* ---- events ---- */

void pleat_batch_say(const struct pleat_batch_site *site, const char *format, ...)
    PLEAT_PRINTF(2, 3);
void pleat_batch_say_claim(const struct pleat_batch_site *site, uint16_t kind, uint64_t id,
                           uint32_t index, int32_t count, enum pleat_reason reason);
/* Tells the users of all jobs that have or want processors of an allocation, or, with `node`, of
 * that node. */
void pleat_batch_tell(const struct pleat_batch_site *site, const struct pleat_batch_allocation *one,
                      const struct pleat_batch_node *node, const char *format, ...)
    PLEAT_PRINTF(4, 5);
/* Emits CLAIM_ENDS for all claims of an allocation, if the batch system has told when it ends
 * it. */
void pleat_batch_say_end(const struct pleat_batch_site *site,
                         const struct pleat_batch_allocation *one);
/* Emits PIECEs and CLAIMED for a claim, and CLAIM_ENDS. */
void pleat_batch_announce(const struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                          uint64_t claim);
/* Emits CLAIM_WAITS; start_s: the expected start, seconds since 1970; 0: not known. */
void pleat_batch_say_waits(const struct pleat_batch_site *site,
                           const struct pleat_batch_allocation *one, enum pleat_claim_wait why,
                           int64_t start_s);
/* Emits LOST for all claims with processors of a node, and takes these from them; NULL: of all its
 * nodes. */
void pleat_batch_say_lost(const struct pleat_batch_site *site, struct pleat_batch_allocation *one,
                          const struct pleat_batch_node *node);
/* Emits NODE for each node of an allocation whose processors are known. */
void pleat_batch_say_nodes(const struct pleat_batch_site *site,
                           const struct pleat_batch_allocation *one);
/* All nodes of the site are known, and none of them but those of its allocations is there. */
void pleat_batch_say_known(struct pleat_batch_site *site);
/* Emits NODE_GONE for a node that was told. */
void pleat_batch_say_node_gone(const struct pleat_batch_site *site,
                               const struct pleat_batch_node *node);
/* The same for each node of an allocation. */
void pleat_batch_say_gone(const struct pleat_batch_site *site,
                          const struct pleat_batch_allocation *one);

#endif
