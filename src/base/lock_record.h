/* lock_record.h - what pleatd writes into its lock: who it is, where it listens, on which machine.
 *
 * Machines that share a home share the log in it. Whether the lock of another machine can be
 * trusted depends on the file system, so a pleatd also goes by this record: while one of another
 * machine stands there, jobs may run on that machine.
 */
#ifndef PLEAT_BASE_LOCK_RECORD_H
#define PLEAT_BASE_LOCK_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct pleat_lock_record {
    int pid;          /* 0: none */
    char socket[256]; /* "": none */
    char host[80];    /* "": not told, as in older ones */
    char boot[40];    /* of its host */
};

/* Changes when the machine is started; "-" where it is not known. */
void pleat_boot_id(char *id, size_t size);
/* Of this process, with its socket. */
void pleat_lock_record_make(struct pleat_lock_record *record, const char *socket);
/* Its text. Returns the length. */
int pleat_lock_record_format(const struct pleat_lock_record *record, char *text, size_t size);
void pleat_lock_record_parse(struct pleat_lock_record *record, const char *text);
/* Reads that of a directory; false: there is none. */
bool pleat_lock_record_read(struct pleat_lock_record *record, const char *directory);
/* PLEAT_E_BUSY where it is of another machine: neither its name nor its start are those of this
 * one. 0: it is not, or does not say. */
int pleat_lock_record_check(const struct pleat_lock_record *record, const char *directory,
                            struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
