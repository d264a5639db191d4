/* save_columns.h - the layout of a saved state: tables of columns (save_columns.c), written by
 * save.c and read by load.c. */
#ifndef PLEAT_CORE_SAVE_COLUMNS_H
#define PLEAT_CORE_SAVE_COLUMNS_H

#include "core/state.h"

#define SAVE_MAGIC "PLEATCOR" /* 8 bytes, without the end of the string */
enum { SAVE_MAGIC_SIZE = 8, SAVE_VERSION = 1 };

enum table {
    END,
    SCALARS, /* field: which; one value of 8 bytes */
    PARAMETERS,
    POLICIES, /* field: the question; number and version */
    STATES,   /* field: the question; bytes */
    SIZE_LISTS,
    COMPONENTS,
    SITES,
    CLAIMS,
    PIECES,
    RESIZES,
    DEADLINES,
    TIMINGS,
    BUFFERS,
    HISTORIES,
    INPUTS,
    LINKS,
    DEPENDENCIES,
    GROUPS,
    NODES,
    OUTPOSTS /* only where there are, or were, some: earlier versions do not know them */
};

/* field of DEADLINES besides the members of its entries */
enum { DEADLINE_WHERE = 100 };
/* fields of SIZE_LISTS and HISTORIES */
enum { LIST_LENGTHS = 1, LIST_VALUES = 2 };

/* A member of a record: a list ends with a width of 0. */
struct column {
    uint16_t number;
    uint16_t width;
    size_t offset;
};

/* Columns that only states of earlier versions have. Of SITES: what is now in NODES, where there
 * was one node of a site, and padding; of RESIZES: when the application was told; of NODES:
 * padding. */
enum {
    SITE_RESERVED_ONCE = 19,
    SITE_AGENT_ONCE = 27,
    SITE_AWAY_ONCE = 30,
    SITE_SPARE_ONCE = 32,
    SITE_SPARE2_ONCE = 34,
    RESIZE_GRANTED_ONCE = 3,
    NODE_SPARE_ONCE = 5,
    NODE_SPARE2_ONCE = 10
};

struct section {
    uint16_t table, field;
    uint32_t width;
    uint64_t count;
};

/* Members of the records beside those of components: columns of COMPONENTS, too. */
extern const struct column *const side_columns[SIDE_COUNT];
extern const struct column component_columns[], site_columns[], claim_columns[], piece_columns[],
    resize_columns[], timing_columns[], buffer_columns[], outpost_columns[], input_columns[],
    link_columns[], deadline_columns[], scalar_columns[], dependency_columns[], group_columns[],
    node_columns[];

/* A checksum over 8 bytes at a time: everything here is a multiple of that. */
uint64_t save_checksum(const char *bytes, size_t size);

#endif
