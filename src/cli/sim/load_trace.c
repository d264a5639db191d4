#include "cli/sim/load_trace.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

static int add_point(const char *path, int number, const char *line,
                     struct pleat_load_points *trace, struct pleat_error *err)
{
    double seconds;
    long processors;
    char rest;
    int fields = sscanf(line, "%lf %ld %c", &seconds, &processors, &rest);
    if (fields != 2 || !(seconds >= 0 && seconds <= 1e10) || processors < 0 ||
        processors > PLEAT_SIZE_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s:%d: not 'SECONDS PROCESSORS', both from 0 on", path, number);
    struct pleat_load_point point = {.at_us = llround(seconds * (double)PLEAT_US_PER_S),
                                     .processors = (int32_t)processors};
    if (trace->count && trace->items[trace->count - 1].at_us >= point.at_us)
        return pleat_error_set(err, PLEAT_E_INVALID, "%s:%d: earlier than the line before", path,
                               number);
    if (pleat_array_push(trace, point))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    return 0;
}

static int read_trace(const char *path, struct pleat_load_points *trace, struct pleat_error *err)
{
    char *line = NULL;
    size_t size = 0;
    int rc = 0;
    FILE *file = fopen(path, "re");
    if (!file)
        return pleat_error_set(err, PLEAT_E_NOTFOUND, "%s: cannot be read: %s", path,
                               strerror(errno));
    for (int number = 1; !rc && getline(&line, &size, file) >= 0; number++) {
        line[strcspn(line, "#;\r\n")] = '\0';
        if (line[strspn(line, " \t")])
            rc = add_point(path, number, line, trace, err);
    }
    if (!rc && ferror(file))
        rc = pleat_error_set(err, PLEAT_E_NOTFOUND, "%s: cannot be read", path);
    if (!rc && trace->count == 0)
        rc = pleat_error_set(err, PLEAT_E_INVALID, "%s: the file has no line 'SECONDS PROCESSORS'",
                             path);
    free(line);
    fclose(file);
    return rc;
}

int pleat_load_trace_read(const char *beside, const char *name, struct pleat_load_points *trace,
                          struct pleat_error *err)
{
    struct pleat_string path = {0};
    const char *slash = strrchr(beside, '/');
    if (slash && *name != '/')
        pleat_string_add_bytes(&path, beside, (size_t)(slash - beside) + 1);
    pleat_string_add(&path, name);
    int rc = path.failed ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory")
                         : read_trace(path.text, trace, err);
    pleat_string_finish(&path);
    return rc;
}
