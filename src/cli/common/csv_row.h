/* csv_row.h - a line of a table as text, put together without stdio: a log has millions of them. */
#ifndef PLEAT_CLI_COMMON_CSV_ROW_H
#define PLEAT_CLI_COMMON_CSV_ROW_H

#include <stdint.h>
#include <stdio.h>

/* A zeroed length is an empty line; what is longer is cut. */
struct pleat_csv_row {
    char text[700];
    size_t length;
};

void pleat_csv_number(struct pleat_csv_row *row, int64_t value);
/* Decimal seconds without zeros at their end. */
void pleat_csv_seconds(struct pleat_csv_row *row, int64_t us);
void pleat_csv_text(struct pleat_csv_row *row, const char *text);
void pleat_csv_real(struct pleat_csv_row *row, int digits, double value);
/* Writes the row; its last comma becomes the end of the line. */
void pleat_csv_put(FILE *file, struct pleat_csv_row *row);

#endif
