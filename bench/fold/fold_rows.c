#include "fold_rows.h"

#include <stdarg.h>
#include <stdio.h>

#define ROWS_MAX 640

static struct bench_row rows[ROWS_MAX];
static size_t row_count;

struct bench_row *fold_row(const char *unit, const char *format, ...)
{
    struct bench_row *row = &rows[row_count < ROWS_MAX ? row_count++ : ROWS_MAX - 1];
    va_list arguments;
    *row = (struct bench_row){.unit = unit};
    va_start(arguments, format);
    vsnprintf(row->name, sizeof(row->name), format, arguments);
    va_end(arguments);
    return row;
}

void fold_row_goal(struct bench_row *row, double goal, bool met)
{
    row->goal = goal;
    row->met = met;
}

const char *fold_verdict(const struct bench_row *row)
{
    return row->goal <= 0 ? "-" : row->met ? "met" : "NOT MET";
}

void fold_rows_print(void)
{
    bench_print_json(rows, row_count);
}

void fold_print_series(const struct bench_series *series)
{
    if (series && series->count)
        printf(" %7.3f [%6.3f ..%7.3f]", bench_median(series), bench_quantile(series, 0),
               bench_quantile(series, 1));
    else
        printf(" %26s", "-");
}

void fold_print_contender(const struct contender *contender, bool cpu)
{
    char text[32];
    if (!contender) {
        fold_print_series(NULL);
    } else if (contender->late) {
        snprintf(text, sizeof(text), "> %.1f elapsed", contender->late_s);
        printf(" %26s", text);
    } else {
        fold_print_series(cpu ? &contender->own_cpu : &contender->own_elapsed);
    }
}

struct contender *fold_in_time(struct contest *contest, const char *name)
{
    struct contender *contender = contest_find(contest, name);
    return contender && !contender->late && contender->elapsed.count ? contender : NULL;
}

double fold_others(const struct contest *contests, int count)
{
    struct bench_series all = {.count = 0};
    for (int i = 0; i < count; i++)
        bench_add(&all, bench_median(&contests[i].others));
    return bench_median(&all);
}
