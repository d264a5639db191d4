#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bench_add(struct bench_series *series, double value)
{
    if (series->count < BENCH_REPEATS_MAX)
        series->values[series->count++] = value;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_quantile(const struct bench_series *series, double at)
{
    double sorted[BENCH_REPEATS_MAX];
    if (!series->count)
        return 0;
    memcpy(sorted, series->values, sizeof(sorted));
    qsort(sorted, (size_t)series->count, sizeof(sorted[0]), compare);
    double where = at * (series->count - 1);
    int low = (int)where;
    int high = low + 1 < series->count ? low + 1 : low;
    return sorted[low] + (where - low) * (sorted[high] - sorted[low]);
}

double bench_median(const struct bench_series *series)
{
    return bench_quantile(series, 0.5);
}

double bench_ratio(const struct bench_row *row)
{
    return row->baseline > 0 ? row->value / row->baseline : 0;
}

static void print_number(const char *name, double value, bool known)
{
    if (known)
        printf(", \"%s\": %.10g", name, value);
    else
        printf(", \"%s\": null", name);
}

void bench_print_json(const struct bench_row *rows, size_t count)
{
    printf("[\n");
    for (size_t i = 0; i < count; i++) {
        const struct bench_row *row = &rows[i];
        printf("  {\"name\": \"%s\", \"value\": %.10g, \"unit\": \"%s\"", row->name, row->value,
               row->unit);
        print_number("baseline", row->baseline, row->baseline > 0);
        print_number("ratio", bench_ratio(row), row->baseline > 0);
        print_number("goal", row->goal, row->goal > 0);
        printf(", \"met\": %s}%s\n",
               row->goal <= 0 ? "null"
               : row->met     ? "true"
                              : "false",
               i + 1 < count ? "," : "");
    }
    printf("]\n");
}
