#include "cli/common/table_layout.h"

static int most(int a, int b)
{
    return a > b ? a : b;
}

/* The width of one column where none may be wider than `level`: its natural width at most, its
 * least width at least. */
static int at_level(const struct pleat_layout_column *column, int level)
{
    return column->natural <= level ? column->natural : most(column->least, level);
}

/* The width of the first column and those of [from, to) at this level. */
static int part_width(const struct pleat_layout_column *columns, size_t from, size_t to, int level)
{
    int width = at_level(&columns[0], level);
    for (size_t i = from; i < to; i++)
        if (!columns[i].below)
            width += 1 + at_level(&columns[i], level);
    return width;
}

void pleat_layout_texts(struct pleat_layout_column *columns, size_t count, int width)
{
    bool narrow = part_width(columns, 1, count, 0) > width;
    for (size_t i = 0; i < count; i++)
        columns[i].below = i > 0 && columns[i].text && narrow;
}

size_t pleat_layout_part(const struct pleat_layout_column *columns, size_t from, size_t count,
                         int width)
{
    size_t to = from < count ? from + 1 : count;
    while (to < count && part_width(columns, from, to + 1, 0) <= width)
        to++;
    return to;
}

void pleat_layout_fit(struct pleat_layout_column *columns, size_t from, size_t to, int width)
{
    int level = columns[0].natural;
    for (size_t i = from; i < to; i++)
        level = most(level, columns[i].below ? 0 : columns[i].natural);
    while (level > 1 && part_width(columns, from, to, level) > width)
        level--;
    columns[0].width = at_level(&columns[0], level);
    for (size_t i = from; i < to; i++)
        columns[i].width = at_level(&columns[i], level);
}
