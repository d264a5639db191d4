#include "config/parse.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t scanner = PTHREAD_MUTEX_INITIALIZER;

/* A text being read: where its first mistake goes. */
struct reading {
    const char *name;
    struct pleat_error *err;
};

/* libconfuse reports through a callback without an argument of ours. What it does hand on, from a
 * file to its sections, is the file's name, which it shows nobody: that names the reading. */
static char *name_of(const struct reading *reading)
{
    char text[32];
    snprintf(text, sizeof(text), "%p", (const void *)reading);
    return strdup(text);
}

/* NULL: no text is being read into it. */
static const struct reading *reading_of(const cfg_t *cfg)
{
    void *found = NULL;
    return cfg && cfg->filename && sscanf(cfg->filename, "%p", &found) == 1 ? found : NULL;
}

static void report(cfg_t *cfg, const char *fmt, va_list args)
{
    char text[400];
    const struct reading *reading = reading_of(cfg);
    if (!reading || reading->err->code)
        return; /* the first is the one to mend */
    vsnprintf(text, sizeof(text), fmt, args);
    pleat_error_set(reading->err, PLEAT_E_INVALID, "%s:%d: %s", reading->name, cfg->line, text);
}

void pleat_config_fail(cfg_t *cfg, const struct pleat_error *err)
{
    const struct reading *reading = reading_of(cfg);
    if (reading && !reading->err->code)
        *reading->err = *err;
}

cfg_t *pleat_config_open(cfg_opt_t *options)
{
    pthread_mutex_lock(&scanner); /* defaults of lists are scanned, too */
    cfg_t *cfg = cfg_init(options, CFGF_NONE);
    pthread_mutex_unlock(&scanner);
    if (cfg)
        cfg_set_error_function(cfg, report);
    return cfg;
}

int pleat_config_parse(cfg_t *cfg, const char *name, const char *text, struct pleat_error *err)
{
    struct pleat_error own = {0};
    struct reading reading = {.name = name, .err = &own};
    FILE *file = *text ? fmemopen((void *)(uintptr_t)text, strlen(text), "r") : NULL;
    char *filename = name_of(&reading);
    if (!filename || (*text && !file)) {
        free(filename);
        if (file)
            fclose(file);
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    }
    free(cfg->filename);
    cfg->filename = filename;
    pthread_mutex_lock(&scanner);
    bool failed = file && cfg_parse_fp(cfg, file) != CFG_SUCCESS;
    pthread_mutex_unlock(&scanner);
    if (file)
        fclose(file);
    free(cfg->filename); /* the reading is over */
    cfg->filename = NULL;
    if (failed && !own.code)
        pleat_error_set(&own, PLEAT_E_INVALID, "%s: cannot be understood", name);
    if (own.code && err)
        *err = own;
    return own.code;
}

void pleat_config_close(cfg_t *cfg)
{
    pthread_mutex_lock(&scanner); /* it takes down the scanner */
    cfg_free(cfg);
    pthread_mutex_unlock(&scanner);
}
