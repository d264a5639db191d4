/* submission_script.c - decides which file is run, and reads it where it is a batch script. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "describe/sbatch.h"
#include "describe/submission.h"
#include "launch/detect.h"
#include "wire/spec.h"

static bool is_file(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

int pleat_submission_find(const struct pleat_submit_options *s, char *path, size_t size,
                          struct pleat_error *err)
{
    const char *name = s->argv[0];
    bool relative = s->beside && *name != '/';
    int length =
        snprintf(path, size, "%s%s%s", relative ? s->beside : "", relative ? "/" : "", name);
    if (length < 0 || (size_t)length >= size)
        return pleat_error_set(err, PLEAT_E_TOOBIG, "the program's path is too long");
    if (strchr(name, '/') || (relative && is_file(path) && access(path, X_OK) == 0))
        return 0;
    int status = pleat_launch_find(name, getenv("PATH"), NULL, path, size, err);
    return status == PLEAT_E_NOTFOUND
               ? pleat_error_set(err, status, "there is no program '%s' in PATH%s", name,
                                 s->beside ? ", nor beside the mix file" : "")
               : status;
}

/* Finds the file that may be a script: a path; or a file in the current directory, where PATH has
 * no program of that name. Programs in PATH are never read as scripts. */
static bool find_script(const struct pleat_submit_options *s, char *path)
{
    const char *name = s->argv[0];
    struct pleat_error ignored;
    char found[PATH_MAX], candidate[2 * PATH_MAX];
    bool in_path = !strchr(name, '/') &&
                   !pleat_launch_find(name, getenv("PATH"), NULL, found, sizeof(found), &ignored);
    bool beside = s->beside && *name != '/';
    snprintf(candidate, sizeof(candidate), "%s/%s", beside ? s->beside : ".", name);
    const char *wanted = *name == '/' ? name : candidate;
    if ((in_path && !s->beside) || !is_file(wanted) || !realpath(wanted, path))
        return false;
    return !in_path || beside;
}

/* Reads up to the limit and one byte more. NULL: the file cannot be read, but may still be
 * executed. */
static char *read_text(int fd, size_t *size)
{
    size_t most = PLEAT_SPEC_SCRIPT_MAX + 1;
    char *text = fd >= 0 ? malloc(most + 1) : NULL;
    ssize_t count = 1;
    *size = 0;
    while (text && count > 0 && *size < most) {
        count = read(fd, text + *size, most - *size);
        if (count < 0 && errno == EINTR)
            count = 1;
        else if (count > 0)
            *size += (size_t)count;
    }
    if (text && count < 0) {
        free(text);
        return NULL;
    }
    if (text)
        text[*size] = '\0';
    return text;
}

static bool is_text(const char *text, size_t size)
{
    json_t *json = size <= PLEAT_SPEC_SCRIPT_MAX ? json_stringn(text, size) : NULL;
    bool good = json && !memchr(text, '\0', size);
    json_decref(json);
    return good;
}

/* Refuses a first line that the system would read in another way than its user means. */
static int check_interpreter(const struct pleat_submit_options *s, const char *text,
                             struct pleat_error *err)
{
    if (strncmp(text, "#!", 2) != 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s:1: a batch script begins with its interpreter, such as "
                               "#!/bin/sh",
                               s->argv[0]);
    size_t length = strcspn(text, "\n");
    if (length && text[length - 1] == '\r')
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s:1: its lines end as on DOS, and no interpreter would be found: "
                               "remove the carriage returns (sed -i 's/\\r$//')",
                               s->argv[0]);
    return 0;
}

static bool says(const struct pleat_batch *batch, const char *const *options)
{
    for (size_t i = 0; i < batch->words.count; i++)
        for (size_t j = 0; options[j]; j++)
            if (!strncmp(batch->words.items[i].text, options[j], strlen(options[j])))
                return true;
    return false;
}

/* Puts the options of the lines #SBATCH before those of the lines #PLEAT, so that the latter have
 * precedence. */
static int put_before(struct pleat_batch *batch, struct pleat_sbatch *sbatch,
                      struct pleat_error *err)
{
    struct pleat_batch_words all = sbatch->words;
    if (pleat_array_reserve(&all, batch->words.count))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    for (size_t i = 0; i < batch->words.count; i++)
        all.items[all.count++] = batch->words.items[i];
    pleat_array_finish(&batch->words);
    batch->words = all;
    memset(&sbatch->words, 0, sizeof(sbatch->words));
    return 0;
}

/* Handles the lines #SBATCH: takes them with --sbatch, otherwise tells that they are there. */
static int take_sbatch(struct pleat_submit_options *s, const char *text, size_t size,
                       struct pleat_string *notes, struct pleat_error *err)
{
    static const char *const sizes[] = {"-n",    "--processors", "--min",
                                        "--max", "--processes",  NULL};
    static const char *const asked[] = {"--sbatch", NULL};
    struct pleat_sbatch sbatch;
    struct pleat_error ignored;
    bool wanted = s->sbatch || says(&s->batch, asked);
    int status = pleat_sbatch_read(s->argv[0], text, size, says(&s->batch, sizes), &sbatch,
                                   wanted ? err : &ignored);
    if (status && !wanted) {
        pleat_string_addf(notes, "%s: its #SBATCH lines are not read\n", s->argv[0]);
        return 0;
    }
    if (status)
        return status;
    const char *left = sbatch.left.text ? sbatch.left.text : "";
    if (sbatch.first && !wanted)
        pleat_string_addf(
            notes,
            "%s:%d: #SBATCH lines are not read: --sbatch takes what has an equivalent "
            "here%s%s%s\n",
            s->argv[0], sbatch.first, *left ? " (not: " : "", left, *left ? ")" : "");
    else if (*left)
        pleat_string_addf(notes, "%s:%d: of the #SBATCH lines, these have no equivalent: %s\n",
                          s->argv[0], sbatch.first, left);
    if (wanted)
        status = put_before(&s->batch, &sbatch, err);
    pleat_sbatch_finish(&sbatch);
    return status;
}

static int take(struct pleat_submit_options *s, const char *path, char *text, size_t size,
                struct pleat_string *notes, struct pleat_error *err)
{
    bool marked = size >= 2 && !memcmp(text, "#!", 2);
    if (!is_text(text, size)) {
        if (marked)
            pleat_string_addf(notes,
                              "'%s' is run where it is, as it is when the job starts: it is not "
                              "text, or longer than %d bytes\n",
                              s->argv[0], PLEAT_SPEC_SCRIPT_MAX);
        return 0;
    }
    int status = pleat_batch_read(s->argv[0], text, size, &s->batch, err);
    if (status || (!marked && !s->batch.directives))
        return status;
    status = check_interpreter(s, text, err);
    if (status)
        return status;
    if (s->batch.late)
        pleat_string_addf(notes,
                          "%s:%d: this #PLEAT line is not read: it comes after the first command\n",
                          s->argv[0], s->batch.late);
    status = take_sbatch(s, text, size, notes, err);
    if (status)
        return status;
    s->script = strdup(text);
    s->script_path = strdup(path);
    return s->script && s->script_path ? 0 : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
}

/* Gives a script that is no file a path, by which the job is named. */
static int name_script(struct pleat_submit_options *s, const char *name, struct pleat_error *err)
{
    char here[PATH_MAX], path[2 * PATH_MAX];
    if (!getcwd(here, sizeof(here)))
        return pleat_error_sys(err, errno, "cannot find out the current directory");
    snprintf(path, sizeof(path), "%s/%s", here, name);
    free(s->script_path);
    s->script_path = strdup(path);
    return s->script_path ? 0 : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
}

static int wrap(struct pleat_submit_options *s, struct pleat_error *err)
{
    struct pleat_string text = {0};
    pleat_string_addf(&text, "#!/bin/sh\n%s\n", s->wrap);
    if (text.failed)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    if (!is_text(text.text, text.length)) {
        pleat_string_finish(&text);
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--wrap: a command line is text of at most %d bytes",
                               PLEAT_SPEC_SCRIPT_MAX);
    }
    s->script = text.text;
    return name_script(s, "wrap", err);
}

static int take_input(struct pleat_submit_options *s, struct pleat_string *notes,
                      struct pleat_error *err)
{
    size_t size;
    char *text = read_text(STDIN_FILENO, &size);
    int status;
    if (!text)
        status = pleat_error_sys(err, errno, "cannot read standard input");
    else if (size == 0)
        status = pleat_error_set(err, PLEAT_E_INVALID,
                                 "which program? None is named, and standard input, where a batch "
                                 "script may come from, is empty");
    else if (!is_text(text, size))
        status = pleat_error_set(err, PLEAT_E_INVALID,
                                 "the batch script from standard input is not text, or longer than "
                                 "%d bytes",
                                 PLEAT_SPEC_SCRIPT_MAX);
    else
        status = check_interpreter(s, text, err);
    if (!status)
        status = take(s, "stdin", text, size, notes, err);
    free(text);
    return status ? status : name_script(s, "stdin", err);
}

int pleat_submission_open_script(struct pleat_submit_options *s, struct pleat_string *notes,
                                 struct pleat_error *err)
{
    char path[PATH_MAX];
    size_t size;
    if (s->wrap)
        return wrap(s, err);
    if (!strcmp(s->argv[0], "-"))
        return take_input(s, notes, err);
    if (!find_script(s, path))
        return 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = read_text(fd, &size);
    if (fd >= 0)
        close(fd);
    int status = text ? take(s, path, text, size, notes, err) : 0;
    free(text);
    return status;
}
