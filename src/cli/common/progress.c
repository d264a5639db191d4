#include "cli/common/progress.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/timefmt.h"

#define QUIET_US 2000000
#define BAR_MAX 40

void pleat_progress_init(struct pleat_progress_bar *bar)
{
    *bar = (struct pleat_progress_bar){.began_us = pleat_clock_monotonic_us(),
                                       .terminal = isatty(STDERR_FILENO)};
}

static int width(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

void pleat_progress_draw(struct pleat_progress_bar *bar, double share, size_t runs_done,
                         size_t runs)
{
    int64_t now_us = pleat_clock_monotonic_us(), spent_us = now_us - bar->began_us;
    char spent[PLEAT_TIME_SIZE], left[PLEAT_TIME_SIZE], numbers[160], cells[BAR_MAX + 1];
    if (!bar->terminal || spent_us < QUIET_US || now_us - bar->drawn_us < 150000)
        return;
    double expected_s = share > 0.01 ? (double)spent_us / 1e6 * (1 - share) / share : -1;
    int length = snprintf(numbers, sizeof(numbers), "%s%.60s %3.0f %%  %s", bar->what ? " " : "",
                          bar->what ? bar->what : "", share * 100,
                          pleat_time_span((double)spent_us / 1e6, spent));
    if (expected_s >= 0)
        length += snprintf(numbers + length, sizeof(numbers) - (size_t)length, ", %s left",
                           pleat_time_span(expected_s, left));
    if (runs > 1)
        length += snprintf(numbers + length, sizeof(numbers) - (size_t)length, ", %zu of %zu runs",
                           runs_done, runs);
    int room = width() - length - 1, full;
    room = room > BAR_MAX ? BAR_MAX : room < 0 ? 0 : room;
    full = (int)(share * room);
    for (int i = 0; i < room; i++)
        cells[i] = i < full ? '#' : '.';
    cells[room] = '\0';
    fprintf(stderr, "\r\033[K%s%.*s", cells, width() > 2 ? width() - 1 : 1, numbers);
    fflush(stderr);
    bar->drawn = true;
    bar->drawn_us = now_us;
}

void pleat_progress_clear(struct pleat_progress_bar *bar)
{
    if (bar->drawn)
        fputs("\r\033[K", stderr);
    bar->drawn = false;
}
