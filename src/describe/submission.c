/* submission.c - reads the description of a job: in one place, and in the batch script that it
 * names. */
#include "describe/submission.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void pleat_submission_init(struct pleat_submit_options *submission)
{
    *submission = (struct pleat_submit_options){.sizes = "any",
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

void pleat_submission_finish(struct pleat_submit_options *submission)
{
    pleat_array_finish(&submission->env);
    pleat_batch_finish(&submission->batch);
    free(submission->script);
    free(submission->script_path);
    submission->script = submission->script_path = NULL;
}

void pleat_submission_reader_init(struct pleat_option_reader *reader, int argc, char **argv)
{
    struct option options[PLEAT_SUBMISSION_OPTIONS];
    pleat_submission_list_options(options);
    pleat_option_reader_init(reader, argc, argv, options, PLEAT_SUBMISSION_SHORTS);
    reader->in_front = true;
}

static int take_all(struct pleat_submit_options *submission,
                    const struct pleat_submission_place *place, struct pleat_error *err)
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

/* Takes the options on one line of the script: `count` words from `first` on. */
static int take_line(struct pleat_submit_options *submission, struct pleat_batch *batch,
                     size_t first, size_t count, struct pleat_error *err)
{
    struct pleat_option_reader reader;
    char **words = calloc(count + 2, sizeof(*words));
    if (!words)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    /* argv[0], which is ignored but appears in messages */
    words[0] = batch->words.items[first].text;
    for (size_t i = 0; i < count; i++)
        words[i + 1] = batch->words.items[first + i].text;
    pleat_submission_reader_init(&reader, (int)count + 1, words);
    int status = take_all(submission, &(struct pleat_submission_place){.reader = &reader}, err);
    if (!status && reader.first <= (int)count)
        status = pleat_error_set(err, PLEAT_E_INVALID,
                                 "'%s' is no option: the script itself is the program",
                                 words[reader.first]);
    free(words);
    return status;
}

static int take_script(struct pleat_submit_options *submission, struct pleat_error *err)
{
    struct pleat_batch *batch = &submission->batch;
    for (size_t i = 0; i < batch->words.count;) {
        size_t count = 1;
        int line = batch->words.items[i].line;
        while (i + count < batch->words.count && batch->words.items[i + count].line == line)
            count++;
        int status = take_line(submission, batch, i, count, err);
        if (status)
            return pleat_error_prefix(err, status, "%s:%d", submission->argv[0], line);
        i += count;
    }
    return 0;
}

/* Drops the size that the script gives, where the command line gives one. */
static void clear_size(struct pleat_submit_options *submission,
                       const struct pleat_submit_options *given)
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

/* Whether no program need be named: there is --wrap, or the script comes from standard input. */
static bool may_be_unnamed(const struct pleat_submission_place *place,
                           const struct pleat_submit_options *given)
{
    struct stat about;
    return given->wrap ||
           (place->reads_input && fstat(STDIN_FILENO, &about) == 0 && !S_ISCHR(about.st_mode));
}

/* Finds the program, and reads the options in it where it is a batch script. */
static int take_program(struct pleat_submit_options *submission,
                        const struct pleat_submission_place *place,
                        const struct pleat_submit_options *given, struct pleat_string *notes,
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

int pleat_submission_read(struct pleat_submit_options *submission,
                          const struct pleat_submission_place *place, struct pleat_string *notes,
                          struct pleat_error *err)
{
    struct pleat_submit_options given;
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
                                 "--array makes many jobs of one: only 'pleat submit' can do that");
    if (!status && submission->pty && !place->terminals)
        status = pleat_error_set(
            err, PLEAT_E_INVALID,
            "--pty shows the job's terminal on this one: only 'pleat run' can do that");
    pleat_submission_finish(&given);
    return status;
}
