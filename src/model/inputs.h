/* inputs.h - records of the core about files: which sites have those of components, and how fast
 * they get from site to site. They are moved by their index, so they have no pointers. */
#ifndef PLEAT_MODEL_INPUTS_H
#define PLEAT_MODEL_INPUTS_H

#include <stdint.h>

/* A site that has a file of a component. */
struct pleat_input {
    int64_t bytes;
    uint32_t file; /* the same number at several sites: any of them will do */
    uint32_t site;
    uint32_t next; /* the next input of the same component */
    uint32_t reserved;
};

/* How fast files get from one site to another. */
struct pleat_link {
    int64_t bytes_per_s;
    uint32_t from, to;
};

#endif
