/* submission_options.c - the options that describe a job: one table. */
#include <stdio.h>
#include <string.h>

#include "describe/submission.h"
#include "describe/values.h"
#include "launch/launch.h"
#include "model/dependency.h"
#include "model/indexes.h"
#include "model/runner_kind.h"
#include "model/sizes.h"
#include "model/spec.h"
#include "model/types.h"

/* ---- options with checks of their own ---- */

static int take_sizes(struct pleat_submit_options *submission, const char *value,
                      struct pleat_error *err)
{
    struct pleat_sizes sizes;
    struct pleat_size_list list = {0};
    int status = pleat_sizes_parse(value, &sizes, &list, err);
    pleat_array_finish(&list);
    if (status)
        return pleat_error_prefix(err, status, "--sizes");
    submission->sizes = value;
    return 0;
}

static int take_variable(struct pleat_submit_options *submission, const char *value,
                         struct pleat_error *err)
{
    if (*value == '=' || !strchr(value, '='))
        return pleat_error_set(err, PLEAT_E_INVALID, "--env: '%s' is not NAME=VALUE", value);
    return pleat_array_push(&submission->env, value)
               ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory")
               : 0;
}

static int take_notify_on(struct pleat_submit_options *submission, const char *value,
                          struct pleat_error *err)
{
    char word[16];
    for (const char *at = value;; at++) {
        size_t length = strcspn(at, ",");
        snprintf(word, sizeof(word), "%.*s", (int)(length < 15 ? length : 15), at);
        if (!pleat_notify_bit(word))
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "--notify-on: '%.*s' is none of: start, end, fail, resize, "
                                   "warning",
                                   (int)length, at);
        at += length;
        if (!*at)
            break;
    }
    submission->notify_on = value;
    return 0;
}

static int take_time_limit(struct pleat_submit_options *submission, const char *value,
                           struct pleat_error *err)
{
    int status = pleat_parse_duration("--time-limit", value, &submission->limit_s, err);
    if (!status && !(submission->limit_s > 0))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--time-limit: it must be above 0 (leave it out for no limit)");
    return status;
}

static int take_signal(struct pleat_submit_options *submission, const char *value,
                       struct pleat_error *err)
{
    int number;
    double lead_s;
    bool script_only;
    submission->signal = value;
    return pleat_parse_limit_signal("--signal", value, &number, &lead_s, &script_only, err);
}

static int take_array(struct pleat_submit_options *submission, const char *value,
                      struct pleat_error *err)
{
    struct pleat_index_list list = {0};
    int32_t limit;
    int status = pleat_indexes_parse(value, &list, &limit, err);
    pleat_array_finish(&list);
    if (status)
        return pleat_error_prefix(err, status, "--array");
    submission->array = value;
    return 0;
}

static int take_dependency(struct pleat_submit_options *submission, const char *value,
                           struct pleat_error *err)
{
    struct pleat_need_list needs = {0};
    bool any;
    int status = pleat_needs_parse(value, &needs, &any, err);
    pleat_array_finish(&needs);
    if (status)
        return pleat_error_prefix(err, status, "--dependency");
    submission->dependency = value;
    return 0;
}

static int take_save(struct pleat_submit_options *submission, const char *value,
                     struct pleat_error *err)
{
    char text[PLEAT_SAVE_TEXT];
    submission->save = strcmp(value, "off") ? value : NULL;
    return submission->save ? pleat_save_text("--save", value, text, sizeof(text), err) : 0;
}

static int take_memory(struct pleat_submit_options *submission, const char *value,
                       struct pleat_error *err)
{
    return pleat_parse_memory("--memory", value, &submission->memory_kb, err);
}

static int take_malleable(struct pleat_submit_options *submission, const char *value,
                          struct pleat_error *err)
{
    (void)value;
    (void)err;
    submission->moldable = false;
    submission->runner = "malleable";
    return 0;
}

static int take_evolving(struct pleat_submit_options *submission, const char *value,
                         struct pleat_error *err)
{
    (void)value;
    (void)err;
    submission->runner = "evolving";
    return 0;
}

static int take_moldable(struct pleat_submit_options *submission, const char *value,
                         struct pleat_error *err)
{
    (void)value;
    (void)err;
    submission->moldable = true;
    if (!strcmp(submission->runner, "malleable"))
        submission->runner = "auto";
    return 0;
}

/* ---- options of a kind ---- */

static int take_word(const char *what, const char *value, const char *allowed, const char **word,
                     struct pleat_error *err)
{
    size_t length = strlen(value);
    for (const char *at = allowed; *at; at += strspn(at, " ")) {
        size_t one = strcspn(at, " ");
        if (one == length && !strncmp(at, value, one)) {
            *word = value;
            return 0;
        }
        at += one;
    }
    return pleat_error_set(err, PLEAT_E_INVALID, "%s: '%s' is none of: %s", what, value, allowed);
}

static int take_text(const char *what, const char *value, const char **text,
                     struct pleat_error *err)
{
    if (!*value)
        return pleat_error_set(err, PLEAT_E_INVALID, "%s: it must not be empty", what);
    *text = value;
    return 0;
}

static int take_when(const struct pleat_submit_options *submission, const char *what,
                     const char *value, double *seconds, struct pleat_error *err)
{
    if (submission->beside && strchr(value, ':'))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s: in a mix a time counts from the job's arrival on: a duration "
                               "such as 15min, not '%s'",
                               what, value);
    return pleat_parse_when(what, value, seconds, err);
}

static int take_pattern(const char *what, const char *value, const char **pattern,
                        struct pleat_error *err)
{
    int status = pleat_spec_check_pattern(what, value, err);
    if (!status)
        *pattern = value;
    return status;
}

/* ---- the table ---- */

/* What the value of an option is, and so the type of its member. */
enum kind {
    FLAG,     /* bool; the option has no value */
    NUMBER,   /* int64_t, from low to high */
    DURATION, /* double: seconds */
    WHEN,     /* double: seconds from now on */
    TEXT,     /* const char *, not empty */
    PATTERN,  /* const char *: pattern of a path */
    WORD,     /* const char *: one of `words`, which have blanks between them */
    OTHER,    /* `take` handles it */
    MARK      /* as OTHER; the option has no value */
};

struct row {
    const char *name;
    int letter; /* 0: there is no short form */
    enum kind kind;
    size_t at; /* offset of the member */
    int64_t low, high;
    const char *words;
    int (*take)(struct pleat_submit_options *submission, const char *value,
                struct pleat_error *err);
};

#define AT(member) .at = offsetof(struct pleat_submit_options, member)

static const struct row rows[] = {
    {"processors", 'n', NUMBER, AT(processors), .low = 1, .high = PLEAT_SIZE_MAX},
    {"cpus-per-task", 'c', NUMBER, AT(cpus), .low = 1, .high = PLEAT_SIZE_MAX},
    {"name", 0, TEXT, AT(name)},
    {"min", 0, NUMBER, AT(least), .low = 0, .high = PLEAT_SIZE_MAX},
    {"max", 0, NUMBER, AT(most), .low = 1, .high = PLEAT_SIZE_MAX},
    {"initial", 0, NUMBER, AT(initial), .low = 1, .high = PLEAT_SIZE_MAX},
    {"sizes", 0, OTHER, .take = take_sizes},
    {"moldable", 0, MARK, .take = take_moldable},
    {"runner", 0, WORD, AT(runner), .words = pleat_runner_words},
    {"mpi", 0, WORD, AT(mpi), .words = "auto openmpi mpich none"},
    {"asks", 0, FLAG, AT(asks)},
    {"site", 0, TEXT, AT(site)},
    {"sites", 0, TEXT, AT(at_sites)},
    {"estimate", 0, DURATION, AT(estimate_s)},
    {"priority", 0, NUMBER, AT(priority), .low = INT16_MIN, .high = INT16_MAX},
    {"deadline", 0, WHEN, AT(deadline_s)},
    {"begin", 0, WHEN, AT(begin_s)},
    {"chdir", 0, TEXT, AT(chdir)},
    {"malleable", 0, MARK, .take = take_malleable},
    {"evolving", 0, MARK, .take = take_evolving},
    {"on-resize", 0, WORD, AT(resize), .words = "auto merge relaunch restart"},
    {"notice", 0, DURATION, AT(notice_s)},
    {"lifetime", 0, DURATION, AT(lifetime_s)},
    {"time-limit", 0, OTHER, .take = take_time_limit},
    {"export", 0, TEXT, AT(exported)},
    {"env", 0, OTHER, .take = take_variable},
    {"output", 0, PATTERN, AT(output)},
    {"error", 0, PATTERN, AT(error)},
    {"input", 0, PATTERN, AT(input)},
    {"stdin", 0, PATTERN, AT(input)}, /* the same, as mpirun and others call it */
    {"wrap", 0, TEXT, AT(wrap)},
    {"append", 0, FLAG, AT(append)},
    {"notify", 0, TEXT, AT(notify)},
    {"notify-on", 0, OTHER, .take = take_notify_on},
    {"program", 0, TEXT, AT(program)},
    {"processes", 0, TEXT, AT(processes)},
    {"mpl", 0, NUMBER, AT(mpl), .low = 1, .high = UINT8_MAX},
    {"fold", 0, TEXT, AT(fold)},
    {"count-word", 0, TEXT, AT(count_word)},
    {"no-fold", 0, FLAG, AT(unfolded)},
    {"class", 0, WORD, AT(job_class), .words = "short long unknown"},
    {"hold", 0, FLAG, AT(hold)},
    {"dependency", 0, OTHER, .take = take_dependency},
    {"array", 0, OTHER, .take = take_array},
    {"sbatch", 0, FLAG, AT(sbatch)},
    {"no-requeue", 0, FLAG, AT(once)},
    {"one-node", 0, FLAG, AT(one_node)},
    {"any-site", 0, FLAG, AT(any_site)},
    {"pty", 0, FLAG, AT(pty)},
    {"memory", 0, OTHER, .take = take_memory},
    {"signal", 0, OTHER, .take = take_signal},
    {"from", 0, TEXT, AT(from)},
    {"save", 0, OTHER, .take = take_save},
    {"checkpoint-every", 0, DURATION, AT(checkpoint_every_s)},
    {"checkpoint-keep", 0, NUMBER, AT(checkpoint_keep), .low = 1, .high = 1000},
    {"checkpoint-before-limit", 0, DURATION, AT(checkpoint_before_s)},
    {"checkpoint-then", 0, WORD, AT(checkpoint_then), .words = "stop go-on"},
    {"checkpoint-signal", 0, WORD, AT(checkpoint_signal), .words = "USR1 USR2"},
    {"checkpoint-dir", 0, TEXT, AT(checkpoint_dir)},
};

enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]), FIRST_VALUE = 500 };

_Static_assert(ROW_COUNT + 1 == PLEAT_SUBMISSION_OPTIONS, "the room for them, with the last entry");

void pleat_submission_list_options(struct option options[PLEAT_SUBMISSION_OPTIONS])
{
    for (int i = 0; i < ROW_COUNT; i++)
        options[i] = (struct option){.name = rows[i].name,
                                     .has_arg = rows[i].kind == FLAG || rows[i].kind == MARK
                                                    ? no_argument
                                                    : required_argument,
                                     .val = rows[i].letter ? rows[i].letter : FIRST_VALUE + i};
    options[ROW_COUNT] = (struct option){0};
}

static const struct row *row_of(int option)
{
    for (int i = 0; i < ROW_COUNT; i++)
        if (option == (rows[i].letter ? rows[i].letter : FIRST_VALUE + i))
            return &rows[i];
    return NULL;
}

int pleat_submission_take(struct pleat_submit_options *submission, int option, const char *value,
                          struct pleat_error *err)
{
    const struct row *row = row_of(option);
    char what[32];
    if (!row)
        return pleat_error_set(err, PLEAT_E_INVALID, "unknown option %d", option);
    snprintf(what, sizeof(what), "--%s", row->name);
    void *member = (char *)submission + row->at;
    switch (row->kind) {
    case FLAG:
        *(bool *)member = true;
        return 0;
    case NUMBER:
        return pleat_parse_int(what, value, row->low, row->high, member, err);
    case DURATION:
        return pleat_parse_duration(what, value, member, err);
    case WHEN:
        return take_when(submission, what, value, member, err);
    case TEXT:
        return take_text(what, value, member, err);
    case PATTERN:
        return take_pattern(what, value, member, err);
    case WORD:
        return take_word(what, value, row->words, member, err);
    default:
        return row->take(submission, value, err);
    }
}
