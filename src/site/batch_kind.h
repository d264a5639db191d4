/* batch_kind.h - what differs between sites of one batch system and those of another: its name, the
 * program that speaks with it, its own options. A kind is a file with such a table (slurm.c) and
 * its row in kinds.def; all else of these sites (batch*.c) knows no batch system.
 */
#ifndef PLEAT_SITE_BATCH_KIND_H
#define PLEAT_SITE_BATCH_KIND_H

#include <jansson.h>

#include "model/event.h"
#include "site/site.h"

/* What processors that others use count for. The choices of the option `background`, in this order.
 */
enum pleat_batch_background {
    PLEAT_BATCH_BACKGROUND_AUTO, /* LEFT_BY_GROWTH, unless growths wait in the queue */
    PLEAT_BATCH_IGNORED,         /* nothing */
    PLEAT_BATCH_LEFT_BY_GROWTH,  /* jobs grow into what is idle; starts wait in the queue */
    PLEAT_BATCH_LEFT             /* starts wait for idle ones, too, in Pleat */
};

/* Options of all these kinds; those of a kind begin with them. */
struct pleat_batch_options {
    char *adapter;     /* the program; "auto": the kind's, beside pleatd's own */
    int64_t memory_mb; /* memory of an allocation on each node; 0: not said */
    int64_t limit_us;  /* time limit of an allocation; 0: the batch system's */
    int64_t queue_us;  /* how long a claim may wait in the queue, */
    int64_t grow_us;   /* and that of a growth; 0: it gets what is free now, or nothing */
    int64_t agent_us;  /* by then an agent must have called */
    int64_t leave_us;  /* so long before its time is over an allocation is left */
    int background;    /* enum pleat_batch_background */
};

/* What a reason for which the batch system has a job wait means. */
struct pleat_batch_wait {
    const char *part; /* a part of the reason's text; the first row that fits counts; NULL: no more
                       * rows */
    enum pleat_claim_wait means;
};

enum { PLEAT_BATCH_WORDS = 12 }; /* of the adapter's command line, the NULL at its end included */

struct pleat_batch_kind {
    const struct pleat_site_ops *ops;
    const char *title;   /* for people: "Slurm" */
    const char *program; /* its adapter, which says hello as `role`: docs/protocol.md */
    const char *role;
    bool
        announces; /* before it kills it sends a signal to all processes, which ranks may outlive */
    bool spreads;  /* an allocation may be of several nodes */
    const struct pleat_batch_wait *waits;
    /* Appends to the adapter's command line; the texts are borrowed from the options. */
    void (*words)(const void *own, const char **argv, int *count);
    /* Adds to the params of "allocate" the options that are not in struct pleat_batch_options. */
    void (*wish)(const void *own, json_t *params);
    /* Whether unused nodes of an allocation are given back alone; NULL: the batch system cannot. */
    bool (*gives_nodes)(const void *own);
    /* The part of the cluster that is asked, as "cluster" names it; NULL: the usual one. */
    const char *(*part)(const void *own);
    /* The reservation whose nodes are asked for, and no others, as "nodes" names it in
     * `reservations`; NULL: none, or the batch system has no such thing. */
    const char *(*kept)(const void *own);
};

/* ---- the operations of such a kind ---- */

/* As pleat_site_ops.open, of sites of this kind. */
int pleat_batch_open(const struct pleat_batch_kind *kind, const struct pleat_site_options *options,
                     const struct pleat_host *host, struct pleat_site_instance **out,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_batch_probe(struct pleat_site_instance *base, struct pleat_error *err);
int pleat_batch_claim(struct pleat_site_instance *base, const struct pleat_site_wish *wish,
                      struct pleat_error *err);
int pleat_batch_split(struct pleat_site_instance *base, uint64_t id, uint64_t into,
                      uint32_t into_index, int32_t count, struct pleat_error *err);
int pleat_batch_release(struct pleat_site_instance *base, uint64_t id, uint32_t index,
                        struct pleat_error *err);
int pleat_batch_adopt(struct pleat_site_instance *base, const struct pleat_site_claim *claim,
                      struct pleat_error *err);
void pleat_batch_agent(struct pleat_site_instance *base, uint32_t node, bool there);
void pleat_batch_end_node(struct pleat_site_instance *base, uint32_t node);
void pleat_batch_nodes(const struct pleat_site_instance *base, struct pleat_site_nodes *nodes);
void pleat_batch_shut_hosts(struct pleat_site_instance *base, const json_t *names);
bool pleat_batch_rests(const struct pleat_site_instance *base);
void pleat_batch_close(struct pleat_site_instance *base);

/* All of struct pleat_site_ops but name, options and `open`. */
#define PLEAT_BATCH_OPERATIONS                                                                     \
    .capabilities = PLEAT_SITE_SPLITS | PLEAT_SITE_GROWS | PLEAT_SITE_BRINGS_AGENTS,               \
    .probe = pleat_batch_probe, .claim = pleat_batch_claim, .split = pleat_batch_split,            \
    .release = pleat_batch_release, .adopt = pleat_batch_adopt, .agent = pleat_batch_agent,        \
    .end_node = pleat_batch_end_node, .rests = pleat_batch_rests, .nodes = pleat_batch_nodes,      \
    .shut_hosts = pleat_batch_shut_hosts, .close = pleat_batch_close

/* ---- its options ---- */

/* "auto", or an absolute path. */
int pleat_batch_check_path(const char *text, struct pleat_error *err);
/* A value of an option of the batch system's commands, or "auto". */
int pleat_batch_check_word(const char *text, struct pleat_error *err);
/* Adds such a value to params, unless it is "auto". */
void pleat_batch_set_text(json_t *params, const char *member, const char *value);

/* A row for a text that is passed on; the option and the member have one name. */
#define PLEAT_BATCH_WORD(type_of_own, member, what)                                                \
    {                                                                                              \
        .name = #member, .type = PLEAT_OPTION_TEXT, .offset = offsetof(type_of_own, member),       \
        .usual = "auto", .check = pleat_batch_check_word, .help = (what)                           \
    }

/* The rows of struct pleat_batch_options. */
#define PLEAT_BATCH_ROWS                                                                           \
    {.name = "memory_mb",                                                                          \
     .type = PLEAT_OPTION_NUMBER,                                                                  \
     .offset = offsetof(struct pleat_batch_options, memory_mb),                                    \
     .usual = "0",                                                                                 \
     .high = INT64_C(1) << 40,                                                                     \
     .help = "the memory of an allocation"},                                                       \
        {.name = "limit_s",                                                                        \
         .type = PLEAT_OPTION_SECONDS,                                                             \
         .offset = offsetof(struct pleat_batch_options, limit_us),                                 \
         .usual = "0",                                                                             \
         .high = 600000000,                                                                        \
         .help = "the time limit of an allocation"},                                               \
        {.name = "queue_s",                                                                        \
         .type = PLEAT_OPTION_SECONDS,                                                             \
         .offset = offsetof(struct pleat_batch_options, queue_us),                                 \
         .usual = "86400",                                                                         \
         .low = 1,                                                                                 \
         .high = 1000000000,                                                                       \
         .help = "how long a claim may wait in the queue"},                                        \
        {.name = "grow_s",                                                                         \
         .type = PLEAT_OPTION_SECONDS,                                                             \
         .offset = offsetof(struct pleat_batch_options, grow_us),                                  \
         .usual = "0",                                                                             \
         .high = 1000000000,                                                                       \
         .help = "how long that of a growth may wait there"},                                      \
        {.name = "agent_s",                                                                        \
         .type = PLEAT_OPTION_SECONDS,                                                             \
         .offset = offsetof(struct pleat_batch_options, agent_us),                                 \
         .usual = "60",                                                                            \
         .low = 1,                                                                                 \
         .high = 86400,                                                                            \
         .help = "by when the agent of an allocation must have called"},                           \
        {.name = "leave_s",                                                                        \
         .type = PLEAT_OPTION_SECONDS,                                                             \
         .offset = offsetof(struct pleat_batch_options, leave_us),                                 \
         .usual = "30",                                                                            \
         .low = 1,                                                                                 \
         .high = 86400,                                                                            \
         .help = "how long before the end of an allocation a job there is ended"},                 \
        {.name = "background",                                                                     \
         .type = PLEAT_OPTION_CHOICE,                                                              \
         .offset = offsetof(struct pleat_batch_options, background),                               \
         .usual = "auto",                                                                          \
         .choices = "auto ignore grow start",                                                      \
         .help = "who leaves processors that others use"},                                         \
    {                                                                                              \
        .name = "adapter", .type = PLEAT_OPTION_TEXT,                                              \
        .offset = offsetof(struct pleat_batch_options, adapter), .usual = "auto",                  \
        .check = pleat_batch_check_path, .help = "the program that speaks with the batch system"   \
    }

#endif
