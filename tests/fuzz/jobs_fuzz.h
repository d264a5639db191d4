/* jobs_fuzz.h - the fuzz function of other simulators' jobs (src/scenario/read.h). */
#ifndef PLEAT_TESTS_FUZZ_JOBS_FUZZ_H
#define PLEAT_TESTS_FUZZ_JOBS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Input: a JSON text. What it makes a workload is one that can be run and written; what it refuses
 * names the file. */
void pleat_fuzz_jobs(const uint8_t *bytes, size_t size);

extern unsigned long pleat_fuzz_jobs_read; /* texts that could be read */

#endif
