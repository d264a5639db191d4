/* slurm_fuzz.h - lists of nodes, and lines of scontrol, as any bytes. */
#ifndef PLEAT_TESTS_FUZZ_SLURM_FUZZ_H
#define PLEAT_TESTS_FUZZ_SLURM_FUZZ_H

#include <stddef.h>
#include <stdint.h>

extern unsigned long pleat_fuzz_slurm_lists; /* inputs that were lists */
void pleat_fuzz_slurm(const uint8_t *data, size_t size);

#endif
