/* swf_read.c - reads whole logs from memory or files. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "workload/swf-internal.h"
#include "workload/unpack.h"

enum {
    PIECE = 256 * 1024,           /* bytes read at a time: the text is never in memory as a whole */
    LINE_MOST = 64 * 1024 * 1024, /* a file with a longer line is no log */
};

/* Checks the first bytes: how many of them to skip, and that the file is text. */
static int check_beginning(struct pleat_swf_reading *reading, const char *text, size_t length,
                           size_t *skip)
{
    *skip = length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
    if (pleat_unpack_needed(text, length)) /* of a file it has been unpacked by now */
        return pleat_error_set(reading->err, PLEAT_E_INVALID,
                               "%s: is compressed (twice, or damaged)", reading->name);
    if (length >= 2 && (!memcmp(text, "\xff\xfe", 2) || !memcmp(text, "\xfe\xff", 2)))
        return pleat_error_set(reading->err, PLEAT_E_INVALID,
                               "%s: is UTF-16; convert it first (iconv -f utf-16 -t utf-8)",
                               reading->name);
    size_t at = *skip;
    while (at < length && (pleat_is_blank(text[at]) || text[at] == '\r' || text[at] == '\n'))
        at++;
    if (at < length && text[at] == '{')
        return pleat_error_set(reading->err, PLEAT_E_INVALID,
                               "%s: is JSON, no log: say --format batsim or --format elastisim",
                               reading->name);
    return 0;
}

void pleat_swf_source_finish(struct pleat_swf_source *source)
{
    pleat_array_finish(&source->records);
    pleat_string_finish(&source->header);
}

static int by_submission(const void *left, const void *right, void *context)
{
    const struct pleat_workload_job *jobs = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (jobs[a].submit_us != jobs[b].submit_us)
        return jobs[a].submit_us < jobs[b].submit_us ? -1 : 1;
    return a < b ? -1 : 1;
}

static int arrange_records(struct pleat_swf_records *records, const uint32_t *order)
{
    if (records->count == 0)
        return 0;
    struct pleat_swf_record *sorted = malloc(records->count * sizeof(*sorted));
    if (!sorted)
        return PLEAT_E_NOMEM;
    for (size_t i = 0; i < records->count; i++)
        sorted[i] = records->items[order[i]];
    free(records->items);
    records->items = sorted;
    records->capacity = records->count;
    return 0;
}

/* Moves the job at order[i] to i, without a second array of jobs. Destroys `order`. */
static void arrange_jobs(struct pleat_workload_jobs *jobs, uint32_t *order)
{
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
}

/* Sorts jobs by submission; those submitted at one time keep the log's order. */
static int sort(struct pleat_swf_reading *reading)
{
    struct pleat_workload_jobs *jobs = &reading->workload.jobs;
    uint32_t *order = jobs->count <= UINT32_MAX ? malloc(jobs->count * sizeof(*order)) : NULL;
    if (!order)
        return PLEAT_E_NOMEM;
    for (size_t i = 0; i < jobs->count; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, jobs->count, sizeof(*order), by_submission, jobs->items);
    int rc = arrange_records(&reading->source.records, order);
    if (!rc)
        arrange_jobs(jobs, order);
    free(order);
    return rc;
}

static int by_number(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

/* Counts the jobs whose number another one has. Most logs number their jobs in order. */
static int count_repeated(struct pleat_swf_reading *reading)
{
    const struct pleat_workload_jobs *jobs = &reading->workload.jobs;
    size_t i = 1;
    while (i < jobs->count && jobs->items[i].number > jobs->items[i - 1].number)
        i++;
    if (i >= jobs->count)
        return 0;
    int64_t *numbers = malloc(jobs->count * sizeof(*numbers));
    if (!numbers)
        return PLEAT_E_NOMEM;
    for (i = 0; i < jobs->count; i++)
        numbers[i] = jobs->items[i].number;
    qsort(numbers, jobs->count, sizeof(*numbers), by_number);
    for (i = 1; i < jobs->count; i++)
        reading->report.repeated += numbers[i] == numbers[i - 1];
    free(numbers);
    return 0;
}

static int start_reading(struct pleat_swf_reading *reading, const char *name,
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

/* Hands over what was read; after an error, nothing. */
static int finish_reading(struct pleat_swf_reading *reading, int rc,
                          struct pleat_workload *workload, struct pleat_swf_report *report)
{
    struct pleat_workload *read = &reading->workload;
    if (!rc && (count_repeated(reading) || (reading->report.unsorted > 0 && sort(reading))))
        rc = pleat_error_set(reading->err, PLEAT_E_NOMEM, "out of memory");
    if (rc) {
        pleat_workload_finish(read);
        pleat_swf_source_finish(&reading->source);
        return rc;
    }
    if (reading->options.source)
        *reading->options.source = reading->source;
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
    struct pleat_swf_reading reading;
    size_t skip, used;
    int rc = start_reading(&reading, name, options, err);
    if (rc)
        return rc;
    rc = check_beginning(&reading, text, length, &skip);
    if (!rc)
        rc = pleat_swf_feed(&reading, text + skip, length - skip, true, &used);
    return finish_reading(&reading, rc, workload, report);
}

/* The part of a file that was read and is not used yet. */
struct window {
    char *bytes;
    size_t filled, capacity;
    bool ended, begun;
    struct pleat_unpack *unpack; /* NULL: the file is plain text */
};

static int read_some(struct pleat_swf_reading *reading, int fd, struct window *window, size_t *got)
{
    ssize_t count;
    size_t room = window->capacity - window->filled;
    if (window->unpack)
        return pleat_unpack_read(window->unpack, window->bytes + window->filled, room, got,
                                 reading->err);
    do {
        count = read(fd, window->bytes + window->filled, room);
    } while (count < 0 && errno == EINTR);
    if (count < 0)
        return pleat_error_sys(reading->err, errno, "cannot read %s", reading->name);
    *got = (size_t)count;
    return 0;
}

static int fill(struct pleat_swf_reading *reading, int fd, struct window *window)
{
    if (window->filled >= LINE_MOST)
        return pleat_error_set(reading->err, PLEAT_E_INVALID,
                               "%s:%zu: a line of more than 64 MiB: this is no workload log",
                               reading->name, reading->report.lines + 1);
    /* what is left of a piece will do: the end of a short file needs no more memory */
    if (window->capacity - window->filled < PIECE / 2 &&
        pleat_array_reserve_raw((void **)&window->bytes, &window->capacity, window->filled, PIECE,
                                1))
        return pleat_error_set(reading->err, PLEAT_E_NOMEM, "out of memory");
    size_t got = 0;
    int rc = read_some(reading, fd, window, &got);
    window->filled += got;
    window->ended = got == 0;
    return rc;
}

/* Checks whether the file is compressed, by what was read so far: that is its beginning. If so, the
 * window begins anew with the unpacked text. */
static int unpack(struct pleat_swf_reading *reading, int fd, struct window *window)
{
    if (window->unpack || !pleat_unpack_needed(window->bytes, window->filled))
        return 0;
    int rc = pleat_unpack_open(&window->unpack, fd, window->bytes, window->filled, reading->name,
                               reading->err);
    window->filled = 0;
    window->ended = false;
    return rc;
}

static int use(struct pleat_swf_reading *reading, int fd, struct window *window)
{
    size_t skip = 0, used;
    if (!window->begun) {
        if (window->filled < PLEAT_UNPACK_BYTES && !window->ended)
            return 0; /* too few bytes to tell */
        bool plain = !window->unpack;
        int rc = unpack(reading, fd, window);
        if (rc || (plain && window->unpack))
            return rc;
        rc = check_beginning(reading, window->bytes, window->filled, &skip);
        if (rc)
            return rc;
        window->begun = true;
    }
    int rc =
        pleat_swf_feed(reading, window->bytes + skip, window->filled - skip, window->ended, &used);
    used += skip;
    window->filled -= used;
    memmove(window->bytes, window->bytes + used, window->filled);
    return rc;
}

int pleat_swf_read(const char *path, const struct pleat_swf_options *options,
                   struct pleat_workload *workload, struct pleat_swf_report *report,
                   struct pleat_error *err)
{
    struct pleat_swf_reading reading;
    struct window window = {0};
    bool standard_input = !strcmp(path, "-");
    int fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return pleat_error_sys(err, errno, "cannot open %s", path);
    int rc = start_reading(&reading, standard_input ? "standard input" : path, options, err);
    while (!rc && !reading.done && !window.ended) {
        rc = fill(&reading, fd, &window);
        if (!rc)
            rc = use(&reading, fd, &window);
    }
    pleat_unpack_close(window.unpack);
    free(window.bytes);
    if (!standard_input)
        close(fd);
    return finish_reading(&reading, rc, workload, report);
}
