#include "cli/submission.h"

#include <string.h>

#include "launch/launch.h"
#include "model/sizes.h"
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
    OPTION_CHDIR
};

const struct option pleat_submission_options[PLEAT_SUBMISSION_OPTIONS] = {
    {"processors", required_argument, NULL, 'n'},
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
    {0}};

void pleat_submission_init(struct pleat_submission *submission)
{
    *submission = (struct pleat_submission){.sizes = "any",
                                            .runner = "auto",
                                            .mpi = "auto",
                                            .processors = -1,
                                            .least = -1,
                                            .most = -1,
                                            .initial = -1};
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

int pleat_submission_take(struct pleat_submission *submission, int option, const char *value,
                          struct pleat_error *err)
{
    switch (option) {
    case 'n':
        return pleat_parse_int("--processors", value, 1, PLEAT_SIZE_MAX, &submission->processors,
                               err);
    case OPTION_MIN:
        return pleat_parse_int("--min", value, 0, PLEAT_SIZE_MAX, &submission->least, err);
    case OPTION_MAX:
        return pleat_parse_int("--max", value, 1, PLEAT_SIZE_MAX, &submission->most, err);
    case OPTION_INITIAL:
        return pleat_parse_int("--initial", value, 1, PLEAT_SIZE_MAX, &submission->initial, err);
    case OPTION_SIZES:
        return take_sizes(submission, value, err);
    case OPTION_RUNNER:
        return take_word("--runner", value, "auto plain mpi malleable", &submission->runner, err);
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
    case OPTION_MOLDABLE:
        submission->moldable = true;
        return 0;
    default:
        submission->asks = true;
        return 0;
    }
}
