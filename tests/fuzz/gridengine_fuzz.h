/* gridengine_fuzz.h - what qstat and qhost say, as any bytes. */
#ifndef PLEAT_TESTS_FUZZ_GRIDENGINE_FUZZ_H
#define PLEAT_TESTS_FUZZ_GRIDENGINE_FUZZ_H

#include <stddef.h>
#include <stdint.h>

extern unsigned long pleat_fuzz_gridengine_documents; /* inputs that were XML */
void pleat_fuzz_gridengine(const uint8_t *data, size_t size);

#endif
