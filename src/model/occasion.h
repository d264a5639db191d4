/* occasion.h - what a resize is made for, as its application is told. */
#ifndef PLEAT_MODEL_OCCASION_H
#define PLEAT_MODEL_OCCASION_H

/* The names of enum pleat_occasion in
 * pleat.h, with the same numbers. */
enum pleat_occasion {
    PLEAT_OCCASION_UNKNOWN,
    PLEAT_OCCASION_FREE,    /* a growth: processors are free */
    PLEAT_OCCASION_WAITING, /* a shrink: another job waits for the processors */
    PLEAT_OCCASION_USER,    /* its user asked for it */
    PLEAT_OCCASION_LIMITS,  /* a shrink: its user or its program has changed its limits */
    PLEAT_OCCASION_POLICY,  /* a shrink: a policy divides the processors anew */
    PLEAT_OCCASION_TAKEN,   /* a shrink: the site takes processors back that it lent for a time */
    PLEAT_OCCASION_COUNT
};

/* The flags of an effect about a resize (model/effect.h) have the occasion in bits that nothing
 * else uses. */
#define PLEAT_OCCASION_SHIFT 8

static inline unsigned pleat_occasion_flags(enum pleat_occasion occasion)
{
    return (unsigned)occasion << PLEAT_OCCASION_SHIFT;
}

static inline enum pleat_occasion pleat_occasion_of(unsigned flags)
{
    unsigned occasion = flags >> PLEAT_OCCASION_SHIFT;
    return occasion < PLEAT_OCCASION_COUNT ? (enum pleat_occasion)occasion : PLEAT_OCCASION_UNKNOWN;
}

/* "free", "waiting", ... */
const char *pleat_occasion_name(enum pleat_occasion occasion);
/* UNKNOWN for NULL, or what is no name of an occasion. */
enum pleat_occasion pleat_occasion_parse(const char *name);

#endif
