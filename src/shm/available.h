/* available.h - how much memory may still be taken before the kernel kills processes. */
#ifndef PLEAT_SHM_AVAILABLE_H
#define PLEAT_SHM_AVAILABLE_H

#include <stdint.h>

/* Bytes: the least of what the machine has (MemAvailable), what this process's control groups and
 * those above them still allow (either version), and, where the kernel promises no more memory than
 * it has (vm.overcommit_memory is 2), what it has not promised. UINT64_MAX: not known. root: "" for
 * this machine; for tests a directory with another proc/ and sys/. */
uint64_t pleat_available_bytes(const char *root);

#endif
