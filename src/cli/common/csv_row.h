/* csv_row.h - a line of a table as text. It is put together without stdio, since a log has millions
 * of such lines. */
#ifndef PLEAT_CLI_COMMON_CSV_ROW_H
#define PLEAT_CLI_COMMON_CSV_ROW_H

#include <stdint.h>
#include <stdio.h>

/* With length 0 the line is empty. A longer line than there is room for is cut. */
struct pleat_csv_row {
    char text[700];
    size_t length;
};

void pleat_csv_number(struct pleat_csv_row *row, int64_t value);
/* Adds seconds as a decimal number without trailing zeros. */
void pleat_csv_seconds(struct pleat_csv_row *row, int64_t us);
void pleat_csv_text(struct pleat_csv_row *row, const char *text);
void pleat_csv_real(struct pleat_csv_row *row, int digits, double value);
/* Writes the row. Its last comma becomes the end of the line. */
void pleat_csv_put(FILE *file, struct pleat_csv_row *row);

#endif
