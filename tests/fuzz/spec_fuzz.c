#include "spec_fuzz.h"

#include <string.h>

#include "must.h"
#include "wire/spec.h"

unsigned long pleat_fuzz_spec_good;

static void check_list(char **list)
{
    size_t count = 0;
    for (; list[count]; count++)
        must(strlen(list[count]) < PLEAT_WIRE_LINE_MAX);
    must(count <= PLEAT_SPEC_STRINGS_MAX);
}

static void check_patterns(const struct pleat_spec *spec)
{
    const char *patterns[] = {spec->output, spec->error, spec->input};
    char path[1024];
    struct pleat_error err = {0};
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        if (!patterns[i])
            continue;
        int status = pleat_spec_path(spec, patterns[i], 17, "me", path, sizeof(path), &err);
        must(status == PLEAT_E_TOOBIG || (status == 0 && strlen(path) < sizeof(path)));
    }
}

static void check(const struct pleat_spec *spec)
{
    must(spec->argv && spec->argv[0] && spec->env && spec->cwd && spec->name);
    must(strlen(spec->name) < PLEAT_WIRE_LINE_MAX && strlen(spec->cwd) <= PLEAT_SPEC_TEXT_MAX);
    check_list(spec->argv);
    check_list(spec->env);
    must(spec->kind == PLEAT_RIGID || spec->kind == PLEAT_MOLDABLE ||
         spec->kind == PLEAT_MALLEABLE);
    must(spec->minimum >= 0 && spec->maximum >= 1 && spec->initial >= 0);
    must(spec->estimate_us >= 0 && spec->deadline_us >= 0 && spec->begin_us >= 0);
    must(spec->limit_us >= 0 && spec->notice_us >= -1 && spec->lifetime_us >= -1);
    must(!spec->begin_us || spec->estimate_us);
    must(!spec->script || strlen(spec->script) <= PLEAT_SPEC_SCRIPT_MAX);
    must(!spec->notify || strlen(spec->notify) <= PLEAT_SPEC_NOTIFY_MAX);
    check_patterns(spec);
}

void pleat_fuzz_spec(const uint8_t *bytes, size_t size)
{
    struct pleat_spec spec;
    struct pleat_error err = {0};
    json_t *json = json_loadb((const char *)bytes, size, JSON_REJECT_DUPLICATES, NULL);
    if (!json)
        return;
    int status = pleat_spec_from_json(json, &spec, &err);
    if (status) {
        must(err.code == status && err.text[0]);
    } else {
        check(&spec);
        pleat_fuzz_spec_good++;
        pleat_spec_finish(&spec);
    }
    json_decref(json);
}
