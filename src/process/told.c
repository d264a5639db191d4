#include "process/told.h"

#include <string.h>

#include "base/utf8.h"
#include "pleat-process.h"

/* A word, and what it stands for. */
struct word {
    const char *text;
    int value;
};

static const struct word whats[] = {
    {"welcome", PLEAT_TOLD_WELCOME}, {"go", PLEAT_TOLD_GO},     {"added", PLEAT_TOLD_ADDED},
    {"refused", PLEAT_TOLD_REFUSED}, {"done", PLEAT_TOLD_DONE}, {"process", PLEAT_TOLD_PROCESS},
    {"leave", PLEAT_TOLD_LEAVE},     {NULL, PLEAT_TOLD_OTHER}};
static const struct word states[] = {{"coming", PLEAT_PROCESS_COMING},
                                     {"running", PLEAT_PROCESS_RUNNING},
                                     {"gone", PLEAT_PROCESS_GONE},
                                     {"prepared", 0},
                                     {NULL, -1}};
static const struct word reasons[] = {{"ended", PLEAT_PROCESS_ENDED},
                                      {"stopped", PLEAT_PROCESS_STOPPED},
                                      {"died", PLEAT_PROCESS_DIED},
                                      {"lost", PLEAT_PROCESS_LOST},
                                      {"not started", PLEAT_PROCESS_NOT_STARTED},
                                      {NULL, PLEAT_PROCESS_UNSAID}};

static int look_up(const struct word *words, const char *text)
{
    while (words->text && (!text || strcmp(words->text, text) != 0))
        words++;
    return words->value;
}

/* A whole number that may be missing, or null: `missing` then. False: it is something else. */
static bool whole(const json_t *object, const char *key, json_int_t least, json_int_t most,
                  json_int_t missing, json_int_t *value)
{
    const json_t *found = json_object_get(object, key);
    *value = missing;
    if (!found || json_is_null(found))
        return true;
    *value = json_integer_value(found);
    return json_is_integer(found) && *value >= least && *value <= most;
}

static bool address_is(const char *address)
{
    size_t length = strlen(address);
    if (length > PLEAT_TOLD_ADDRESS ||
        (strncmp(address, "ipc://", 6) != 0 && strncmp(address, "tcp://", 6) != 0) || length <= 6)
        return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)address[i] <= ' ' || address[i] == 0x7f)
            return false;
    return true;
}

static bool groups_are(const json_t *groups)
{
    if (!json_is_array(groups) || json_array_size(groups) > 1024)
        return false;
    for (size_t i = 0; i < json_array_size(groups); i++) {
        const char *name = json_string_value(json_array_get(groups, i));
        if (!name || !pleat_name_is(name))
            return false;
    }
    return true;
}

/* What is said of a process; the name of the member that is wrong, or NULL. */
static const char *read_process(const json_t *object, struct pleat_told_process *about)
{
    json_int_t process, parent, code, number;
    if (!json_is_object(object))
        return "processes";
    if (!whole(object, "process", 0, INT32_MAX, -1, &process) || process < 0)
        return "process";
    if (!whole(object, "parent", 0, INT32_MAX, -1, &parent))
        return "parent";
    if (!whole(object, "code", 0, 255, -1, &code))
        return "code";
    if (!whole(object, "signal", 0, 127, 0, &number))
        return "signal";
    *about = (struct pleat_told_process){.process = (int32_t)process,
                                         .parent = (int32_t)parent,
                                         .code = (int)code,
                                         .signal = (int)number};
    about->state = look_up(states, json_string_value(json_object_get(object, "state")));
    if (about->state < 0)
        return "state";
    const json_t *address = json_object_get(object, "address");
    if (address && !json_is_null(address)) {
        about->address = json_string_value(address);
        if (!about->address || !address_is(about->address))
            return "address";
    }
    const json_t *groups = json_object_get(object, "groups");
    if (groups && !json_is_null(groups)) {
        about->groups = groups;
        if (!groups_are(groups))
            return "groups";
    }
    if (about->state == PLEAT_PROCESS_GONE)
        about->reason = look_up(reasons, json_string_value(json_object_get(object, "reason")));
    return NULL;
}

static const char *read_welcome(const json_t *object, struct pleat_told_line *told)
{
    json_int_t process, parent, most;
    if (!whole(object, "process", 0, INT32_MAX, -1, &process) || process < 0)
        return "process";
    if (!whole(object, "parent", 0, INT32_MAX, -1, &parent))
        return "parent";
    if (!whole(object, "maximum", 0, INT32_MAX, 0, &most))
        return "maximum";
    int state = look_up(states, json_string_value(json_object_get(object, "state")));
    if (state != 0 && state != PLEAT_PROCESS_RUNNING)
        return "state";
    told->process = (int32_t)process;
    told->parent = (int32_t)parent;
    told->maximum = (int32_t)most;
    told->prepared = state == 0;
    told->processes = json_object_get(object, "processes");
    if (told->processes && !json_is_array(told->processes))
        return "processes";
    for (size_t i = 0; i < json_array_size(told->processes); i++) {
        struct pleat_told_process about;
        const char *wrong = read_process(json_array_get(told->processes, i), &about);
        if (wrong)
            return wrong;
    }
    return NULL;
}

/* The members that answers to requests have. */
static const char *read_answer(const json_t *object, struct pleat_told_line *told)
{
    json_int_t number, process;
    if (!whole(object, "number", 0, INT64_MAX, -1, &number) || number < 0)
        return "number";
    told->number = number;
    if (told->what == PLEAT_TOLD_ADDED) {
        if (!whole(object, "process", 0, INT32_MAX, -1, &process) || process < 0)
            return "process";
        if (!json_is_boolean(json_object_get(object, "ready")))
            return "ready";
        told->process = (int32_t)process;
        told->ready = json_is_true(json_object_get(object, "ready"));
    } else if (told->what == PLEAT_TOLD_REFUSED) {
        told->text = json_string_value(json_object_get(object, "text"));
        if (!told->text)
            return "text";
    }
    return NULL;
}

static const char *read_members(const json_t *object, struct pleat_told_line *told)
{
    json_int_t parent;
    switch (told->what) {
    case PLEAT_TOLD_WELCOME:
        return read_welcome(object, told);
    case PLEAT_TOLD_GO:
        if (!whole(object, "parent", 0, INT32_MAX, -1, &parent))
            return "parent";
        told->parent = (int32_t)parent;
        return NULL;
    case PLEAT_TOLD_ADDED:
    case PLEAT_TOLD_REFUSED:
    case PLEAT_TOLD_DONE:
        return read_answer(object, told);
    case PLEAT_TOLD_PROCESS:
        return read_process(object, &told->about);
    case PLEAT_TOLD_LEAVE:
    case PLEAT_TOLD_OTHER:
        break;
    }
    return NULL;
}

int pleat_told_read(const char *line, size_t length, struct pleat_told_line *told,
                    struct pleat_error *err)
{
    json_error_t failure;
    memset(told, 0, sizeof(*told));
    json_t *object = json_loadb(line, length, JSON_REJECT_DUPLICATES, &failure);
    if (!json_is_object(object)) {
        json_decref(object);
        return pleat_error_set(err, PLEAT_E_PROTOCOL,
                               "the agent has sent a line that is no JSON object (%s); are this "
                               "program's libpleat-process and pleat-agent of one version?",
                               object ? "another value" : failure.text);
    }
    const char *what = json_string_value(json_object_get(object, "do"));
    const char *wrong = "do";
    if (what) {
        told->what = (enum pleat_told_what)look_up(whats, what);
        wrong = read_members(object, told);
    }
    if (wrong) {
        pleat_error_set(err, PLEAT_E_PROTOCOL,
                        "in what the agent has sent ('%.40s') the member '%s' is missing or wrong; "
                        "are this program's libpleat-process and pleat-agent of one version?",
                        what ? what : "", wrong);
        json_decref(object);
        memset(told, 0, sizeof(*told));
        return PLEAT_E_PROTOCOL;
    }
    told->line = object;
    return 0;
}

bool pleat_told_at(const struct pleat_told_line *told, size_t place,
                   struct pleat_told_process *about)
{
    return place < json_array_size(told->processes) &&
           !read_process(json_array_get(told->processes, place), about);
}

void pleat_told_finish(struct pleat_told_line *told)
{
    json_decref(told->line);
    memset(told, 0, sizeof(*told));
}
