/* architecture.h - what kind of processor a node has, as a number for events and records
 * (architectures.def) */
#ifndef PLEAT_MODEL_ARCHITECTURE_H
#define PLEAT_MODEL_ARCHITECTURE_H

#include <stdint.h>

enum { PLEAT_ARCHITECTURES = 16 }; /* numbers are below */

/* The number of a name as `uname -m` gives it; 0: none of those that are known, or NULL. */
uint32_t pleat_architecture_number(const char *name);
/* NULL: there is none of that number. */
const char *pleat_architecture_name(uint32_t number);

#endif
