#include "jobs_fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "must.h"
#include "scenario/read.h"
#include "workload/swf.h"

unsigned long pleat_fuzz_jobs_read;

/* What was read can be written, and is read back with as many jobs. */
static void there_and_back(const struct pleat_workload *workload)
{
    const struct pleat_swf_options keep = {.zero = PLEAT_SWF_ZERO_KEEP};
    struct pleat_workload again = {0};
    struct pleat_error err = {0};
    char *text = NULL;
    size_t length;
    FILE *file = open_memstream(&text, &length);
    must(file && pleat_swf_write(workload, NULL, file, "fuzz\n", NULL) == 0 && fclose(file) == 0);
    must(pleat_workload_init(&again) == 0);
    if (pleat_swf_read_text(text, length, "again", &keep, &again, NULL, &err)) {
        fprintf(stderr, "%s\n%s\n", err.text, text);
        abort();
    }
    must(again.jobs.count == workload->jobs.count);
    pleat_workload_finish(&again);
    free(text);
}

void pleat_fuzz_jobs(const uint8_t *bytes, size_t size)
{
    struct pleat_reading reading = {.flops = 1e9};
    struct pleat_workload workload = {0};
    struct pleat_error err = {0};
    /* a copy of its own, so that reading beyond it is seen */
    char *text = malloc(size + 1);
    must(text);
    if (size)
        memcpy(text, bytes, size);
    must(pleat_workload_init(&workload) == 0);
    int rc = pleat_workload_read_json(text, size, "/no/such/fuzz", &reading, &workload, &err);
    if (rc) {
        must(rc == PLEAT_E_INVALID && err.code == rc && strstr(err.text, "/no/such/fuzz"));
        must(workload.jobs.count == 0);
    } else {
        must(reading.report.jobs == workload.jobs.count);
        rc = pleat_workload_check(&workload, &err);
        must(rc == 0 || strstr(err.text, "70,000 years") || strstr(err.text, "3,170 years"));
        if (rc == 0)
            there_and_back(&workload);
        pleat_fuzz_jobs_read++;
    }
    pleat_string_finish(&reading.notes);
    pleat_workload_finish(&workload);
    free(text);
}
