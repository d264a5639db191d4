#include "workload/swf-internal.h"

static const char *const names[PLEAT_SWF_FIELDS] = {"job number",
                                                    "submit time",
                                                    "wait time",
                                                    "run time",
                                                    "allocated processors",
                                                    "CPU time",
                                                    "used memory",
                                                    "requested processors",
                                                    "requested time",
                                                    "requested memory",
                                                    "status",
                                                    "user",
                                                    "group",
                                                    "executable",
                                                    "queue",
                                                    "partition",
                                                    "preceding job",
                                                    "think time"};

/* Columns whose numbers are whole. */
static const bool whole_only[PLEAT_SWF_FIELDS] = {
    [PLEAT_SWF_JOB] = true,      [PLEAT_SWF_ALLOCATED] = true,  [PLEAT_SWF_REQUESTED] = true,
    [PLEAT_SWF_STATUS] = true,   [PLEAT_SWF_USER] = true,       [PLEAT_SWF_GROUP] = true,
    [PLEAT_SWF_QUEUE] = true,    [PLEAT_SWF_EXECUTABLE] = true, [PLEAT_SWF_PARTITION] = true,
    [PLEAT_SWF_PRECEDING] = true};

const char *pleat_swf_field_name(int field)
{
    return names[field];
}

/* ---- lines ---- */

int pleat_swf_bad_column(const char *at, const char *end, int column, const char *name,
                         const char *what, struct pleat_error *err)
{
    char shown[4 * 24 + 4];
    size_t length = 0, count = 0;
    for (; at < end && !pleat_is_blank(*at) && count < 24; at++, count++) {
        unsigned char c = (unsigned char)*at;
        if (c > ' ' && c < 0x7f)
            shown[length++] = *at;
        else
            length += (size_t)snprintf(shown + length, 5, "\\x%02x", c);
    }
    if (at < end && !pleat_is_blank(*at)) {
        shown[length++] = '.';
        shown[length++] = '.';
        shown[length++] = '.';
    }
    return pleat_error_set(err, PLEAT_E_INVALID,
                           "column %d (%s): '%.*s' %s; correct the line, or put ';' in front of "
                           "it to leave the job out",
                           column, name, (int)length, shown, what);
}

int pleat_swf_scan_fields(const char **at, const char *end,
                          struct pleat_decimal numbers[PLEAT_SWF_FIELDS], struct pleat_error *err)
{
    const char *p = *at;
    for (int field = 0; field < PLEAT_SWF_FIELDS; field++) {
        while (p < end && pleat_is_blank(*p))
            p++;
        if (p == end)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "only %d columns: column %d (%s) is missing; a job has %d, with "
                                   "-1 for what is unknown: complete the line, or put ';' in "
                                   "front of it to leave the job out",
                                   field, field + 1, names[field], PLEAT_SWF_FIELDS);
        const char *begin = p;
        if (!pleat_decimal_scan(&p, end, &numbers[field]))
            return pleat_swf_bad_column(begin, end, field + 1, names[field], "is not a number",
                                        err);
        if (numbers[field].micros != 0 && whole_only[field])
            return pleat_swf_bad_column(begin, end, field + 1, names[field],
                                        "is not a whole number", err);
    }
    *at = p;
    return 0;
}

static double real(const struct pleat_decimal *number)
{
    return (double)number->whole + number->micros / 1e6;
}

void pleat_swf_fill_record(const struct pleat_decimal numbers[PLEAT_SWF_FIELDS],
                           struct pleat_swf_record *record)
{
    *record = (struct pleat_swf_record){
        .job = numbers[PLEAT_SWF_JOB].whole,
        .submit_s = real(&numbers[PLEAT_SWF_SUBMIT]),
        .wait_s = real(&numbers[PLEAT_SWF_WAIT]),
        .run_s = real(&numbers[PLEAT_SWF_RUN]),
        .allocated = numbers[PLEAT_SWF_ALLOCATED].whole,
        .cpu_s = real(&numbers[PLEAT_SWF_CPU]),
        .memory_kb = real(&numbers[PLEAT_SWF_MEMORY]),
        .requested = numbers[PLEAT_SWF_REQUESTED].whole,
        .requested_kb = real(&numbers[PLEAT_SWF_REQUESTED_MEMORY]),
        .status = numbers[PLEAT_SWF_STATUS].whole,
        .user = numbers[PLEAT_SWF_USER].whole,
        .group = numbers[PLEAT_SWF_GROUP].whole,
        .executable = numbers[PLEAT_SWF_EXECUTABLE].whole,
        .queue = numbers[PLEAT_SWF_QUEUE].whole,
        .partition = numbers[PLEAT_SWF_PARTITION].whole,
        .preceding = numbers[PLEAT_SWF_PRECEDING].whole,
        .think_s = real(&numbers[PLEAT_SWF_THINK]),
    };
}
