/* simgrid_fuzz.h - the fuzz function of SimGrid's platforms (src/scenario/simgrid.h). */
#ifndef PLEAT_TESTS_FUZZ_SIMGRID_FUZZ_H
#define PLEAT_TESTS_FUZZ_SIMGRID_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Reads the bytes as a platform; aborts if a promise is broken: something left behind by a failure,
 * an error without a place, sites that the simulator does not take. */
void pleat_fuzz_simgrid(const uint8_t *bytes, size_t size);

extern unsigned long pleat_fuzz_simgrids; /* that could be read */

#endif
