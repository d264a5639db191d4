/* pages.h - reads rows from the pages of a SQLite file that SQLite itself may not be able to read
 * any more.
 *
 * Follows https://www.sqlite.org/fileformat2.html. Leaf pages of tables and indexes are read one by
 * one, wherever they are, without the pages above them; then those of the write-ahead log that were
 * committed. A row that is found may be an old version, or nonsense: the callback must be able to
 * tell (by a checksum).
 */
#ifndef PLEAT_STORE_PAGES_H
#define PLEAT_STORE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLEAT_PAGES_COLUMNS_MAX 8

enum pleat_cell_kind { PLEAT_CELL_NULL, PLEAT_CELL_INTEGER, PLEAT_CELL_BLOB, PLEAT_CELL_TEXT };

struct pleat_cell {
    enum pleat_cell_kind kind;
    int64_t integer;
    const unsigned char *bytes; /* of BLOB and TEXT: borrowed for the call, without a final NUL */
    size_t size;
};

struct pleat_row {
    bool of_table; /* false: a row of an index, or of a table without rowid */
    int64_t rowid; /* 0 where not of_table */
    size_t count;
    struct pleat_cell cells[PLEAT_PAGES_COLUMNS_MAX];
};

/* Calls back for every row that can be recognized in the file and in its write-ahead log (wal_path,
 * which may be missing). If a callback returns other than 0, reading ends and that value is
 * returned. Else 0 or PLEAT_E_NOMEM; a file that cannot be read has no rows. */
typedef int (*pleat_row_callback)(void *arg, const struct pleat_row *row);
int pleat_pages_read(const char *path, const char *wal_path, pleat_row_callback callback,
                     void *arg);

#endif
