#include "conf_fuzz.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/config.h"
#include "daemon/config_site.h"
#include "must.h"
#include "site/local.h"

unsigned long pleat_fuzz_conf_good;

/* The kept text of a site gives the same site when it is read again. */
static void check_block(const struct pleat_config_site *site)
{
    struct pleat_config_site again;
    must(site->block && config_site_read(site->block, &again, NULL) == 0);
    must(!strcmp(again.name, site->name) && again.ops == site->ops);
    must(again.processors == site->processors && again.threshold == site->threshold);
    must(again.poll_us == site->poll_us && again.shares_time == site->shares_time);
    must(!strcmp(again.block, site->block));
    config_site_finish(&again);
}

static void check(const struct pleat_config *config)
{
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++)
        must(config->policies[q] && (int)config->policies[q]->question == q);
    for (uint32_t p = 1; p < PLEAT_PARAM_COUNT; p++)
        must(config->parameters[p] >= 0 && config->parameters[p] <= INT64_C(1000000000000000));
    must(config->idle_exit_us >= 0);
    must(config->site_count >= 1);
    for (size_t i = 0; i < config->site_count; i++) {
        const struct pleat_config_site *site = &config->sites[i];
        must(site->name && site->ops && site->own);
        check_block(site);
        must(site->processors >= 0 && site->processors <= 65536);
        must(site->threshold >= 0 && site->threshold <= 65536);
        const struct pleat_local_options *own = site->own;
        must(site->ops != &pleat_site_local ||
             (own->nodes >= 1 && own->nodes <= 1024 && own->cpus && own->background >= 0));
        for (size_t j = 0; j < i; j++)
            must(strcmp(config->sites[j].name, site->name) != 0);
    }
}

void pleat_fuzz_conf(const uint8_t *bytes, size_t size)
{
    static int file = -1;
    char path[64];
    struct pleat_config config;
    struct pleat_error err = {0};
    if (file < 0)
        file = memfd_create("conf", MFD_CLOEXEC);
    must(file >= 0 && ftruncate(file, 0) == 0);
    must(pwrite(file, bytes, size, 0) == (ssize_t)size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    int status = pleat_config_load(path, &config, &err);
    if (status) {
        must(err.code == status && !strncmp(err.text, path, strlen(path)));
        return;
    }
    check(&config);
    pleat_fuzz_conf_good++;
    pleat_config_finish(&config);
}
