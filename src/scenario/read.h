/* read.h - reads workloads of any format that is known here. */
#ifndef PLEAT_SCENARIO_READ_H
#define PLEAT_SCENARIO_READ_H

#include "workload/swf.h"

enum pleat_workload_format {
    PLEAT_FORMAT_ANY,       /* that of the file, as its beginning tells */
    PLEAT_FORMAT_SWF,       /* Standard Workload Format (workload/swf.h) */
    PLEAT_FORMAT_BATSIM,    /* Batsim's workloads */
    PLEAT_FORMAT_ELASTISIM, /* ElastiSim's jobs, with the application models that they name */
    PLEAT_FORMAT_COUNT
};

/* The format of that name: "swf", "batsim", "elastisim"; "": any. PLEAT_E_INVALID. */
int pleat_format_parse(const char *text, enum pleat_workload_format *format,
                       struct pleat_error *err) PLEAT_MUST_CHECK;

/* Its name, as above. */
const char *pleat_format_name(enum pleat_workload_format format);

struct pleat_reading {
    enum pleat_workload_format format; /* wanted; afterwards: the file's */
    double flops; /* what a processor computes in a second, for formats that count operations; 0:
                   * not known */
    struct pleat_swf_options swf;
    /* what was found: */
    struct pleat_swf_report report;
    struct pleat_string notes; /* what the workload does not have of the file, a line each; to be
                                * finished by the caller */
};

/* Reads a file ("-": standard input, whose format has to be said unless it is SWF) into an empty,
 * initialized workload. The file may be packed. PLEAT_E_INVALID: err names the file and the line or
 * the field, and says what to do. PLEAT_E_SYSTEM, PLEAT_E_NOMEM. After an error the workload is
 * empty, or as it was. */
int pleat_workload_read(const char *path, struct pleat_reading *reading,
                        struct pleat_workload *workload, struct pleat_error *err) PLEAT_MUST_CHECK;

/* As above, of a text in JSON in the given format. name: the file's, for errors; files that it
 * names count from where it is. */
int pleat_workload_read_json(const char *text, size_t length, const char *name,
                             struct pleat_reading *reading, struct pleat_workload *workload,
                             struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
