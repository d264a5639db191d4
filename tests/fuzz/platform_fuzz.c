#include "platform_fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "must.h"
#include "scenario/platform_file.h"
#include "sim/sim.h"

unsigned long pleat_fuzz_platforms;

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

void pleat_fuzz_platform(const uint8_t *bytes, size_t size)
{
    struct pleat_platform platform = {0};
    struct pleat_error err = {0};
    /* a copy of its own, so that reading beyond it is seen */
    char *text = malloc(size + 1);
    must(text);
    if (size)
        memcpy(text, bytes, size);
    text[size] = 0;
    must(pleat_platform_add(&platform, "there", 4) == 0);
    int status = pleat_platform_read_text(text, "/no/such/fuzz", &platform, &err);
    if (status) {
        must(err.code == status && err.text[0] == '/');
        must(platform.sites.count == 1);
    } else {
        must(platform.sites.count > 1);
        pleat_fuzz_platforms++;
        simulate(&platform);
    }
    pleat_platform_finish(&platform);
    free(text);
}
