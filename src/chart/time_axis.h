/* time_axis.h - the marks of a time axis, and their texts. */
#ifndef PLEAT_CHART_TIME_AXIS_H
#define PLEAT_CHART_TIME_AXIS_H

#include <stddef.h>

enum { PLEAT_TIME_MARKS_MAX = 40 };

struct pleat_time_axis {
    char unit[24]; /* "seconds", "minutes", "hours", "days"; of a clock "time of day", "date" */
    size_t count;
    struct {
        double at_s;
        char text[24];
    } marks[PLEAT_TIME_MARKS_MAX];
};

/* Makes an axis from from_s to to_s with at most `most` marks (at most PLEAT_TIME_MARKS_MAX).
 * clock_s: the moment of second 0, since 1970, for marks with the local time of day. NAN: marks
 * show the time since second 0. */
void pleat_time_axis(double from_s, double to_s, double clock_s, int most,
                     struct pleat_time_axis *axis);

#endif
