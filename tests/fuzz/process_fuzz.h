/* process_fuzz.h - the fuzz function of what libpleat-process reads (src/process/head.h, told.h).
 */
#ifndef PLEAT_TESTS_FUZZ_PROCESS_FUZZ_H
#define PLEAT_TESTS_FUZZ_PROCESS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Input: the head of a message, or a line of the agent's. A head that is read is one that can be
 * written again; of a line everything is within its limits. */
void pleat_fuzz_process(const uint8_t *bytes, size_t size);

extern unsigned long pleat_fuzz_process_read; /* inputs that could be read */

#endif
