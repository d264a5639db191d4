/* swf_fuzz.h - one input for the reader of workload logs, and what must hold for any. */
#ifndef PLEAT_TESTS_FUZZ_SWF_FUZZ_H
#define PLEAT_TESTS_FUZZ_SWF_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Reads the bytes behind the first (which chooses options) as a log, and aborts if a promise is
 * broken: something left behind by a failure, a job that cannot be run, a workload that is another
 * one when written and read back. */
void pleat_fuzz_swf(const uint8_t *bytes, size_t size);

/* How many logs were read without error so far, and how many jobs they had, so that a test can tell
 * that it reached them. */
extern unsigned long pleat_fuzz_swf_logs, pleat_fuzz_swf_jobs;

#endif
