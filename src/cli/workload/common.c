/* common.c - reads options and writes files, for all subcommands of `workload`. */
#include <stdio.h>
#include <string.h>

#include "cli/workload/workload.h"
#include "figure/replace.h"

int pleat_workload_usage(const struct pleat_options *options, const struct pleat_error *err)
{
    return pleat_usage(options->command, "%s", err->text);
}

int pleat_parse_zero(const char *what, const char *text, enum pleat_swf_zero *zero,
                     struct pleat_error *err)
{
    static const char *const words[] = {"skip", "keep"};
    size_t index = 0;
    int status = pleat_parse_word(what, text, words, 2, &index, err);
    if (!status)
        *zero = index == 0 ? PLEAT_SWF_ZERO_SKIP : PLEAT_SWF_ZERO_KEEP;
    return status;
}

int pleat_parse_flops(const char *text, struct pleat_reading *reading, struct pleat_error *err)
{
    return pleat_parse_seconds("--flops", text, 1, 1e30, &reading->flops, err);
}

void pleat_say_notes(const char *name, const struct pleat_string *notes)
{
    for (const char *at = notes->text; at && *at;) {
        size_t length = strcspn(at, "\n");
        pleat_say("%s: %.*s", name, (int)length, at);
        at += length + (at[length] != '\0');
    }
}

void pleat_workload_comment(const struct pleat_options *options, struct pleat_string *comment)
{
    pleat_string_addf(comment, "pleat %s", options->command->name);
    for (int i = 1; i < options->first; i++)
        if (strcmp(options->argv[i], "--") != 0)
            pleat_string_addf(comment, " %s", options->argv[i]);
}

static int say_what(const struct pleat_workload *workload, const char *path)
{
    struct pleat_description about;
    struct pleat_error err;
    if (pleat_workload_describe(workload, &about, &err))
        return pleat_fail(&err);
    pleat_say("%s: %zu jobs (%zu moldable, %zu malleable), %d processors, offered load %.1f %%",
              strcmp(path, "-") != 0 ? path : "standard output", about.jobs, about.moldable,
              about.malleable, (int)about.machine, about.load * 100);
    return 0;
}

int pleat_workload_save(const struct pleat_workload *workload,
                        const struct pleat_swf_source *source, const char *path,
                        const char *comment)
{
    struct pleat_replacement file;
    struct pleat_error err;
    if (pleat_replacement_open(&file, path, &err))
        return pleat_fail(&err);
    int rc = pleat_swf_write(workload, source, file.file, comment, &err);
    if (rc) {
        pleat_replacement_abandon(&file);
        pleat_error_prefix(&err, rc, "%s", strcmp(path, "-") != 0 ? path : "standard output");
        return pleat_fail(&err);
    }
    if (pleat_replacement_commit(&file, &err))
        return pleat_fail(&err);
    return say_what(workload, path);
}
