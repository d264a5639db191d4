#include "simgrid_fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "must.h"
#include "scenario/simgrid.h"
#include "sim/sim.h"

unsigned long pleat_fuzz_simgrids;

/* A run without jobs ends at once, after the sites were looked at. */
static void simulate(const struct pleat_platform *platform)
{
    struct pleat_workload workload = {0};
    struct pleat_sim_options options = {.platform = platform, .seed = 1};
    struct pleat_sim_outcome none;
    struct pleat_sim_totals totals;
    struct pleat_error err = {0};
    must(pleat_workload_init(&workload) == 0);
    if (pleat_sim_run(&workload, &options, &none, &totals, &err)) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    pleat_workload_finish(&workload);
}

void pleat_fuzz_simgrid(const uint8_t *bytes, size_t size)
{
    struct pleat_platform platform = {0};
    struct pleat_string notes = {0};
    struct pleat_error err = {0};
    /* a copy of its own, so that reading beyond it is seen */
    char *text = malloc(size + 1);
    must(text);
    if (size)
        memcpy(text, bytes, size);
    must(pleat_platform_add(&platform, "there", 4) == 0);
    int rc = pleat_simgrid_read_text(text, size, "/no/such/fuzz", &platform, &notes, &err);
    if (rc) {
        must(rc == PLEAT_E_INVALID && err.code == rc && !strncmp(err.text, "/no/such/fuzz:", 14));
        must(platform.sites.count == 1 && !(platform.flops > 0));
    } else {
        must(platform.sites.count > 1 && platform.flops > 0);
        pleat_fuzz_simgrids++;
        simulate(&platform);
    }
    pleat_string_finish(&notes);
    pleat_platform_finish(&platform);
    free(text);
}
