/* mapping.h - at which processor of its partition each process of a folded run stands.
 *
 * Every processor gets as many processes as any other, or one more (Utrera 2010, 3.3.1.2: equal
 * processes per processor). The first time it goes by rank, round robin (3.4.1.1). When the
 * partition changes, only as many processes move as must, and those are the ones that a fresh round
 * robin would place elsewhere.
 *
 * By communication, those that send each other most share a processor; by balance, what processes
 * compute is shared equally (the longest first, to whoever has least), and then their numbers may
 * differ. Both keep the mapping that is there where theirs is hardly better.
 *
 * Pure: facts in, mapping out; the same facts give the same mapping.
 */
#ifndef PLEAT_AGENT_MAPPING_H
#define PLEAT_AGENT_MAPPING_H

#include <stdint.h>

#include "base/error.h"

enum pleat_mapping {
    PLEAT_MAPPING_ROUND_ROBIN,
    PLEAT_MAPPING_COMMUNICATION,
    PLEAT_MAPPING_BALANCE
};

/* CPUs by number; one may be there several times, as as many processors. */
struct pleat_mapping_partition {
    const uint32_t *cpus;
    uint32_t count;
};

struct pleat_mapping_facts {
    uint32_t processes; /* from 1 */
    struct pleat_mapping_partition now;
    struct pleat_mapping_partition before; /* count 0: there was none */
    const uint32_t *where_before; /* for each process its index in before.cpus; one that is beyond
                                   * its end: nowhere */
    /* Messages sent so far; NULL: not known. */
    uint64_t (*traffic)(const void *arg, uint32_t from, uint32_t to);
    const void *arg;
    const uint64_t *useful_ns; /* of each process; NULL: not known */
};

/* Writes for each process its index in now.cpus. Where what it goes by is not known (or nothing has
 * happened yet) it goes by rank. PLEAT_E_NOMEM: *where is as it was. */
int pleat_mapping_make(enum pleat_mapping by, const struct pleat_mapping_facts *facts,
                       uint32_t *where, struct pleat_error *err) PLEAT_MUST_CHECK;

/* From "round-robin", "communication", "balance"; PLEAT_E_INVALID, with the known words. */
int pleat_mapping_parse(const char *name, enum pleat_mapping *by,
                        struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
