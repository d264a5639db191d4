/* record.h - what a courier keeps on the disk about the file that it writes into, so that a piece
 * that comes again is written once, whoever was killed in between.
 *
 * Before a piece is written the record says where: behind what is in the file. Another courier
 * finds out from the file itself how much of that piece is there. */
#ifndef PLEAT_COURIER_RECORD_H
#define PLEAT_COURIER_RECORD_H

#include <stddef.h>
#include <stdint.h>

struct record {
    uint64_t run;
    int64_t done;  /* bytes of the run's output that are in the file for sure */
    int64_t place; /* in the file: where the bytes after those are, as far as they were written */
    int64_t count; /* how many were to be written there */
};

/* Nonzero: there is none, or it cannot be read. */
int record_read(const char *path, struct record *record);
/* Returns 0 or an errno: then the record is as it was. */
int record_write(const char *path, const struct record *record);

#endif
