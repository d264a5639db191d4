/* swf_lines.c - the lines of a log: headers and jobs. */
#include <string.h>
#include <strings.h>

#include "workload/convert.h"
#include "workload/swf-internal.h"

enum { US = 1000000 };

/* ---- header lines ---- */

/* Whether the line is "KEY: ...". If so, *at is moved behind the colon and the blanks after it. */
static bool take_key(const char **at, const char *end, const char *key)
{
    size_t length = strlen(key);
    if ((size_t)(end - *at) <= length || strncasecmp(*at, key, length) != 0 || (*at)[length] != ':')
        return false;
    *at += length + 1;
    while (*at < end && pleat_is_blank(**at))
        (*at)++;
    return true;
}

/* Reads a size in a header, where text may follow the number. 0: the number makes no sense. */
static int32_t header_size(const char *at, const char *end)
{
    const char *p = at;
    struct pleat_decimal number;
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    if (p == at || !pleat_decimal_scan(&at, p, &number) || number.whole > PLEAT_SIZE_MAX)
        return 0;
    return (int32_t)number.whole;
}

static int64_t header_time(const char *at, const char *end)
{
    const char *p = at;
    struct pleat_decimal number;
    while (p < end && !pleat_is_blank(*p))
        p++;
    if (!pleat_decimal_scan(&at, p, &number) || pleat_decimal_negative(&number) ||
        number.whole >= PLEAT_WORKLOAD_TIME_MAX / US)
        return 0;
    return number.whole * US + number.micros;
}

static int header_app(struct pleat_swf_reading *reading, const char *at, const char *end)
{
    struct pleat_workload *workload = &reading->workload;
    struct pleat_decimal index;
    struct pleat_app app;
    size_t next = workload->apps.count;
    if (!pleat_decimal_scan(&at, end, &index) || index.micros != 0 ||
        (index.whole != 0 && index.whole != (int64_t)next))
        return pleat_error_set(reading->err, PLEAT_E_INVALID,
                               "Pleat-App: expected %zu, the number of the next application, or 0, "
                               "then what it is, such as amdahl:0.02",
                               next);
    while (at < end && pleat_is_blank(*at))
        at++;
    if (memchr(at, '\0', (size_t)(end - at)))
        return pleat_error_set(reading->err, PLEAT_E_INVALID, "Pleat-App: a NUL byte is in it");
    char *text = strndup(at, (size_t)(end - at));
    if (!text)
        return pleat_error_set(reading->err, PLEAT_E_NOMEM, "out of memory");
    int rc = pleat_app_parse(text, workload, &app, reading->err);
    free(text);
    if (rc)
        return rc;
    if (index.whole == 0)
        workload->apps.items[0] = app;
    else if (pleat_array_push(&workload->apps, app))
        return pleat_error_set(reading->err, PLEAT_E_NOMEM, "out of memory");
    return 0;
}

/* Refuses a line behind the first job: jobs are checked while they are read, against the columns
 * and applications that are known by then. */
static int before_jobs(struct pleat_swf_reading *reading, const char *key)
{
    if (reading->workload.jobs.count > 0)
        return pleat_error_set(reading->err, PLEAT_E_INVALID,
                               "%s: must be before the first job; move the line up", key);
    return 0;
}

/* Whether a header line is one that is made anew in writing. */
static bool is_made_anew(const char *at, const char *end)
{
    static const char *const keys[] = {"Version", "MaxJobs", "MaxRecords", "UnixStartTime",
                                       "MaxProcs"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (take_key(&at, end, keys[i]))
            return true;
    }
    return end - at >= 6 && !strncasecmp(at, "Pleat-", 6);
}

/* Keeps a header line. `line` begins at its semicolon, `at` at its text. */
static int keep_header(struct pleat_swf_reading *reading, const char *line, const char *at,
                       const char *end)
{
    struct pleat_string *header = &reading->source.header;
    if (!reading->options.source || is_made_anew(at, end))
        return 0;
    pleat_string_add_bytes(header, line, (size_t)(end - line));
    pleat_string_add(header, "\n");
    return header->failed ? pleat_error_set(reading->err, PLEAT_E_NOMEM, "out of memory") : 0;
}

static int read_header(struct pleat_swf_reading *reading, const char *line, const char *end)
{
    const char *at = line;
    reading->report.headers++;
    while (at < end && (*at == ';' || pleat_is_blank(*at)))
        at++;
    int rc = keep_header(reading, line, at, end);
    if (rc)
        return rc;
    if (take_key(&at, end, "MaxProcs")) {
        if (reading->max_procs == 0)
            reading->max_procs = header_size(at, end);
    } else if (take_key(&at, end, "MaxNodes")) {
        if (reading->max_nodes == 0)
            reading->max_nodes = header_size(at, end);
    } else if (take_key(&at, end, "UnixStartTime")) {
        if (reading->workload.origin_us == 0)
            reading->workload.origin_us = header_time(at, end);
    } else if (take_key(&at, end, "Pleat-App")) {
        rc = before_jobs(reading, "Pleat-App");
        return rc ? rc : header_app(reading, at, end);
    } else if (take_key(&at, end, "Pleat-Columns")) {
        rc = before_jobs(reading, "Pleat-Columns");
        return rc ? rc : pleat_swf_layout_parse(at, end, &reading->layout, reading->err);
    }
    return 0;
}

/* ---- jobs ---- */

static int too_large(struct pleat_swf_reading *reading, int field, int64_t most)
{
    return pleat_error_set(reading->err, PLEAT_E_INVALID,
                           "column %d (%s): not from -%lld to %lld; correct the line, or put ';' "
                           "in front of it to leave the job out",
                           field + 1, pleat_swf_field_name(field), (long long)most,
                           (long long)most);
}

/* Checks that each number that is used fits the member for it. */
static int check_ranges(struct pleat_swf_reading *reading, const struct pleat_decimal *numbers)
{
    static const struct {
        int field;
        int64_t most;
    } ranges[] = {{PLEAT_SWF_JOB, INT64_MAX - 1},
                  {PLEAT_SWF_SUBMIT, PLEAT_WORKLOAD_TIME_MAX / US - 1},
                  {PLEAT_SWF_RUN, PLEAT_WORKLOAD_TIME_MAX / US - 1},
                  {PLEAT_SWF_ALLOCATED, PLEAT_SIZE_MAX},
                  {PLEAT_SWF_REQUESTED, PLEAT_SIZE_MAX},
                  {PLEAT_SWF_REQUESTED_TIME, PLEAT_WORKLOAD_TIME_MAX / US - 1},
                  {PLEAT_SWF_USER, INT32_MAX},
                  {PLEAT_SWF_PRECEDING, INT64_MAX - 1},
                  {PLEAT_SWF_THINK, PLEAT_WORKLOAD_TIME_MAX / US - 1}};
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        int64_t value = numbers[ranges[i].field].whole;
        if (value > ranges[i].most || value < -ranges[i].most)
            return too_large(reading, ranges[i].field, ranges[i].most);
    }
    return 0;
}

static int64_t microseconds(const struct pleat_decimal *number)
{
    return number->whole * US + number->micros;
}

/* Whether the job can be run. If not, it is counted. */
static bool keep(struct pleat_swf_reading *reading, const struct pleat_decimal *numbers)
{
    struct pleat_swf_report *report = &reading->report;
    const struct pleat_decimal *run = &numbers[PLEAT_SWF_RUN];
    int64_t status = numbers[PLEAT_SWF_STATUS].whole;
    bool zero = run->whole == 0 && run->micros == 0;
    if (status >= 2 && status <= 4) {
        report->bursts++;
        return false;
    }
    if (pleat_decimal_negative(&numbers[PLEAT_SWF_SUBMIT])) {
        report->no_submit++;
        return false;
    }
    if (numbers[PLEAT_SWF_ALLOCATED].whole <= 0 && numbers[PLEAT_SWF_REQUESTED].whole <= 0) {
        report->no_size++;
        return false;
    }
    report->zero_run_time += zero;
    if (pleat_decimal_negative(run) || (zero && reading->options.zero == PLEAT_SWF_ZERO_SKIP)) {
        report->no_run_time++;
        return false;
    }
    return true;
}

static void make_job(const struct pleat_decimal *numbers, struct pleat_workload_job *job)
{
    int64_t allocated = numbers[PLEAT_SWF_ALLOCATED].whole;
    int64_t estimate_us = microseconds(&numbers[PLEAT_SWF_REQUESTED_TIME]);
    int64_t user = numbers[PLEAT_SWF_USER].whole;
    memset(job, 0, sizeof(*job)); /* also padding, so that the same log gives the same bytes */
    job->number = numbers[PLEAT_SWF_JOB].whole;
    job->submit_us = microseconds(&numbers[PLEAT_SWF_SUBMIT]);
    job->run_us = microseconds(&numbers[PLEAT_SWF_RUN]);
    job->estimate_us = estimate_us > 0 ? estimate_us : 0;
    job->processors = (int32_t)(allocated > 0 ? allocated : numbers[PLEAT_SWF_REQUESTED].whole);
    job->user = user >= 0 ? (int32_t)user : -1;
    if (numbers[PLEAT_SWF_PRECEDING].whole > 0) {
        int64_t think_us = microseconds(&numbers[PLEAT_SWF_THINK]);
        job->preceding = numbers[PLEAT_SWF_PRECEDING].whole;
        job->think_us = think_us > 0 ? think_us : 0; /* unknown: none */
    }
    pleat_swf_extras_default(job);
}

static void count(struct pleat_swf_reading *reading, const struct pleat_decimal *numbers,
                  const struct pleat_workload_job *job)
{
    struct pleat_swf_report *report = &reading->report;
    report->jobs++;
    report->missing_wait += pleat_decimal_negative(&numbers[PLEAT_SWF_WAIT]);
    report->missing_estimate += job->estimate_us == 0;
    report->short_run += job->estimate_us > 0 && job->run_us > job->estimate_us;
    if (job->submit_us < reading->latest_us)
        report->unsorted++;
    else
        reading->latest_us = job->submit_us;
}

static int keep_record(struct pleat_swf_reading *reading, const struct pleat_decimal *numbers)
{
    struct pleat_swf_records *records = &reading->source.records;
    if (!reading->options.source)
        return 0;
    if (pleat_array_reserve(records, 1))
        return pleat_error_set(reading->err, PLEAT_E_NOMEM, "out of memory");
    pleat_swf_fill_record(numbers, &records->items[records->count++]);
    return 0;
}

static int read_job(struct pleat_swf_reading *reading, const char *at, const char *end)
{
    struct pleat_decimal numbers[PLEAT_SWF_FIELDS];
    struct pleat_workload_jobs *jobs = &reading->workload.jobs;
    int rc = pleat_swf_scan_fields(&at, end, numbers, reading->err);
    if (!rc)
        rc = check_ranges(reading, numbers);
    if (rc || !keep(reading, numbers))
        return rc;
    if (pleat_array_reserve(jobs, 1))
        return pleat_error_set(reading->err, PLEAT_E_NOMEM, "out of memory");
    struct pleat_workload_job *job = &jobs->items[jobs->count];
    make_job(numbers, job);
    if (reading->layout.count > 0) {
        rc = pleat_swf_extras_read(&at, end, &reading->layout, job, reading->err);
        if (!rc)
            rc = pleat_workload_check_job(&reading->workload, job, reading->err);
        if (rc)
            return rc;
    }
    rc = keep_record(reading, numbers);
    if (rc)
        return rc;
    while (at < end && pleat_is_blank(*at))
        at++;
    reading->report.extra_columns += at < end;
    jobs->count++;
    count(reading, numbers, job);
    reading->done = jobs->count == reading->options.most;
    return 0;
}

/* ---- text ---- */

static int read_line(struct pleat_swf_reading *reading, const char *at, const char *end)
{
    reading->report.lines++;
    while (at < end && pleat_is_blank(*at))
        at++;
    if (at == end)
        return 0;
    int rc = *at == ';' ? read_header(reading, at, end) : read_job(reading, at, end);
    if (rc)
        pleat_error_prefix(reading->err, rc, "%s:%zu", reading->name, reading->report.lines);
    return rc;
}

/* Reads a text that ends with LF (or with the file): one line, or several that end with CR. */
static int read_lines(struct pleat_swf_reading *reading, const char *at, const char *end)
{
    const char *stop;
    while (end > at && end[-1] == '\r') {
        end--;
        reading->report.crlf = true;
    }
    while (!reading->done && (stop = memchr(at, '\r', (size_t)(end - at)))) {
        reading->report.crlf = true;
        int rc = read_line(reading, at, stop);
        if (rc)
            return rc;
        at = stop + 1;
    }
    return reading->done ? 0 : read_line(reading, at, end);
}

int pleat_swf_feed(struct pleat_swf_reading *reading, const char *text, size_t length, bool last,
                   size_t *used)
{
    const char *at = text, *end = text + length;
    int rc = 0;
    while (at < end && !reading->done && !rc) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop && !last)
            break;
        rc = read_lines(reading, at, stop ? stop : end);
        at = stop ? stop + 1 : end;
    }
    *used = (size_t)(at - text);
    return rc;
}
