/* available.h - how much memory may still be taken before the kernel kills processes. */
#ifndef PLEAT_SHM_AVAILABLE_H
#define PLEAT_SHM_AVAILABLE_H

#include <stdint.h>

/* Bytes: what the machine has (MemAvailable), or less if this process is in a control group
 * (version 2) with a limit. UINT64_MAX: not known. root: "" for this machine; for tests a directory
 * with another proc/ and sys/. */
uint64_t pleat_available_bytes(const char *root);

#endif
