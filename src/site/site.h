/* site.h - the interface of sites: whatever gives processors, such as this machine or a batch
 * system.
 *
 * A call only accepts a request: it returns 0, or a negative code with nothing begun. The result
 * comes once, as an event through the host, which queues it: the core never gets it inside the
 * call.
 *   claim    -> PIECE* CLAIMED (its count may be less than asked) | CLAIM_FAILED (reason)
 *   release  -> RELEASED, also when the claim was not granted yet (a CLAIMED may still come before)
 *   open     -> SITE, and a NODE for each node where there are several
 *   any time -> LOST (the claim is gone already; a release of it is still answered),
 *               SITE (capacity), BACKGROUND
 * Repeating a claim or release of the same id (after a restart) changes nothing, and is answered
 * again. CLAIM_FAILED has one of three reasons: "cannot" (PLEAT_REASON_CLAIM_CANNOT: it will never
 * be possible), "refused" (not now), "failed" (something broke). tests/conformance/site.c runs over
 * every site.
 */
#ifndef PLEAT_SITE_SITE_H
#define PLEAT_SITE_SITE_H

#include <stdbool.h>

#include "model/host.h"

enum pleat_site_capability {
    PLEAT_SITE_SPLITS = 1, /* part of a claim can be given back */
    PLEAT_SITE_GROWS = 2   /* a running job can get further claims */
};

struct pleat_site_options {
    const char *name;
    uint32_t index;     /* the site's index in the core */
    int32_t processors; /* 0: all that it has */
    int32_t nodes;      /* local: divide them into so many nodes; 0: one */
    int32_t threshold;  /* processors that growing leaves free */
    int background;     /* local: 1 measure the load of others, 0 ignore it, -1 measure unless
                           oversubscribed */
    const char *root;   /* local: where proc/ is; "" or NULL: the real one */
    const void *own;    /* options of its kind; NULL: the defaults */
};

/* Processors that are asked for. */
struct pleat_site_wish {
    uint64_t id; /* of the claim */
    uint32_t index;
    int32_t count;
    /* id of a claim of the same job, next to whose processors the new ones should be; 0: none */
    uint64_t beside;
    bool on_one_node; /* all on one node: that of `beside`, if there is one */
};

/* A claim that the core holds, for a site that is opened after a restart. */
struct pleat_site_claim {
    uint64_t id;
    uint32_t index;
    int32_t count;
    const struct pleat_piece *pieces; /* piece_count of them; `next` is not used */
    uint32_t piece_count;
};

struct pleat_site_instance {
    const struct pleat_site_ops *ops;
};

struct pleat_site_ops {
    const char *name; /* kind: "local", ... */
    unsigned capabilities;
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
    /* Frees the site; emits no event. Claims in a batch system stay. Accepts NULL. */
    void (*close)(struct pleat_site_instance *site);
};

/* The kinds that there are. */
#define SITE(kind) extern const struct pleat_site_ops pleat_site_##kind;
#include "site/kinds.def"
#undef SITE

/* The site's operations by kind (kinds.c); NULL: there is no such kind. */
const struct pleat_site_ops *pleat_site_find(const char *kind);
/* Appends the names of all kinds for people, as in "local or slurm". */
void pleat_site_kinds_add(struct pleat_string *text);

#endif
