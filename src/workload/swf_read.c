#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "workload/convert.h"
#include "workload/swf-internal.h"

enum {
    PIECE = 256 * 1024,           /* read at a time: the text is never in memory as a whole */
    LINE_MOST = 64 * 1024 * 1024, /* a file with a longer line is no log */
    US = 1000000
};

struct reading {
    const char *name;
    struct pleat_swf_options options;
    struct pleat_workload workload; /* what has been read */
    struct pleat_swf_report report;
    struct pleat_swf_layout layout;
    int32_t max_procs, max_nodes; /* of the header; 0: not there */
    int64_t latest_us;            /* of the submissions so far */
    bool done;                    /* as many jobs as wanted */
    struct pleat_error *err;
};

/* ---- header lines ---- */

/* Is it "KEY: ..."? Then *at is moved behind the colon and the blanks after it. */
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

/* A size as logs have it: text may follow the number, which is 0 if it makes no sense. */
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

static int header_app(struct reading *reading, const char *at, const char *end)
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

/* Jobs are checked as they are read, against what their columns and applications are by then. */
static int before_jobs(struct reading *reading, const char *key)
{
    if (reading->workload.jobs.count > 0)
        return pleat_error_set(reading->err, PLEAT_E_INVALID,
                               "%s: must be before the first job; move the line up", key);
    return 0;
}

static int read_header(struct reading *reading, const char *at, const char *end)
{
    reading->report.headers++;
    while (at < end && (*at == ';' || pleat_is_blank(*at)))
        at++;
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
        int rc = before_jobs(reading, "Pleat-App");
        return rc ? rc : header_app(reading, at, end);
    } else if (take_key(&at, end, "Pleat-Columns")) {
        int rc = before_jobs(reading, "Pleat-Columns");
        return rc ? rc : pleat_swf_layout_parse(at, end, &reading->layout, reading->err);
    }
    return 0;
}

/* ---- jobs ---- */

static int too_large(struct reading *reading, int field, int64_t most)
{
    return pleat_error_set(reading->err, PLEAT_E_INVALID,
                           "column %d (%s): not from -%lld to %lld; correct the line, or put ';' "
                           "in front of it to leave the job out",
                           field + 1, pleat_swf_field_name(field), (long long)most,
                           (long long)most);
}

/* No number that is used is larger than what it is kept in. */
static int check_ranges(struct reading *reading, const struct pleat_decimal *numbers)
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
                  {PLEAT_SWF_USER, INT32_MAX}};
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

/* Is it a job that can be run? Counts it if not. */
static bool keep(struct reading *reading, const struct pleat_decimal *numbers)
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
    memset(job, 0, sizeof(*job)); /* padding too: the same log gives the same bytes */
    job->number = numbers[PLEAT_SWF_JOB].whole;
    job->submit_us = microseconds(&numbers[PLEAT_SWF_SUBMIT]);
    job->run_us = microseconds(&numbers[PLEAT_SWF_RUN]);
    job->estimate_us = estimate_us > 0 ? estimate_us : 0;
    job->processors = (int32_t)(allocated > 0 ? allocated : numbers[PLEAT_SWF_REQUESTED].whole);
    job->user = user >= 0 ? (int32_t)user : -1;
    pleat_swf_extras_default(job);
}

static void count(struct reading *reading, const struct pleat_decimal *numbers,
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

static int read_job(struct reading *reading, const char *at, const char *end)
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
    while (at < end && pleat_is_blank(*at))
        at++;
    reading->report.extra_columns += at < end;
    jobs->count++;
    count(reading, numbers, job);
    reading->done = jobs->count == reading->options.most;
    return 0;
}

/* ---- text ---- */

static int read_line(struct reading *reading, const char *at, const char *end)
{
    reading->report.lines++;
    while (at < end && pleat_is_blank(*at))
        at++;
    if (at == end)
        return 0;
    int rc = *at == ';' ? read_header(reading, at, end) : read_job(reading, at, end);
    if (rc)
        pleat_error_prefix(reading->err, "%s:%zu", reading->name, reading->report.lines);
    return rc;
}

/* What ends with LF (or with the file): one line, or several that end with CR. */
static int read_lines(struct reading *reading, const char *at, const char *end)
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

/* Reads whole lines; *used is how much of the text that was. What is behind the last line end is a
 * line only if the text ends there. */
static int feed(struct reading *reading, const char *text, size_t length, bool last, size_t *used)
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

/* What the first bytes tell: how many to skip, or that this is not text. */
static int check_beginning(struct reading *reading, const char *text, size_t length, size_t *skip)
{
    *skip = length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
    if (length >= 2 && !memcmp(text, "\x1f\x8b", 2))
        return pleat_error_set(reading->err, PLEAT_E_INVALID,
                               "%s: is compressed; unpack it first (gunzip)", reading->name);
    if (length >= 2 && (!memcmp(text, "\xff\xfe", 2) || !memcmp(text, "\xfe\xff", 2)))
        return pleat_error_set(reading->err, PLEAT_E_INVALID,
                               "%s: is UTF-16; convert it first (iconv -f utf-16 -t utf-8)",
                               reading->name);
    return 0;
}

/* ---- the whole ---- */

static int by_submission(const void *left, const void *right, void *context)
{
    const struct pleat_workload_job *jobs = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (jobs[a].submit_us != jobs[b].submit_us)
        return jobs[a].submit_us < jobs[b].submit_us ? -1 : 1;
    return a < b ? -1 : 1;
}

/* Sorts by submission, equal ones in the log's order, with 4 bytes a job beside them. */
static int sort_jobs(struct pleat_workload_jobs *jobs)
{
    if (jobs->count > UINT32_MAX)
        return PLEAT_E_NOMEM;
    uint32_t *order = malloc(jobs->count * sizeof(*order));
    if (!order)
        return PLEAT_E_NOMEM;
    for (size_t i = 0; i < jobs->count; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, jobs->count, sizeof(*order), by_submission, jobs->items);
    /* order[i] is which job belongs at i: follow each cycle, marking what is in its place */
    for (size_t i = 0; i < jobs->count; i++) {
        struct pleat_workload_job first = jobs->items[i];
        size_t at = i;
        while (order[at] != i) {
            size_t from = order[at];
            jobs->items[at] = jobs->items[from];
            order[at] = (uint32_t)at;
            at = from;
        }
        jobs->items[at] = first;
        order[at] = (uint32_t)at;
    }
    free(order);
    return 0;
}

static int start_reading(struct reading *reading, const char *name,
                         const struct pleat_swf_options *options, struct pleat_error *err)
{
    memset(reading, 0, sizeof(*reading));
    reading->name = name;
    reading->options = *options;
    reading->err = err;
    if (pleat_workload_init(&reading->workload))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    return 0;
}

/* Gives away what was read, or nothing. */
static int finish_reading(struct reading *reading, int rc, struct pleat_workload *workload,
                          struct pleat_swf_report *report)
{
    struct pleat_workload *read = &reading->workload;
    if (!rc && reading->report.unsorted > 0 && sort_jobs(&read->jobs))
        rc = pleat_error_set(reading->err, PLEAT_E_NOMEM, "out of memory");
    if (rc) {
        pleat_workload_finish(read);
        return rc;
    }
    read->machine = reading->max_procs > 0 ? reading->max_procs : reading->max_nodes;
    pleat_workload_finish(workload);
    *workload = *read;
    if (report)
        *report = reading->report;
    return 0;
}

int pleat_swf_read_text(const char *text, size_t length, const char *name,
                        const struct pleat_swf_options *options, struct pleat_workload *workload,
                        struct pleat_swf_report *report, struct pleat_error *err)
{
    struct reading reading;
    size_t skip, used;
    int rc = start_reading(&reading, name, options, err);
    if (rc)
        return rc;
    rc = check_beginning(&reading, text, length, &skip);
    if (!rc)
        rc = feed(&reading, text + skip, length - skip, true, &used);
    return finish_reading(&reading, rc, workload, report);
}

/* The part of a file that has been read and not yet used. */
struct window {
    char *bytes;
    size_t filled, capacity;
    bool ended, begun;
};

static int fill(struct reading *reading, int fd, struct window *window)
{
    if (window->filled >= LINE_MOST)
        return pleat_error_set(reading->err, PLEAT_E_INVALID,
                               "%s:%zu: a line of more than 64 MiB: this is no workload log",
                               reading->name, reading->report.lines + 1);
    if (pleat_array_reserve_raw((void **)&window->bytes, &window->capacity, window->filled, PIECE,
                                1))
        return pleat_error_set(reading->err, PLEAT_E_NOMEM, "out of memory");
    ssize_t got;
    do {
        got = read(fd, window->bytes + window->filled, PIECE);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return pleat_error_sys(reading->err, errno, "cannot read %s", reading->name);
    window->filled += (size_t)got;
    window->ended = got == 0;
    return 0;
}

static int use(struct reading *reading, struct window *window)
{
    size_t skip = 0, used;
    if (!window->begun) {
        if (window->filled < 3 && !window->ended)
            return 0; /* too little to tell what it is */
        int rc = check_beginning(reading, window->bytes, window->filled, &skip);
        if (rc)
            return rc;
        window->begun = true;
    }
    int rc = feed(reading, window->bytes + skip, window->filled - skip, window->ended, &used);
    used += skip;
    window->filled -= used;
    memmove(window->bytes, window->bytes + used, window->filled);
    return rc;
}

int pleat_swf_read(const char *path, const struct pleat_swf_options *options,
                   struct pleat_workload *workload, struct pleat_swf_report *report,
                   struct pleat_error *err)
{
    struct reading reading;
    struct window window = {0};
    bool standard_input = !strcmp(path, "-");
    int fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return pleat_error_sys(err, errno, "cannot open %s", path);
    int rc = start_reading(&reading, standard_input ? "standard input" : path, options, err);
    while (!rc && !reading.done && !window.ended) {
        rc = fill(&reading, fd, &window);
        if (!rc)
            rc = use(&reading, &window);
    }
    free(window.bytes);
    if (!standard_input)
        close(fd);
    return finish_reading(&reading, rc, workload, report);
}
