/* submission_spec.c - what was asked for, and what the program is, as a spec. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/submission.h"
#include "launch/detect.h"
#include "model/sizes.h"
#include "model/types.h"

struct plan {
    int64_t least, most, initial;
    const char *runner;
    const char *kind;
    enum pleat_mpi mpi;
    char program[PATH_MAX];
    char directory[PATH_MAX];
};

/* ---- the size ---- */

static int choose_limits(const struct pleat_submission *s, struct plan *plan,
                         struct pleat_error *err)
{
    plan->least = plan->most = 1;
    if (s->processors > 0 && (s->least >= 0 || s->most >= 0))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--processors means exactly that many: leave out --min and --max");
    if (s->least >= 0 && s->most < 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--min needs --max (or -n %lld for exactly that many)",
                               (long long)s->least);
    if (s->processors > 0)
        plan->least = plan->most = s->processors;
    if (s->most >= 0) {
        plan->least = s->least >= 0 ? s->least : 1;
        plan->most = s->most;
    }
    if (plan->least > plan->most)
        return pleat_error_set(err, PLEAT_E_INVALID, "--min %lld is above --max %lld",
                               (long long)plan->least, (long long)plan->most);
    plan->initial = s->initial > 0 ? s->initial : 0;
    if (plan->initial && (plan->initial < plan->least || plan->initial > plan->most))
        return pleat_error_set(
            err, PLEAT_E_INVALID, "--initial %lld is not from --min %lld to --max %lld",
            (long long)plan->initial, (long long)plan->least, (long long)plan->most);
    return 0;
}

static int check_times(const struct pleat_submission *s, struct pleat_error *err)
{
    if (s->begin_s > 0 && !(s->estimate_s > 0) && !(s->limit_s > 0))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--begin needs --estimate: how long are the processors to be kept?");
    if (s->notify_on && !s->notify)
        return pleat_error_set(err, PLEAT_E_INVALID, "--notify-on needs --notify COMMAND");
    return 0;
}

static int check_sizes(const struct pleat_submission *s, const struct plan *plan,
                       struct pleat_error *err)
{
    struct pleat_sizes sizes = {0};
    struct pleat_size_list list = {0};
    int status = pleat_sizes_parse(s->sizes, &sizes, &list, err);
    int32_t largest = status ? 0 : pleat_sizes_floor(&sizes, (int32_t)plan->most);
    bool initial_fits = status || !plan->initial ||
                        pleat_sizes_floor(&sizes, (int32_t)plan->initial) == (int32_t)plan->initial;
    pleat_array_finish(&list);
    if (status)
        return status;
    if (largest < 1 || largest < plan->least)
        return pleat_error_set(err, PLEAT_E_INVALID, "--sizes %s: none is from %lld to %lld",
                               s->sizes, (long long)plan->least, (long long)plan->most);
    if (!initial_fits)
        return pleat_error_set(err, PLEAT_E_INVALID, "--initial %lld is not among --sizes %s",
                               (long long)plan->initial, s->sizes);
    return 0;
}

/* ---- the program ---- */

static int find_directory(const struct pleat_submission *s, struct plan *plan,
                          struct pleat_error *err)
{
    struct stat about;
    const char *wanted = s->chdir ? s->chdir : ".";
    if (!realpath(wanted, plan->directory))
        return pleat_error_sys(err, errno, "cannot run in directory '%s'", wanted);
    if (stat(plan->directory, &about) == 0 && !S_ISDIR(about.st_mode))
        return pleat_error_set(err, PLEAT_E_INVALID, "cannot run in '%s': it is not a directory",
                               wanted);
    return 0;
}

static bool executable(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

static int find_program(const struct pleat_submission *s, struct plan *plan,
                        struct pleat_error *err)
{
    const char *name = s->argv[0];
    char path[PATH_MAX], absolute[PATH_MAX];
    if (s->script) {
        snprintf(plan->program, sizeof(plan->program), "%s", s->script_path);
        return 0;
    }
    int status = pleat_submission_find(s, path, sizeof(path), err);
    if (status)
        return status;
    if (!realpath(path, absolute))
        return pleat_error_set(err, errno == EACCES ? PLEAT_E_PERMISSION : PLEAT_E_NOTFOUND,
                               "there is no program '%s': %s", path, strerror(errno));
    if (!executable(absolute))
        return pleat_error_set(err, PLEAT_E_PERMISSION, "'%s' cannot be executed: it is %s", path,
                               access(absolute, X_OK) ? "not marked executable"
                                                      : "no regular file");
    /* The directory is resolved, the program's own name is not: it may be a link, and programs may
     * look at the name they were called by. */
    char *name_at = strrchr(path, '/');
    if (name_at)
        *name_at++ = 0;
    char *resolved = realpath(name_at ? (*path ? path : "/") : ".", absolute);
    int length =
        snprintf(plan->program, sizeof(plan->program), "%s/%s",
                 !resolved || !strcmp(absolute, "/") ? "" : absolute, name_at ? name_at : path);
    if (!resolved || length < 0 || (size_t)length >= sizeof(plan->program))
        return pleat_error_set(err, PLEAT_E_TOOBIG, "the path of program '%s' is too long", name);
    return 0;
}

/* ---- how it is run ---- */

static int choose_mpi(const struct pleat_submission *s, const struct pleat_launch_detected *found,
                      struct plan *plan, struct pleat_error *err)
{
    plan->mpi = found->mpi;
    if (strcmp(s->mpi, "auto") != 0)
        return pleat_mpi_parse(s->mpi, &plan->mpi, err);
    return 0;
}

static void note_size(const struct pleat_submission *s, const struct plan *plan, bool fixed,
                      struct pleat_string *notes)
{
    if (fixed && s->script)
        pleat_string_addf(notes,
                          "'%s' is a script: its size is chosen at its start and does not change "
                          "(--malleable: the program that it starts with 'pleat launch' can; "
                          "--moldable says that this is meant)\n",
                          s->argv[0]);
    else if (fixed)
        pleat_string_addf(notes,
                          "'%s' is not linked with libpleat: its size is chosen at its start and "
                          "does not change (--moldable says that this is meant)\n",
                          s->argv[0]);
    if (!s->script && plan->mpi == PLEAT_MPI_NONE && plan->most > 1 &&
        !strcmp(plan->runner, "plain"))
        pleat_string_addf(notes,
                          "'%s' is not linked with an MPI: one process is started, however many "
                          "processors it gets\n",
                          s->argv[0]);
}

static int choose_runner(const struct pleat_submission *s,
                         const struct pleat_launch_detected *found, struct plan *plan,
                         struct pleat_string *notes, struct pleat_error *err)
{
    bool apart = plan->least < plan->most;
    plan->runner = s->runner;
    if (!strcmp(s->runner, "auto"))
        plan->runner = found->malleable && apart && !s->moldable ? "malleable"
                       : plan->mpi != PLEAT_MPI_NONE             ? "mpi"
                                                                 : "plain";
    bool malleable = !strcmp(plan->runner, "malleable");
    /* a script starts its program itself */
    bool by_itself = malleable && (s->script || !strcmp(s->mpi, "none"));
    if (plan->mpi == PLEAT_MPI_NONE && strcmp(plan->runner, "plain") != 0 && !by_itself)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--runner %s: '%s' is not linked with an MPI; if it uses one in "
                               "another way, name it with --mpi openmpi or --mpi mpich",
                               plan->runner, s->argv[0]);
    plan->kind = !apart ? "rigid" : malleable && !s->moldable ? "malleable" : "moldable";
    if (s->asks && strcmp(plan->kind, "malleable") != 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--asks is for malleable jobs, and this one is %s", plan->kind);
    note_size(s, plan, apart && !malleable && !s->moldable, notes);
    return 0;
}

/* ---- the spec ---- */

static int add_words(const struct pleat_submission *s, const struct plan *plan, json_t *spec,
                     struct pleat_error *err)
{
    json_t *argv = json_array();
    json_object_set_new(spec, "argv", argv);
    for (int i = 0; i < s->argc; i++) {
        const char *word = i ? s->argv[i] : plan->program;
        if (json_array_append_new(argv, json_string(word)))
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "argument %d of '%s' is not valid UTF-8: it cannot be passed on",
                                   i, s->argv[0]);
    }
    return 0;
}

static int add_text(json_t *spec, const char *member, const char *value, struct pleat_error *err)
{
    if (value && json_object_set_new(spec, member, json_string(value)))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "the job's '%s' is not valid UTF-8: it cannot be passed on", member);
    return 0;
}

static void add_notify_on(const struct pleat_submission *s, json_t *spec)
{
    json_t *list = s->notify_on ? json_array() : NULL;
    for (const char *at = s->notify_on; list && *at; at += strspn(at, ",")) {
        size_t length = strcspn(at, ",");
        json_array_append_new(list, json_stringn(at, length));
        at += length;
    }
    if (list)
        json_object_set_new(spec, "notify_on", list);
}

/* Files, script, notification, terms: members that are only there where they were asked for. */
static int add_more(const struct pleat_submission *s, json_t *spec, struct pleat_error *err)
{
    int status = add_text(spec, "output", s->output, err);
    if (!status)
        status = add_text(spec, "error", s->error, err);
    if (!status)
        status = add_text(spec, "input", s->input, err);
    if (!status)
        status = add_text(spec, "script", s->script, err);
    if (!status)
        status = add_text(spec, "notify", s->notify, err);
    if (!status && strcmp(s->resize, "auto") != 0)
        status = add_text(spec, "resize", s->resize, err);
    if (s->append)
        json_object_set_new(spec, "append", json_true());
    mode_t mask = umask(0);
    umask(mask);
    json_object_set_new(spec, "umask", json_integer(mask & 0777));
    if (s->limit_s > 0)
        json_object_set_new(spec, "limit_s", json_real(s->limit_s));
    if (s->notice_s >= 0)
        json_object_set_new(spec, "notice_s", json_real(s->notice_s));
    if (s->lifetime_s >= 0)
        json_object_set_new(spec, "lifetime_s", json_real(s->lifetime_s));
    add_notify_on(s, spec);
    return status;
}

static const char *name_of(const struct pleat_submission *s)
{
    const char *slash = strrchr(s->argv[0], '/');
    return s->name ? s->name : slash && slash[1] ? slash + 1 : s->argv[0];
}

static int build(const struct pleat_submission *s, const struct plan *plan, json_t *spec,
                 struct pleat_string *notes, struct pleat_error *err)
{
    json_t *cwd = json_string(plan->directory), *name = json_string(name_of(s));
    int broken = json_object_set_new(spec, "cwd", cwd) | json_object_set_new(spec, "name", name);
    if (broken)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "the job's %s is not valid UTF-8: it cannot be passed on",
                               cwd ? "name" : "directory");
    json_object_set_new(spec, "runner", json_string(plan->runner));
    json_object_set_new(spec, "mpi", json_string(pleat_mpi_name(plan->mpi)));
    json_object_set_new(spec, "kind", json_string(plan->kind));
    json_object_set_new(spec, "min", json_integer(plan->least));
    json_object_set_new(spec, "max", json_integer(plan->most));
    json_object_set_new(spec, "initial", json_integer(plan->initial));
    json_object_set_new(spec, "sizes", json_string(s->sizes));
    json_object_set_new(spec, "asks", json_boolean(s->asks));
    json_object_set_new(spec, "estimate_s",
                        json_real(s->estimate_s > 0 ? s->estimate_s : s->limit_s));
    json_object_set_new(spec, "priority", json_integer(s->priority));
    json_object_set_new(spec, "deadline_in_s", json_real(s->deadline_s));
    json_object_set_new(spec, "begin_in_s", json_real(s->begin_s));
    if (s->site && json_object_set_new(spec, "site", json_string(s->site)))
        return pleat_error_set(err, PLEAT_E_INVALID, "--site is not valid UTF-8");
    if (!s->site)
        json_object_set_new(spec, "site", json_null());
    int status = add_words(s, plan, spec, err);
    if (!status && json_object_set_new(spec, "env", pleat_submission_environment(s, notes)))
        status = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    return status ? status : add_more(s, spec, err);
}

static int detect(const struct plan *plan, struct pleat_launch_detected *found,
                  struct pleat_error *err)
{
    int status = pleat_launch_detect(plan->program, found, err);
    if (status != PLEAT_E_SYSTEM)
        return status;
    *found = (struct pleat_launch_detected){0}; /* not readable: it can be executed all the same */
    return 0;
}

int pleat_submission_spec(const struct pleat_submission *submission, json_t **spec,
                          struct pleat_string *notes, struct pleat_error *err)
{
    struct plan plan = {0};
    struct pleat_launch_detected found = {0};
    int status = choose_limits(submission, &plan, err);
    if (!status)
        status = check_sizes(submission, &plan, err);
    if (!status)
        status = check_times(submission, err);
    if (!status)
        status = find_directory(submission, &plan, err);
    if (!status)
        status = find_program(submission, &plan, err);
    if (!status && !submission->script)
        status = detect(&plan, &found, err);
    if (!status)
        status = choose_mpi(submission, &found, &plan, err);
    if (!status)
        status = choose_runner(submission, &found, &plan, notes, err);
    if (status)
        return status;
    json_t *built = json_object();
    if (!built)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the job");
    status = build(submission, &plan, built, notes, err);
    if (status) {
        json_decref(built);
        return status;
    }
    *spec = built;
    return 0;
}
