/* workload_swf.h - what the tests of the Standard Workload Format share. */
#ifndef PLEAT_TESTS_UNIT_WORKLOAD_SWF_H
#define PLEAT_TESTS_UNIT_WORKLOAD_SWF_H

#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "workload/swf.h"

#define S INT64_C(1000000)
/* columns 6 to 18 of a job without anything known */
#define REST " -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1"

struct log {
    struct pleat_workload workload;
    struct pleat_swf_report report;
    struct pleat_error err;
    int rc;
};

static const struct pleat_swf_options plain = {.zero = PLEAT_SWF_ZERO_SKIP};

static inline void read_bytes(struct log *log, const char *text, size_t length,
                              const struct pleat_swf_options *options)
{
    memset(log, 0, sizeof(*log));
    assert_int_equal(pleat_workload_init(&log->workload), 0);
    /* a copy of its own, so that reading beyond it is seen */
    char *copy = malloc(length + 1);
    assert_non_null(copy);
    memcpy(copy, text, length);
    copy = realloc(copy, length ? length : 1);
    assert_non_null(copy);
    log->rc = pleat_swf_read_text(copy, length, "log.swf", options, &log->workload, &log->report,
                                  &log->err);
    free(copy);
}

static inline void read_good(struct log *log, const char *text)
{
    read_bytes(log, text, strlen(text), &plain);
    if (log->rc)
        fail_msg("%s", log->err.text);
    assert_int_equal(log->report.jobs, log->workload.jobs.count);
    assert_int_equal(pleat_workload_check(&log->workload, NULL), 0);
}

#endif
