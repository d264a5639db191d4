/* salvage.h - a damaged store: what is good of it becomes a store again, the rest is kept aside. */
#ifndef PLEAT_STORE_SALVAGE_H
#define PLEAT_STORE_SALVAGE_H

#include "store/store.h"

struct pleat_salvage {
    char aside[600];        /* where the damaged file is now */
    int64_t records, specs; /* in the new store */
    int64_t after;          /* good records that came after one that is not, and so are of no use */
    int64_t last_job;       /* the highest number that is in it; 0: none */
};

/* Makes a store at `path` out of what can be read of the damaged one there: its records from the
 * first, or from a checkpoint, to the last that is followed by none that is missing or wrong (at
 * most up to record most_seq), specs, notes and values. Where no checkpoint is left to begin from,
 * records that were moved aside (pleat_store_set_aside) are read there and are in the new store.
 * The damaged file is renamed to PATH.damaged-TIME (and its write-ahead log with it). The file must
 * not be open. However it is interrupted, either the damaged file is still in place, or the next
 * pleat_store_open takes the new one. now_us: for the name. PLEAT_E_SYSTEM (no space, no
 * permission: everything is as before), PLEAT_E_NOMEM. */
int pleat_store_salvage(const char *path, size_t record_size, int64_t most_seq, int64_t now_us,
                        struct pleat_salvage *result, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
