/* mapping.h - at which processor of its partition each process of a folded run stands.
 *
 * Every processor gets as many processes as any other, or one more (Utrera 2010, 3.3.1.2: equal
 * processes per processor). The first mapping is by rank, round robin (3.4.1.1). When the partition
 * changes, only as many processes move as must: those that a fresh round robin would place
 * elsewhere.
 *
 * With mapping by communication, processes that exchange most messages share a processor. With
 * mapping by balance, processor time is shared equally (longest processing time first), and then
 * processors may differ in their numbers of processes. Both keep the present mapping where the new
 * one is hardly better.
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

/* CPUs by number. A CPU that is there several times counts as that number of processors. */
struct pleat_mapping_partition {
    const uint32_t *cpus;
    uint32_t count;
};

struct pleat_mapping_facts {
    uint32_t processes; /* from 1 */
    struct pleat_mapping_partition now;
    struct pleat_mapping_partition before; /* the old partition; count 0: there was none */
    /* for each process its index in before.cpus; an index beyond its end: nowhere */
    const uint32_t *where_before;
    /* Messages that `from` has sent to `to` so far; NULL: not known. */
    uint64_t (*traffic)(const void *arg, uint32_t from, uint32_t to);
    const void *arg;
    const uint64_t *useful_ns; /* processor time of useful work of each process; NULL: not known */
};

/* Writes for each process its index in now.cpus. The mapping is by rank where the facts that it
 * needs are not known, or nothing has happened yet. PLEAT_E_NOMEM: *where is as it was. */
int pleat_mapping_make(enum pleat_mapping by, const struct pleat_mapping_facts *facts,
                       uint32_t *where, struct pleat_error *err) PLEAT_MUST_CHECK;

/* Reads "round-robin", "communication" or "balance". PLEAT_E_INVALID, with the known words. */
int pleat_mapping_parse(const char *name, enum pleat_mapping *by,
                        struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
