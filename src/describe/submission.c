#include "describe/submission.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "describe/values.h"
#include "launch/launch.h"
#include "model/dependency.h"
#include "model/indexes.h"
#include "model/runner_kind.h"
#include "model/sizes.h"
#include "model/spec.h"
#include "model/types.h"

enum {
    OPTION_NAME = 500,
    OPTION_MIN,
    OPTION_MAX,
    OPTION_INITIAL,
    OPTION_SIZES,
    OPTION_MOLDABLE,
    OPTION_RUNNER,
    OPTION_MPI,
    OPTION_ASKS,
    OPTION_SITE,
    OPTION_ESTIMATE,
    OPTION_PRIORITY,
    OPTION_DEADLINE,
    OPTION_BEGIN,
    OPTION_CHDIR,
    OPTION_MALLEABLE,
    OPTION_ON_RESIZE,
    OPTION_NOTICE,
    OPTION_LIFETIME,
    OPTION_TIME_LIMIT,
    OPTION_EXPORT,
    OPTION_ENV,
    OPTION_OUTPUT,
    OPTION_ERROR,
    OPTION_INPUT,
    OPTION_WRAP,
    OPTION_APPEND,
    OPTION_NOTIFY,
    OPTION_NOTIFY_ON,
    OPTION_PROCESSES,
    OPTION_MPL,
    OPTION_FOLD,
    OPTION_COUNT_WORD,
    OPTION_NO_FOLD,
    OPTION_CLASS,
    OPTION_HOLD,
    OPTION_DEPENDENCY,
    OPTION_ARRAY,
    OPTION_SBATCH,
    OPTION_NO_REQUEUE,
    OPTION_PTY,
    OPTION_MEMORY,
    OPTION_SIGNAL
};

const struct option pleat_submission_options[PLEAT_SUBMISSION_OPTIONS] = {
    {"processors", required_argument, NULL, 'n'},
    {"cpus-per-task", required_argument, NULL, 'c'},
    {"name", required_argument, NULL, OPTION_NAME},
    {"min", required_argument, NULL, OPTION_MIN},
    {"max", required_argument, NULL, OPTION_MAX},
    {"initial", required_argument, NULL, OPTION_INITIAL},
    {"sizes", required_argument, NULL, OPTION_SIZES},
    {"moldable", no_argument, NULL, OPTION_MOLDABLE},
    {"runner", required_argument, NULL, OPTION_RUNNER},
    {"mpi", required_argument, NULL, OPTION_MPI},
    {"asks", no_argument, NULL, OPTION_ASKS},
    {"site", required_argument, NULL, OPTION_SITE},
    {"estimate", required_argument, NULL, OPTION_ESTIMATE},
    {"priority", required_argument, NULL, OPTION_PRIORITY},
    {"deadline", required_argument, NULL, OPTION_DEADLINE},
    {"begin", required_argument, NULL, OPTION_BEGIN},
    {"chdir", required_argument, NULL, OPTION_CHDIR},
    {"malleable", no_argument, NULL, OPTION_MALLEABLE},
    {"on-resize", required_argument, NULL, OPTION_ON_RESIZE},
    {"notice", required_argument, NULL, OPTION_NOTICE},
    {"lifetime", required_argument, NULL, OPTION_LIFETIME},
    {"time-limit", required_argument, NULL, OPTION_TIME_LIMIT},
    {"export", required_argument, NULL, OPTION_EXPORT},
    {"env", required_argument, NULL, OPTION_ENV},
    {"output", required_argument, NULL, OPTION_OUTPUT},
    {"error", required_argument, NULL, OPTION_ERROR},
    {"input", required_argument, NULL, OPTION_INPUT},
    {"wrap", required_argument, NULL, OPTION_WRAP},
    {"append", no_argument, NULL, OPTION_APPEND},
    {"notify", required_argument, NULL, OPTION_NOTIFY},
    {"notify-on", required_argument, NULL, OPTION_NOTIFY_ON},
    {"processes", required_argument, NULL, OPTION_PROCESSES},
    {"mpl", required_argument, NULL, OPTION_MPL},
    {"fold", required_argument, NULL, OPTION_FOLD},
    {"count-word", required_argument, NULL, OPTION_COUNT_WORD},
    {"no-fold", no_argument, NULL, OPTION_NO_FOLD},
    {"class", required_argument, NULL, OPTION_CLASS},
    {"hold", no_argument, NULL, OPTION_HOLD},
    {"dependency", required_argument, NULL, OPTION_DEPENDENCY},
    {"array", required_argument, NULL, OPTION_ARRAY},
    {"sbatch", no_argument, NULL, OPTION_SBATCH},
    {"no-requeue", no_argument, NULL, OPTION_NO_REQUEUE},
    {"pty", no_argument, NULL, OPTION_PTY},
    {"memory", required_argument, NULL, OPTION_MEMORY},
    {"signal", required_argument, NULL, OPTION_SIGNAL},
    {0}};

void pleat_submission_init(struct pleat_submission *submission)
{
    *submission = (struct pleat_submission){.sizes = "any",
                                            .runner = "auto",
                                            .mpi = "auto",
                                            .resize = "auto",
                                            .exported = "all",
                                            .job_class = "unknown",
                                            .notice_s = -1,
                                            .lifetime_s = -1,
                                            .processors = -1,
                                            .least = -1,
                                            .most = -1,
                                            .initial = -1};
}

void pleat_submission_finish(struct pleat_submission *submission)
{
    pleat_array_finish(&submission->env);
    pleat_batch_finish(&submission->batch);
    free(submission->script);
    free(submission->script_path);
    submission->script = submission->script_path = NULL;
}

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

static int take_sizes(struct pleat_submission *submission, const char *value,
                      struct pleat_error *err)
{
    struct pleat_sizes sizes;
    struct pleat_size_list list = {0};
    int status = pleat_sizes_parse(value, &sizes, &list, err);
    pleat_array_finish(&list);
    if (status)
        return pleat_error_prefix(err, "--sizes");
    submission->sizes = value;
    return 0;
}

static int take_text(const char *what, const char *value, const char **text,
                     struct pleat_error *err)
{
    if (!*value)
        return pleat_error_set(err, PLEAT_E_INVALID, "%s: it must not be empty", what);
    *text = value;
    return 0;
}

static int take_when(const struct pleat_submission *submission, const char *what, const char *value,
                     double *seconds, struct pleat_error *err)
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

static int take_variable(struct pleat_submission *submission, const char *value,
                         struct pleat_error *err)
{
    if (*value == '=' || !strchr(value, '='))
        return pleat_error_set(err, PLEAT_E_INVALID, "--env: '%s' is not NAME=VALUE", value);
    return pleat_array_push(&submission->env, value)
               ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory")
               : 0;
}

static int take_notify_on(struct pleat_submission *submission, const char *value,
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

static int take_time_limit(struct pleat_submission *submission, const char *value,
                           struct pleat_error *err)
{
    int status = pleat_parse_duration("--time-limit", value, &submission->limit_s, err);
    if (!status && !(submission->limit_s > 0))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--time-limit: it must be above 0 (leave it out for no limit)");
    return status;
}

static int take_signal(struct pleat_submission *submission, const char *value,
                       struct pleat_error *err)
{
    int number;
    double lead_s;
    bool script_only;
    submission->signal = value;
    return pleat_parse_limit_signal("--signal", value, &number, &lead_s, &script_only, err);
}

static int take_array(struct pleat_submission *submission, const char *value,
                      struct pleat_error *err)
{
    struct pleat_index_list list = {0};
    int32_t limit;
    int status = pleat_indexes_parse(value, &list, &limit, err);
    pleat_array_finish(&list);
    if (status)
        return pleat_error_prefix(err, "--array");
    submission->array = value;
    return 0;
}

static int take_dependency(struct pleat_submission *submission, const char *value,
                           struct pleat_error *err)
{
    struct pleat_need_list needs = {0};
    bool any;
    int status = pleat_needs_parse(value, &needs, &any, err);
    pleat_array_finish(&needs);
    if (status)
        return pleat_error_prefix(err, "--dependency");
    submission->dependency = value;
    return 0;
}

static int take_folding(struct pleat_submission *submission, int option, const char *value,
                        struct pleat_error *err)
{
    switch (option) {
    case OPTION_PROCESSES:
        return take_text("--processes", value, &submission->processes, err);
    case OPTION_MPL:
        return pleat_parse_int("--mpl", value, 1, UINT8_MAX, &submission->mpl, err);
    case OPTION_FOLD:
        return take_text("--fold", value, &submission->fold, err);
    case OPTION_COUNT_WORD:
        return take_text("--count-word", value, &submission->count_word, err);
    case OPTION_HOLD:
        submission->hold = true;
        return 0;
    case OPTION_ARRAY:
        return take_array(submission, value, err);
    case OPTION_DEPENDENCY:
        return take_dependency(submission, value, err);
    case OPTION_CLASS:
        return take_word("--class", value, "short long unknown", &submission->job_class, err);
    default:
        submission->unfolded = true;
        return 0;
    }
}

/* What was added last: kept out of pleat_submission_take for its length. */
static int take_more(struct pleat_submission *submission, int option, const char *value,
                     struct pleat_error *err)
{
    switch (option) {
    case OPTION_ON_RESIZE:
        return take_word("--on-resize", value, "auto merge relaunch", &submission->resize, err);
    case OPTION_NOTICE:
        return pleat_parse_duration("--notice", value, &submission->notice_s, err);
    case OPTION_LIFETIME:
        return pleat_parse_duration("--lifetime", value, &submission->lifetime_s, err);
    case OPTION_TIME_LIMIT:
        return take_time_limit(submission, value, err);
    case OPTION_EXPORT:
        return take_text("--export", value, &submission->exported, err);
    case OPTION_ENV:
        return take_variable(submission, value, err);
    case OPTION_OUTPUT:
        return take_pattern("--output", value, &submission->output, err);
    case OPTION_ERROR:
        return take_pattern("--error", value, &submission->error, err);
    case OPTION_WRAP:
        return take_text("--wrap", value, &submission->wrap, err);
    case OPTION_INPUT:
        return take_pattern("--input", value, &submission->input, err);
    case OPTION_NOTIFY:
        return take_text("--notify", value, &submission->notify, err);
    case OPTION_NOTIFY_ON:
        return take_notify_on(submission, value, err);
    case OPTION_APPEND:
        submission->append = true;
        return 0;
    case OPTION_SBATCH:
        submission->sbatch = true;
        return 0;
    case OPTION_SIGNAL:
        return take_signal(submission, value, err);
    case OPTION_MEMORY:
        return pleat_parse_memory("--memory", value, &submission->memory_kb, err);
    case OPTION_PTY:
        submission->pty = true;
        return 0;
    case OPTION_NO_REQUEUE:
        submission->once = true;
        return 0;
    case OPTION_MALLEABLE:
        submission->moldable = false;
        submission->runner = "malleable";
        return 0;
    case OPTION_MOLDABLE:
        submission->moldable = true;
        if (!strcmp(submission->runner, "malleable"))
            submission->runner = "auto";
        return 0;
    case OPTION_ASKS:
        submission->asks = true;
        return 0;
    default:
        return take_folding(submission, option, value, err);
    }
}

int pleat_submission_take(struct pleat_submission *submission, int option, const char *value,
                          struct pleat_error *err)
{
    switch (option) {
    case 'n':
        return pleat_parse_int("--processors", value, 1, PLEAT_SIZE_MAX, &submission->processors,
                               err);
    case 'c':
        return pleat_parse_int("--cpus-per-task", value, 1, PLEAT_SIZE_MAX, &submission->cpus, err);
    case OPTION_MIN:
        return pleat_parse_int("--min", value, 0, PLEAT_SIZE_MAX, &submission->least, err);
    case OPTION_MAX:
        return pleat_parse_int("--max", value, 1, PLEAT_SIZE_MAX, &submission->most, err);
    case OPTION_INITIAL:
        return pleat_parse_int("--initial", value, 1, PLEAT_SIZE_MAX, &submission->initial, err);
    case OPTION_SIZES:
        return take_sizes(submission, value, err);
    case OPTION_RUNNER:
        return take_word("--runner", value, pleat_runner_words, &submission->runner, err);
    case OPTION_MPI:
        return take_word("--mpi", value, "auto openmpi mpich none", &submission->mpi, err);
    case OPTION_ESTIMATE:
        return pleat_parse_duration("--estimate", value, &submission->estimate_s, err);
    case OPTION_PRIORITY:
        return pleat_parse_int("--priority", value, INT16_MIN, INT16_MAX, &submission->priority,
                               err);
    case OPTION_DEADLINE:
        return take_when(submission, "--deadline", value, &submission->deadline_s, err);
    case OPTION_BEGIN:
        return take_when(submission, "--begin", value, &submission->begin_s, err);
    case OPTION_NAME:
        return take_text("--name", value, &submission->name, err);
    case OPTION_SITE:
        return take_text("--site", value, &submission->site, err);
    case OPTION_CHDIR:
        return take_text("--chdir", value, &submission->chdir, err);
    default:
        return take_more(submission, option, value, err);
    }
}

/* ---- all that is said in a place ---- */

static int take_all(struct pleat_submission *submission, const struct pleat_submission_place *place,
                    struct pleat_error *err)
{
    struct pleat_error wrong = {0};
    int option;
    pleat_option_reader_restart(place->reader);
    do {
        option = place->next ? place->next(place->arg, &wrong)
                             : pleat_option_reader_next(place->reader, &wrong);
        int status = option > 0 ? pleat_submission_take(submission, option, optarg, err) : 0;
        if (status)
            return status;
    } while (option > 0);
    if (wrong.code) {
        if (err)
            *err = wrong;
        return wrong.code;
    }
    return option != PLEAT_OPTION_END;
}

/* The options on one line of the script; `count` words from `first` on. */
static int take_line(struct pleat_submission *submission, struct pleat_batch *batch, size_t first,
                     size_t count, struct pleat_error *err)
{
    struct pleat_option_reader reader;
    char **words = calloc(count + 2, sizeof(*words));
    if (!words)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    words[0] = batch->words.items[first].text; /* not looked at, but shown where it matters */
    for (size_t i = 0; i < count; i++)
        words[i + 1] = batch->words.items[first + i].text;
    pleat_option_reader_init(&reader, (int)count + 1, words, pleat_submission_options,
                             PLEAT_SUBMISSION_SHORTS);
    reader.in_front = true;
    int status = take_all(submission, &(struct pleat_submission_place){.reader = &reader}, err);
    if (!status && reader.first <= (int)count)
        status = pleat_error_set(err, PLEAT_E_INVALID,
                                 "'%s' is no option: the script itself is the program",
                                 words[reader.first]);
    free(words);
    return status;
}

static int take_script(struct pleat_submission *submission, struct pleat_error *err)
{
    struct pleat_batch *batch = &submission->batch;
    for (size_t i = 0; i < batch->words.count;) {
        size_t count = 1;
        int line = batch->words.items[i].line;
        while (i + count < batch->words.count && batch->words.items[i + count].line == line)
            count++;
        int status = take_line(submission, batch, i, count, err);
        if (status) {
            (void)pleat_error_prefix(err, "%s:%d", submission->argv[0], line);
            return status;
        }
        i += count;
    }
    return 0;
}

/* An option of the command line replaces what the script says about the same. */
static void clear_size(struct pleat_submission *submission, const struct pleat_submission *given)
{
    if (given->processors >= 0)
        submission->least = submission->most = submission->initial = -1;
    if (given->least >= 0 || given->most >= 0)
        submission->processors = -1;
    if (given->processors >= 0)
        submission->processes = NULL;
    if (given->processes)
        submission->processors = -1;
}

/* No program is named: it is --wrap, or the script comes from standard input. */
static bool may_be_unnamed(const struct pleat_submission_place *place,
                           const struct pleat_submission *given)
{
    struct stat about;
    return given->wrap ||
           (place->reads_input && fstat(STDIN_FILENO, &about) == 0 && !S_ISCHR(about.st_mode));
}

/* What is run, and what its batch script says. */
static int take_program(struct pleat_submission *submission,
                        const struct pleat_submission_place *place,
                        const struct pleat_submission *given, struct pleat_string *notes,
                        struct pleat_error *err)
{
    static char *unnamed[][2] = {{"-", NULL}, {"wrap", NULL}};
    const struct pleat_option_reader *reader = place->reader;
    bool is_unnamed = reader->first >= reader->argc;
    if (given->wrap && !is_unnamed)
        return pleat_error_set(err, PLEAT_E_INVALID, "--wrap takes the place of a program");
    if (is_unnamed && !may_be_unnamed(place, given))
        return place->usage ? pleat_error_set(err, PLEAT_E_INVALID, "which program? It is '%s'",
                                              place->usage)
                            : pleat_error_set(err, PLEAT_E_INVALID, "the program is missing");
    submission->argv = is_unnamed ? unnamed[given->wrap != NULL] : reader->argv + reader->first;
    submission->argc = is_unnamed ? 1 : reader->argc - reader->first;
    submission->wrap = given->wrap;
    int status = pleat_submission_open_script(submission, notes, err);
    return status ? status : take_script(submission, err);
}

int pleat_submission_read(struct pleat_submission *submission,
                          const struct pleat_submission_place *place, struct pleat_string *notes,
                          struct pleat_error *err)
{
    struct pleat_submission given;
    pleat_submission_init(submission);
    pleat_submission_init(&given);
    int status = take_all(&given, place, err);
    submission->beside = place->beside;
    submission->sbatch = given.sbatch;
    if (!status)
        status = take_program(submission, place, &given, notes, err);
    if (!status) {
        clear_size(submission, &given);
        if (!place->usage)
            submission->name = NULL; /* the line of the file names the job */
        status = take_all(submission, place, err);
    }
    if (!status && submission->array && !place->arrays)
        status = pleat_error_set(err, PLEAT_E_INVALID,
                                 "--array makes many jobs of one: that can only 'pleat submit'");
    if (!status && submission->pty && !place->terminals)
        status = pleat_error_set(err, PLEAT_E_INVALID,
                                 "--pty shows the job's terminal on this one: that can only 'pleat "
                                 "run'");
    pleat_submission_finish(&given);
    return status;
}
