/* lock_record.h - what pleatd writes into its lock file: which process it is, where it listens, on
 * which machine.
 *
 * Machines that share a home share the log in it. Whether they see each other's locks depends on
 * the file system, so pleatd also looks at this record: as long as it names another machine, jobs
 * may run there.
 */
#ifndef PLEAT_BASE_LOCK_RECORD_H
#define PLEAT_BASE_LOCK_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct pleat_lock_record {
    int pid;          /* 0: none */
    char socket[256]; /* "": none */
    char host[80];    /* "": not recorded, by an older version */
    char boot[40];    /* boot id of that host */
};

/* Gets an id that changes when the machine is started; "-" if it is not known. */
void pleat_boot_id(char *id, size_t size);
/* Makes the record of this process, which listens at `socket`. */
void pleat_lock_record_make(struct pleat_lock_record *record, const char *socket);
/* Writes the record as a text. Returns its length. */
int pleat_lock_record_format(const struct pleat_lock_record *record, char *text, size_t size);
void pleat_lock_record_parse(struct pleat_lock_record *record, const char *text);
/* Reads the record of a directory's lock; false: there is none. */
bool pleat_lock_record_read(struct pleat_lock_record *record, const char *directory);
/* PLEAT_E_BUSY: the record is of another machine, as neither its host name nor its boot id is this
 * one's. Else 0, also if the record does not say. */
int pleat_lock_record_check(const struct pleat_lock_record *record, const char *directory,
                            struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
