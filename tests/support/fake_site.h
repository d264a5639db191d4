/* fake_site.h - a site without processors: answers after random delays, fails and takes away at
 * random, all from a seed. */
#ifndef PLEAT_TESTS_FAKE_SITE_H
#define PLEAT_TESTS_FAKE_SITE_H

#include "site/site.h"

/* Its options' `own` is a struct pleat_fake_site_options. */
extern const struct pleat_site_ops pleat_site_fake;
/* The same, of a kind whose nodes come with claims and bring their agents: each claim is a node of
 * its own, whose number is free again when that has gone. */
extern const struct pleat_site_ops pleat_site_fake_bringing;

enum { PLEAT_FAKE_NODES_MAX = 4 };

struct pleat_fake_site_options {
    uint64_t seed;
    int32_t nodes;            /* that have its processors; at most PLEAT_FAKE_NODES_MAX; 0: 1 */
    int64_t claim_delay_us;   /* uniform in 0 .. this */
    int64_t release_delay_us; /* likewise */
    double queues;            /* probability that a claim waits in a queue, up to: */
    int64_t queue_us;         /* uniform in 0 .. this */
    int64_t patience_us;      /* likewise: how long the core is to wait for it; 0: as configured */
    int64_t agent_limit_us;   /* how long an agent may take to call (bringing) */
    double fail;              /* probability that a claim fails */
    double partial;           /* that it gets fewer than asked */
    double lose;              /* that a claim is lost some time after it was given */
    int64_t lose_delay_us;
    double ends;     /* that a claim is only for a time */
    int64_t ends_us; /* uniform in 0 .. this */
};

/* Processors that the fake has handed out now, for comparing. */
int32_t pleat_fake_site_in_use(const struct pleat_site_instance *site);

#endif
