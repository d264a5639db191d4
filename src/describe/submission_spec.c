/* submission_spec.c - what was asked for, and what the program is, as a spec. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "describe/submission.h"
#include "describe/values.h"
#include "launch/detect.h"
#include "model/sizes.h"
#include "model/spec.h"
#include "model/types.h"

struct plan {
    int64_t least, most, initial;
    char *sizes; /* in processors, where each process has several; owned; NULL: as given */
    struct pleat_submission_fold fold; /* where there is --processes; owned */
    bool folds;
    const char *runner;
    const char *kind;
    enum pleat_mpi mpi;
    char program[PATH_MAX];
    char sample[PATH_MAX]; /* as it is found for one number of processes */
    char directory[PATH_MAX];
};

/* ---- the size ---- */

/* What belongs together, of what is about folding. */
static int check_folding(const struct pleat_submission *s, struct pleat_error *err)
{
    const char *alone = s->fold                        ? "--fold"
                        : s->mpl                       ? "--mpl"
                        : s->count_word                ? "--count-word"
                        : !strcmp(s->runner, "folded") ? "--runner folded"
                                                       : NULL;
    if (!s->processes && alone)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s needs --processes N: an unmodified MPI program with N processes "
                               "is folded",
                               alone);
    if (!s->processes)
        return 0;
    if (s->cpus > 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--processes is for programs with several processes on a processor, "
                               "--cpus-per-task for those with several processors for each "
                               "process: leave out one of them");
    if (s->processors > 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--processes says how many processes, and --min and --max on how "
                               "many processors they may be: leave out -n");
    bool other = strcmp(s->runner, "auto") != 0 && strcmp(s->runner, "folded") != 0;
    if (!s->unfolded && (s->moldable || s->asks || other))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a job with --processes is folded: leave out %s, or add --no-fold",
                               s->moldable                       ? "--moldable"
                               : s->asks                         ? "--asks"
                               : !strcmp(s->runner, "malleable") ? "--malleable"
                                                                 : "--runner");
    return 0;
}

/* A processor for each process: the numbers of one are those of the other. */
static int choose_unfolded(const struct pleat_submission *s, struct plan *plan,
                           struct pleat_string *notes, struct pleat_error *err)
{
    plan->least = plan->fold.least;
    plan->most = plan->fold.most;
    if (s->least >= 0 || s->most >= 0 || s->initial >= 0)
        pleat_string_add(notes, "--no-fold: it gets a processor for each process, whatever --min, "
                                "--max and --initial say\n");
    if (s->count_word && plan->least < plan->most)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--count-word with --no-fold needs one number of processes");
    return 0;
}

/* Its processors: from one to one for each process, where nothing else was asked for. */
static int choose_partition(const struct pleat_submission *s, struct plan *plan,
                            struct pleat_error *err)
{
    plan->least = s->least >= 0 ? s->least : 1;
    plan->most = s->most >= 0 && s->most < plan->fold.most ? s->most : plan->fold.most;
    plan->initial = s->initial > 0 ? s->initial : 0;
    if (plan->least < 1)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--min 0: a program that is folded is on one processor at least");
    if (plan->least > plan->most)
        return pleat_error_set(
            err, PLEAT_E_INVALID, "--min %lld is above --max %lld, or above the %lld processes",
            (long long)plan->least, (long long)plan->most, (long long)plan->fold.most);
    if (plan->initial && (plan->initial < plan->least || plan->initial > plan->most))
        return pleat_error_set(
            err, PLEAT_E_INVALID, "--initial %lld is not from %lld to %lld processors",
            (long long)plan->initial, (long long)plan->least, (long long)plan->most);
    return 0;
}

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

static int check_signal(const struct pleat_submission *s, struct pleat_string *notes,
                        struct pleat_error *err)
{
    int number;
    double lead_s = 0;
    bool script_only = false;
    if (!s->signal)
        return 0;
    int status =
        pleat_parse_limit_signal("--signal", s->signal, &number, &lead_s, &script_only, err);
    if (!status && script_only && !s->script)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--signal %s: only a batch script can be sent a signal alone; leave "
                               "out 'B:'",
                               s->signal);
    if (!status && !(s->limit_s > 0))
        pleat_string_add(notes, "--signal: without --time-limit none is sent\n");
    else if (!status && lead_s >= s->limit_s)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--signal %s: that is not before the end of --time-limit (the time "
                               "after '@' is 60s if none is given)",
                               s->signal);
    return status;
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

static int choose_size(const struct pleat_submission *s, struct plan *plan,
                       struct pleat_string *notes, struct pleat_error *err)
{
    int status = check_folding(s, err);
    if (status || !s->processes)
        return status ? status : choose_limits(s, plan, err);
    plan->folds = !s->unfolded;
    status = pleat_submission_read_fold(s, &plan->fold, err);
    if (status)
        return status;
    return plan->folds ? choose_partition(s, plan, err) : choose_unfolded(s, plan, notes, err);
}

static int check_sizes(const struct pleat_submission *s, const struct plan *plan,
                       struct pleat_error *err)
{
    if (s->processes) /* looked at where they were read */
        return 0;
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

/* From here on its sizes are processors. */
static int count_processors(const struct pleat_submission *s, struct plan *plan,
                            struct pleat_error *err)
{
    if (s->cpus == 0)
        return 0;
    if (plan->most > PLEAT_SIZE_MAX / s->cpus)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%lld processes with %lld processors each (--cpus-per-task) are "
                               "more than %d",
                               (long long)plan->most, (long long)s->cpus, PLEAT_SIZE_MAX);
    int status = pleat_submission_scale_sizes(s, plan->most, &plan->sizes, err);
    plan->least *= s->cpus;
    plan->most *= s->cpus;
    plan->initial *= s->cpus;
    return status;
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

/* Where the number of processes stands in its name: as it is found for the first that is allowed;
 * all others must be beside it. Folded it keeps the word, which is replaced when it starts. */
static int find_counted(const struct pleat_submission *s, struct plan *plan,
                        struct pleat_error *err)
{
    struct pleat_sizes sizes = {0};
    struct pleat_size_list list = {0};
    int status = pleat_sizes_parse(plan->fold.sizes, &sizes, &list, err);
    int32_t first = status ? 0 : pleat_sizes_ceil(&sizes, (int32_t)plan->fold.least);
    char *name = pleat_spec_put_number(s->argv[0], s->count_word, first);
    struct pleat_submission one = *s;
    one.argv = &name;
    if (!status)
        status = name ? find_program(&one, plan, err)
                      : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    free(name);
    pleat_array_finish(&list);
    if (status)
        return status;
    memcpy(plan->sample, plan->program, sizeof(plan->sample));
    const char *slash = strrchr(s->argv[0], '/'), *base = slash ? slash + 1 : s->argv[0];
    if (slash && !pleat_spec_has_word(base, s->count_word))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--count-word %s stands in the name of a directory of '%s': it may "
                               "stand in the program's own name",
                               s->count_word, s->argv[0]);
    char *end = strrchr(plan->program, '/') + 1;
    size_t left = sizeof(plan->program) - (size_t)(end - plan->program);
    if (plan->folds && (size_t)snprintf(end, left, "%s", base) >= left)
        return pleat_error_set(err, PLEAT_E_TOOBIG, "the path of program '%s' is too long", base);
    return 0;
}

static int find_what(const struct pleat_submission *s, struct plan *plan, struct pleat_error *err)
{
    if (s->count_word && !s->script && pleat_spec_has_word(s->argv[0], s->count_word))
        return find_counted(s, plan, err);
    int status = find_program(s, plan, err);
    memcpy(plan->sample, plan->program, sizeof(plan->sample));
    return status;
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
    int64_t tasks = s->cpus > 0 ? plan->most / s->cpus : plan->most;
    if (!s->script && !s->pty && plan->mpi == PLEAT_MPI_NONE && tasks > 1 &&
        !strcmp(plan->runner, "plain"))
        pleat_string_addf(notes,
                          "'%s' is not linked with an MPI: one process is started, however many "
                          "processors it gets\n",
                          s->argv[0]);
}

/* A terminal is of use only to the process that is started with it. */
static int check_terminal(const struct pleat_submission *s, const struct plan *plan,
                          struct pleat_error *err)
{
    if (!s->pty)
        return 0;
    if (s->output || s->error || s->input)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--pty: its input and output are the terminal: leave out --%s",
                               s->output  ? "output"
                               : s->error ? "error"
                                          : "input");
    if (!s->script && strcmp(plan->runner, "plain") != 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--pty: '%s' is started by the launcher of its MPI, which passes no "
                               "terminal on to its ranks; run a shell ('pleat run --pty -n 4 "
                               "bash'), and in it 'pleat launch', or a debugger",
                               s->argv[0]);
    return 0;
}

static int choose_runner(const struct pleat_submission *s,
                         const struct pleat_launch_detected *found, struct plan *plan,
                         struct pleat_string *notes, struct pleat_error *err)
{
    bool apart = plan->least < plan->most;
    plan->runner = s->runner;
    if (plan->folds) {
        plan->runner = "folded";
        plan->kind = "malleable";
        return plan->mpi != PLEAT_MPI_NONE || s->script
                   ? 0
                   : pleat_error_set(err, PLEAT_E_INVALID,
                                     "--processes: '%s' is not linked with an MPI, and only MPI "
                                     "programs are folded; if it uses one in another way, name it "
                                     "with --mpi openmpi or --mpi mpich",
                                     s->argv[0]);
    }
    if (!strcmp(plan->runner, "folded")) /* and --no-fold */
        plan->runner = "auto";
    if (!strcmp(plan->runner, "auto"))
        plan->runner = found->malleable && apart && !s->moldable && !s->processes ? "malleable"
                       : plan->mpi != PLEAT_MPI_NONE                              ? "mpi"
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
    note_size(s, plan, apart && !malleable && !s->moldable && !s->unfolded, notes);
    return check_terminal(s, plan, err);
}

/* ---- the spec ---- */

static int add_words(const struct pleat_submission *s, const struct plan *plan, json_t *spec,
                     struct pleat_error *err)
{
    json_t *argv = json_array();
    json_object_set_new(spec, "argv", argv);
    for (int i = 0; i < s->argc; i++) {
        const char *word = i ? s->argv[i] : plan->program;
        bool counted = s->count_word && !plan->folds; /* else when it starts */
        char *put =
            counted ? pleat_spec_put_number(word, s->count_word, (int32_t)plan->least) : NULL;
        int bad = json_array_append_new(argv, json_string(put ? put : word));
        free(put);
        if (bad)
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
/* What processes inherit of this one besides. */
static int add_process(json_t *spec, struct pleat_error *err)
{
    struct pleat_limits limits;
    struct pleat_string text = {0};
    pleat_limits_here(&limits);
    pleat_limits_text(&limits, &text);
    int status = text.failed ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory")
                             : add_text(spec, "limits", text.text ? text.text : "", err);
    pleat_string_finish(&text);
    errno = 0;
    int nice = getpriority(PRIO_PROCESS, 0);
    if (nice != -1 || !errno)
        json_object_set_new(spec, "nice", json_integer(nice));
    return status;
}

/* It was parsed before. */
static void add_signal(const struct pleat_submission *s, json_t *spec)
{
    int number;
    double lead_s;
    bool script_only;
    if (!pleat_parse_limit_signal("--signal", s->signal, &number, &lead_s, &script_only, NULL))
        json_object_set_new(spec, "limit_signal",
                            json_pack("{s:i, s:f, s:b}", "signal", number, "lead_s", lead_s,
                                      "script", script_only));
}

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
    if (!status)
        status = add_text(spec, "dependency", s->dependency, err);
    if (!status)
        status = add_text(spec, "array", s->array, err);
    if (s->hold)
        json_object_set_new(spec, "hold", json_true());
    if (s->append)
        json_object_set_new(spec, "append", json_true());
    if (s->signal)
        add_signal(s, spec);
    if (s->memory_kb)
        json_object_set_new(spec, "memory_limit_kb", json_integer(s->memory_kb));
    if (s->once)
        json_object_set_new(spec, "requeue", json_false());
    mode_t mask = umask(0);
    umask(mask);
    json_object_set_new(spec, "umask", json_integer(mask & 0777));
    if (!status)
        status = add_process(spec, err);
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
    json_object_set_new(spec, "sizes",
                        json_string(s->processes  ? plan->fold.sizes
                                    : plan->sizes ? plan->sizes
                                                  : s->sizes));
    if (s->cpus > 0)
        json_object_set_new(spec, "cpus_per_task", json_integer(s->cpus));
    if (strcmp(s->job_class, "unknown") != 0)
        json_object_set_new(spec, "class", json_string(s->job_class));
    if (plan->folds &&
        json_object_set_new(spec, "fold", pleat_submission_fold_json(s, &plan->fold)))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--fold or --count-word is not valid UTF-8, or memory is short");
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
    if (!status && plan->folds)
        status = pleat_submission_check_fold(s, &plan->fold, plan->program,
                                             json_object_get(spec, "env"), err);
    return status ? status : add_more(s, spec, err);
}

static int detect(const struct plan *plan, struct pleat_launch_detected *found,
                  struct pleat_error *err)
{
    int status = pleat_launch_detect(plan->sample, found, err);
    if (status != PLEAT_E_SYSTEM)
        return status;
    *found = (struct pleat_launch_detected){0}; /* not readable: it can be executed all the same */
    return 0;
}

/* All that is to be known for building it. */
static int make_plan(const struct pleat_submission *submission, struct plan *plan,
                     struct pleat_string *notes, struct pleat_error *err)
{
    struct pleat_launch_detected found = {0};
    int status = choose_size(submission, plan, notes, err);
    if (!status)
        status = check_sizes(submission, plan, err);
    if (!status)
        status = count_processors(submission, plan, err);
    if (!status)
        status = check_times(submission, err);
    if (!status)
        status = check_signal(submission, notes, err);
    if (!status)
        status = find_directory(submission, plan, err);
    if (!status)
        status = find_what(submission, plan, err);
    if (!status && !submission->script)
        status = detect(plan, &found, err);
    if (!status)
        status = choose_mpi(submission, &found, plan, err);
    return status ? status : choose_runner(submission, &found, plan, notes, err);
}

int pleat_submission_spec(const struct pleat_submission *submission, json_t **spec,
                          struct pleat_string *notes, struct pleat_error *err)
{
    struct plan plan = {0};
    json_t *built = json_object();
    int status = built ? make_plan(submission, &plan, notes, err)
                       : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the job");
    if (!status)
        status = build(submission, &plan, built, notes, err);
    pleat_submission_finish_fold(&plan.fold);
    free(plan.sizes);
    if (status)
        json_decref(built);
    else
        *spec = built;
    return status;
}
