#include "cli/common/csv_row.h"

#include <string.h>

static void add_bytes(struct pleat_csv_row *row, const char *bytes, size_t count)
{
    if (count > sizeof(row->text) - row->length)
        count = sizeof(row->text) - row->length;
    memcpy(row->text + row->length, bytes, count);
    row->length += count;
}

/* Adds a number with at least `digits` digits. */
static void add_digits(struct pleat_csv_row *row, uint64_t value, int digits)
{
    char reversed[20], text[20];
    int count = 0;
    for (; value > 0 || count < digits; value /= 10)
        reversed[count++] = (char)('0' + value % 10);
    for (int i = 0; i < count; i++)
        text[i] = reversed[count - 1 - i];
    add_bytes(row, text, (size_t)count);
}

static uint64_t add_sign(struct pleat_csv_row *row, int64_t value)
{
    if (value >= 0)
        return (uint64_t)value;
    add_bytes(row, "-", 1);
    return 0 - (uint64_t)value;
}

void pleat_csv_number(struct pleat_csv_row *row, int64_t value)
{
    add_digits(row, add_sign(row, value), 1);
    add_bytes(row, ",", 1);
}

void pleat_csv_seconds(struct pleat_csv_row *row, int64_t us)
{
    uint64_t size = add_sign(row, us), part = size % 1000000;
    int digits = 6;
    add_digits(row, size / 1000000, 1);
    if (part > 0) {
        for (; part % 10 == 0; part /= 10)
            digits--;
        add_bytes(row, ".", 1);
        add_digits(row, part, digits);
    }
    add_bytes(row, ",", 1);
}

void pleat_csv_text(struct pleat_csv_row *row, const char *text)
{
    if (strpbrk(text, ",\"\r\n")) {
        add_bytes(row, "\"", 1);
        for (; *text; text++)
            add_bytes(row, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
        add_bytes(row, "\"", 1);
    } else {
        add_bytes(row, text, strlen(text));
    }
    add_bytes(row, ",", 1);
}

void pleat_csv_real(struct pleat_csv_row *row, int digits, double value)
{
    char text[40];
    int length = snprintf(text, sizeof(text), "%.*g,", digits, value);
    add_bytes(row, text, (size_t)length);
}

void pleat_csv_put(FILE *file, struct pleat_csv_row *row)
{
    row->text[row->length - 1] = '\n';
    fwrite(row->text, 1, row->length, file);
}
