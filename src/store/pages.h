/* pages.h - rows from the pages of a SQLite file that SQLite itself may not be able to read any
 * more.
 *
 * Follows https://www.sqlite.org/fileformat2.html: leaf pages of tables and of indexes are looked
 * at one by one, wherever they are, without the pages above them; pages of the write-ahead log
 * count where they were committed. What is found may be older than what was there, or nonsense:
 * whoever takes it must be able to tell (by a checksum).
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
    const unsigned char *bytes; /* of BLOB and TEXT; borrowed for the call, without a NUL */
    size_t size;
};

struct pleat_row {
    bool of_table; /* else of an index, or of a table without rowid */
    int64_t rowid; /* 0 where it is not of a table */
    size_t count;
    struct pleat_cell cells[PLEAT_PAGES_COLUMNS_MAX];
};

/* Calls back for every row that can be made out in the file and in its write-ahead log (wal_path;
 * may be missing). A callback that returns other than 0 ends the reading, and that is returned.
 * 0; PLEAT_E_NOMEM; a file that cannot be read has no rows. */
typedef int (*pleat_row_callback)(void *arg, const struct pleat_row *row);
int pleat_pages_read(const char *path, const char *wal_path, pleat_row_callback callback,
                     void *arg);

#endif
