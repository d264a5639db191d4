/* salvage.h - makes a store of what can be read of a damaged one, and keeps the damaged file aside.
 */
#ifndef PLEAT_STORE_SALVAGE_H
#define PLEAT_STORE_SALVAGE_H

#include "store/store.h"

struct pleat_salvage {
    char aside[600];        /* path of the damaged file now */
    int64_t records, specs; /* how many the new store has */
    int64_t after; /* good records that are of no use, since one before them is missing or wrong */
    int64_t last_job; /* the highest job number found; 0: none */
};

/* Makes a store at `path` out of what can be read of the damaged one there: specs, notes, values,
 * and the records from the first, or from a checkpoint, up to the last one before a gap or a wrong
 * record (most_seq at most). If no checkpoint is left to begin from, records that were moved aside
 * (pleat_store_set_aside) are read from there, and are in the new store. The damaged file and its
 * write-ahead log are renamed to PATH.damaged-TIME, where now_us is the time. The file must not be
 * open. Whenever it is interrupted, either the damaged file is still in place, or the next
 * pleat_store_open takes the new one. PLEAT_E_SYSTEM (no space, no permission: everything is as
 * before), PLEAT_E_NOMEM. */
int pleat_store_salvage(const char *path, size_t record_size, int64_t most_seq, int64_t now_us,
                        struct pleat_salvage *result, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
