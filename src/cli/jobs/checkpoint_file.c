#include "cli/jobs/checkpoint_file.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

#include "base/array.h"
#include "base/timefmt.h"
#include "checkpoint/checkpoint.h"
#include "cli/common/cli.h"
#include "cli/common/reply.h"
#include "cli/common/table.h"
#include "wire/message.h"

static json_t *entry_to_json(const struct pleat_checkpoint_entry *entry)
{
    json_t *shape = json_array();
    for (uint64_t i = 0; i < entry->dimensions; i++)
        json_array_append_new(shape, json_integer(entry->shape[i]));
    return json_pack("{s:o, s:o, s:o, s:I, s:I}", "name", pleat_json_text(entry->name), "kind",
                     pleat_json_text(entry->kind), "shape", shape, "element_bytes",
                     (json_int_t)entry->element_bytes, "bytes", (json_int_t)entry->bytes);
}

static int print_json(const char *path, const struct pleat_checkpoint *found, bool verified)
{
    const struct pleat_checkpoint_origin *origin = &found->origin;
    json_t *entries = json_array();
    for (uint32_t i = 0; i < found->count; i++)
        json_array_append_new(entries, entry_to_json(&found->entries[i]));
    json_t *all = json_pack(
        "{s:o, s:o, s:o, s:I, s:f, s:i, s:I, s:I, s:b, s:o}", "path", pleat_json_text(path),
        "program", pleat_json_text(origin->program), "mpi", pleat_json_text(origin->mpi),
        "iteration", (json_int_t)origin->iteration, "created_s", (double)origin->created_us / 1e6,
        "ranks", (int)origin->ranks, "launch", (json_int_t)origin->launch, "bytes",
        (json_int_t)found->file_bytes, "verified", verified, "entries", entries);
    if (!all) {
        pleat_say("out of memory");
        return PLEAT_EXIT_FAILED;
    }
    int code = pleat_reply_print(all);
    json_decref(all);
    return code;
}

static void set_shape(struct pleat_table *table, size_t column,
                      const struct pleat_checkpoint_entry *entry)
{
    struct pleat_string text = {0};
    for (uint64_t i = 0; i < entry->dimensions; i++)
        pleat_string_addf(&text, "%s%" PRId64, i ? " x " : "", entry->shape[i]);
    pleat_table_set(table, column, text.text);
    pleat_string_finish(&text);
}

static int print_table(const struct pleat_checkpoint *found)
{
    static const struct pleat_column columns[] = {
        {"NAME", PLEAT_COLUMN_CUT},        {"KIND", PLEAT_COLUMN_TEXT},
        {"ELEMENTS", PLEAT_COLUMN_NUMBER}, {"BYTES EACH", PLEAT_COLUMN_NUMBER},
        {"BYTES", PLEAT_COLUMN_NUMBER},
    };
    struct pleat_table *table = pleat_table_create(columns, sizeof(columns) / sizeof(columns[0]));
    for (uint32_t i = 0; i < found->count; i++) {
        const struct pleat_checkpoint_entry *entry = &found->entries[i];
        pleat_table_row(table);
        pleat_table_set(table, 0, entry->name);
        pleat_table_set(table, 1, entry->kind);
        set_shape(table, 2, entry);
        pleat_table_setf(table, 3, "%" PRIu64, entry->element_bytes);
        pleat_table_setf(table, 4, "%" PRIu64, entry->bytes);
    }
    int code = pleat_table_print(table);
    pleat_table_destroy(table);
    return code;
}

static int print_text(const struct pleat_checkpoint *found, bool verified)
{
    const struct pleat_checkpoint_origin *origin = &found->origin;
    char moment[PLEAT_TIME_SIZE];
    printf("program      %s, %s\n", origin->program, origin->mpi);
    printf("written      %s, by %" PRIu32 " ranks\n",
           pleat_time_moment((double)origin->created_us / 1e6, moment), origin->ranks);
    printf("iteration    %" PRIu64 "\n", origin->iteration);
    if (origin->launch)
        printf("launch       %" PRIu64 " of its script\n", origin->launch);
    printf("file         %" PRIu64 " bytes%s\n\n", found->file_bytes,
           verified ? ", all checksums are right" : "");
    return print_table(found);
}

int pleat_checkpoint_file_show(const char *path, bool verify)
{
    struct pleat_checkpoint found;
    struct pleat_error err;
    int fd = -1;
    int code = pleat_checkpoint_open(path, &found, &fd, &err);
    if (code)
        return pleat_fail(&err);
    code = verify ? pleat_checkpoint_verify(fd, &found, 0, 1, &err) : 0;
    if (code)
        (void)pleat_error_prefix(&err, code, "%s", path);
    code = code                  ? pleat_fail(&err)
           : pleat_settings.json ? print_json(path, &found, verify)
                                 : print_text(&found, verify);
    pleat_checkpoint_finish(&found);
    close(fd);
    return code;
}
