/* grid_fuzz.h - one input for the reader of grid mixes, and what must hold for any. */
#ifndef PLEAT_TESTS_FUZZ_GRID_FUZZ_H
#define PLEAT_TESTS_FUZZ_GRID_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Reads the bytes as a description, draws up to 50 jobs of it, and makes a workload and a job mix
 * of them; aborts if a promise is broken: something left behind by a failure, an error without
 * words, a distribution from which no number can be drawn, limits not kept, jobs that cannot be
 * run, two draws that differ. */
void pleat_fuzz_grid(const uint8_t *bytes, size_t size);

/* How many descriptions were read without error so far, and how many workloads were made, so that a
 * test can tell that it reached them. */
extern unsigned long pleat_fuzz_grid_mixes, pleat_fuzz_grid_workloads;

#endif
