/* site.h - the seam to whatever gives processors: this machine, a batch system.
 *
 * A call only accepts: 0, or a negative code with nothing begun. What comes of it arrives once, as
 * an event through the host, never from inside the call:
 *   claim    -> PIECE* CLAIMED (count may be less than asked) | CLAIM_FAILED(reason)
 *   release  -> RELEASED   (also when the claim was not granted yet; a CLAIMED that crosses is
 * fine) anytime  -> LOST (the claim is gone already; a release of it is still answered), SITE
 *               (capacity), BACKGROUND
 * A repeated claim or release of the same id (after a restart) changes nothing and is answered
 * again. "Cannot" (PLEAT_REASON_CLAIM_CANNOT: never will) differs from "refused" (not now) and from
 * "failed" (something broke). tests/conformance/site.c runs over every site.
 */
#ifndef PLEAT_SITE_SITE_H
#define PLEAT_SITE_SITE_H

#include "model/host.h"

enum pleat_site_capability {
    PLEAT_SITE_SPLITS = 1, /* can give back part of a claim */
    PLEAT_SITE_GROWS = 2   /* further claims for a running job can be had */
};

struct pleat_site_options {
    const char *name;
    uint32_t index;     /* the core's */
    int32_t processors; /* 0: as many as there are */
    int32_t threshold;  /* left free when growing */
    int background;     /* local: 1 measure load of others, 0 ignore it, -1 measure unless
                           oversubscribed */
    const char *root;   /* local: where /proc is looked for; "" for the real one */
    const void *own;    /* options of its kind; NULL: as usual */
};

/* A claim as the core remembers it, for a site that starts anew (after a restart). */
struct pleat_site_claim {
    uint64_t id;
    uint32_t index;
    int32_t count;
    const struct pleat_piece *pieces; /* piece_count of them; `next` means nothing here */
    uint32_t piece_count;
};

struct pleat_site_instance {
    const struct pleat_site_ops *ops;
};

struct pleat_site_ops {
    const char *name; /* kind: "local", ... */
    unsigned capabilities;
    /* Opens and says what there is with a SITE event. The host is borrowed until close. */
    int (*open)(const struct pleat_site_options *options, const struct pleat_host *host,
                struct pleat_site_instance **site, struct pleat_error *err);
    /* Looks at capacity and background now; events follow where something changed. */
    int (*probe)(struct pleat_site_instance *site, struct pleat_error *err);
    /* beside: a claim of the same job, next to whose processors these should be; 0: none. */
    int (*claim)(struct pleat_site_instance *site, uint64_t id, uint32_t index, int32_t count,
                 uint64_t beside, struct pleat_error *err);
    /* The last `count` processors of a held claim are from now on those of claim `into`. No event.
     */
    int (*split)(struct pleat_site_instance *site, uint64_t id, uint64_t into, uint32_t into_index,
                 int32_t count, struct pleat_error *err);
    int (*release)(struct pleat_site_instance *site, uint64_t id, uint32_t index,
                   struct pleat_error *err);
    /* Takes up a claim that the core holds. No event, or LOST where it is gone. */
    int (*adopt)(struct pleat_site_instance *site, const struct pleat_site_claim *claim,
                 struct pleat_error *err);
    /* Frees it; no event follows. Claims held in a batch system stay. Accepts NULL. */
    void (*close)(struct pleat_site_instance *site);
};

extern const struct pleat_site_ops pleat_site_local;

/* By kind (kinds.c); NULL where there is none. */
const struct pleat_site_ops *pleat_site_find(const char *kind);
/* Their names, for people: "local". */
void pleat_site_kinds_add(struct pleat_string *text);

#endif
