/* submission_spec.c - makes the spec of a job from what was asked for and what the program is. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "checkpoint/checkpoint.h"
#include "describe/submission_plan.h"
#include "describe/values.h"
#include "model/runner_kind.h"
#include "model/spec.h"

static int check_signal(const struct pleat_submit_options *s, struct pleat_string *notes,
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

/* The absolute path of the checkpoint. It is looked at, unless a job that is waited for may write
 * it yet: a program that cannot go on from it should not wait in a queue first. */
static int check_from(const struct pleat_submit_options *s, struct pleat_submission_plan *plan,
                      struct pleat_error *err)
{
    struct pleat_checkpoint found;
    char here[PATH_MAX] = "";
    int fd = -1;
    if ((s->from || s->save) && !(pleat_runner_starts(plan->runner) & PLEAT_STARTS_MAILBOX))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--%s: only a program that is linked with libpleat can do that, and "
                               "'%s' has the runner '%s' (--malleable says that it is one)",
                               s->from ? "from" : "save", s->argv[0], plan->runner);
    if (s->save && s->moldable)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--save: only a malleable job is started again while it runs, and "
                               "--moldable says that this one is not");
    if (s->save && (s->once || (s->resize && !strcmp(s->resize, "merge"))))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--save: the program is started again when its ranks die, and %s "
                               "says that it never is",
                               s->once ? "--no-requeue" : "--on-resize merge");
    if (!s->from)
        return 0;
    if (s->from[0] != '/' && !getcwd(here, sizeof(here)))
        return pleat_error_sys(err, errno, "--from: where are we");
    int length =
        snprintf(plan->from, sizeof(plan->from), "%s%s%s", here, *here ? "/" : "", s->from);
    if (length < 0 || (size_t)length >= sizeof(plan->from))
        return pleat_error_set(err, PLEAT_E_TOOBIG, "--from: the path is too long");
    int status = pleat_checkpoint_open(plan->from, &found, &fd, err);
    if (status == PLEAT_E_NOTFOUND && s->dependency)
        return 0;
    if (status)
        return pleat_error_prefix(err, status, "--from");
    pleat_checkpoint_finish(&found);
    close(fd);
    return 0;
}

static int check_times(const struct pleat_submit_options *s, struct pleat_error *err)
{
    if (s->begin_s > 0 && !(s->estimate_s > 0) && !(s->limit_s > 0))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--begin needs --estimate: how long are the processors to be kept?");
    if (s->notify_on && !s->notify)
        return pleat_error_set(err, PLEAT_E_INVALID, "--notify-on needs --notify COMMAND");
    return 0;
}

static int add_words(const struct pleat_submit_options *s, const struct pleat_submission_plan *plan,
                     json_t *spec, struct pleat_error *err)
{
    json_t *argv = json_array();
    json_object_set_new(spec, "argv", argv);
    for (int i = 0; i < s->argc; i++) {
        const char *word = i ? s->argv[i] : plan->program;
        /* of a job that folds the word is replaced at each start */
        bool counted = s->count_word && !plan->folds;
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

static void add_notify_on(const struct pleat_submit_options *s, json_t *spec)
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

/* Adds what processes inherit of this one beside the environment. */
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

static bool wants_checkpoints(const struct pleat_submit_options *s)
{
    return s->checkpoint_every_s > 0 || s->checkpoint_before_s > 0 || s->checkpoint_signal;
}

/* Checks what is wanted of checkpoints that are written by themselves. */
static int check_checkpoints(const struct pleat_submit_options *s,
                             const struct pleat_submission_plan *plan, struct pleat_string *notes,
                             struct pleat_error *err)
{
    bool any = wants_checkpoints(s);
    if (!any && (s->checkpoint_keep || s->checkpoint_then || s->checkpoint_dir))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--checkpoint-keep, --checkpoint-then and --checkpoint-dir are for "
                               "--checkpoint-every, --checkpoint-before-limit or "
                               "--checkpoint-signal");
    if (any && !(pleat_runner_starts(plan->runner) & PLEAT_STARTS_MAILBOX))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--checkpoint-%s: only a program that is linked with libpleat "
                               "writes checkpoints, and '%s' has the runner '%s' (--malleable says "
                               "that it is one)",
                               s->checkpoint_every_s > 0    ? "every"
                               : s->checkpoint_before_s > 0 ? "before-limit"
                                                            : "signal",
                               s->argv[0], plan->runner);
    if (s->checkpoint_before_s > 0 && !(s->limit_s > 0))
        pleat_string_add(notes,
                         "--checkpoint-before-limit: without --time-limit none is written\n");
    return 0;
}

static int add_checkpoints(const struct pleat_submit_options *s, json_t *spec,
                           struct pleat_error *err)
{
    char here[PATH_MAX] = "", dir[2 * PATH_MAX];
    json_t *wanted = json_object();
    if (s->checkpoint_every_s > 0)
        json_object_set_new(wanted, "every_s", json_real(s->checkpoint_every_s));
    if (s->checkpoint_before_s > 0)
        json_object_set_new(wanted, "before_limit_s", json_real(s->checkpoint_before_s));
    if (s->checkpoint_keep)
        json_object_set_new(wanted, "keep", json_integer(s->checkpoint_keep));
    if (s->checkpoint_signal)
        json_object_set_new(
            wanted, "signal",
            json_integer(!strcmp(s->checkpoint_signal, "USR1") ? SIGUSR1 : SIGUSR2));
    if (s->checkpoint_then && !strcmp(s->checkpoint_then, "go-on"))
        json_object_set_new(wanted, "go_on", json_true());
    json_object_set_new(spec, "checkpoints", wanted);
    if (!s->checkpoint_dir)
        return 0;
    if (s->checkpoint_dir[0] != '/' && !getcwd(here, sizeof(here)))
        return pleat_error_sys(err, errno, "--checkpoint-dir: where are we");
    snprintf(dir, sizeof(dir), "%s%s%s", here, *here ? "/" : "", s->checkpoint_dir);
    struct stat st;
    if (stat(dir, &st) || !S_ISDIR(st.st_mode))
        return pleat_error_set(err, PLEAT_E_INVALID, "--checkpoint-dir: %s is no directory", dir);
    return add_text(wanted, "dir", dir, err);
}

/* Adds the signal, which was checked before. */
static void add_signal(const struct pleat_submit_options *s, json_t *spec)
{
    int number;
    double lead_s;
    bool script_only;
    if (!pleat_parse_limit_signal("--signal", s->signal, &number, &lead_s, &script_only, NULL))
        json_object_set_new(spec, "limit_signal",
                            json_pack("{s:i, s:f, s:b}", "signal", number, "lead_s", lead_s,
                                      "script", script_only));
}

/* Adds members that are only there where they were asked for: files, script, notification, terms.
 */
static int add_more(const struct pleat_submit_options *s, const struct pleat_submission_plan *plan,
                    json_t *spec, struct pleat_error *err)
{
    char save[PLEAT_SAVE_TEXT];
    int status = add_text(spec, "output", s->output, err);
    if (!status)
        status = add_text(spec, "error", s->error, err);
    if (!status)
        status = add_text(spec, "input", s->input, err);
    if (!status)
        status = add_text(spec, "script", s->script, err);
    if (!status)
        status = add_text(spec, "notify", s->notify, err);
    if (!status)
        status = add_text(spec, "program", s->program, err);
    if (!status && strcmp(s->resize, "auto") != 0)
        status = add_text(spec, "resize", s->resize, err);
    if (!status)
        status = add_text(spec, "dependency", s->dependency, err);
    if (!status)
        status = add_text(spec, "sites", s->at_sites, err);
    if (!status)
        status = add_text(spec, "array", s->array, err);
    if (!status && s->from)
        status = add_text(spec, "from", plan->from, err);
    if (!status && wants_checkpoints(s))
        status = add_checkpoints(s, spec, err);
    if (!status && s->save)
        status = pleat_save_text("--save", s->save, save, sizeof(save), err);
    if (!status && s->save)
        status = add_text(spec, "save", save, err);
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
    if (s->one_node)
        json_object_set_new(spec, "one_node", json_true());
    if (s->any_site)
        json_object_set_new(spec, "any_site", json_true());
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

static const char *name_of(const struct pleat_submit_options *s)
{
    const char *slash = strrchr(s->argv[0], '/');
    return s->name ? s->name : slash && slash[1] ? slash + 1 : s->argv[0];
}

static int build(const struct pleat_submit_options *s, const struct pleat_submission_plan *plan,
                 json_t *spec, struct pleat_string *notes, struct pleat_error *err)
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
    return status ? status : add_more(s, plan, spec, err);
}

/* Decides all that the spec needs. */
static int make_plan(const struct pleat_submit_options *submission,
                     struct pleat_submission_plan *plan, struct pleat_string *notes,
                     struct pleat_error *err)
{
    int status = pleat_submission_plan_size(submission, plan, notes, err);
    if (!status)
        status = check_times(submission, err);
    if (!status)
        status = check_signal(submission, notes, err);
    if (!status)
        status = pleat_submission_plan_program(submission, plan, err);
    if (!status)
        status = pleat_submission_plan_runner(submission, plan, notes, err);
    if (!status)
        status = check_checkpoints(submission, plan, notes, err);
    return status ? status : check_from(submission, plan, err);
}

int pleat_submission_spec(const struct pleat_submit_options *submission, json_t **spec,
                          struct pleat_string *notes, struct pleat_error *err)
{
    struct pleat_submission_plan plan = {0};
    json_t *built = json_object();
    struct pleat_submit_options own = *submission;
    int status = built ? 0 : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the job");
    if (!status)
        status = pleat_submission_check_sites(submission, err);
    if (!status && pleat_submission_evolves(submission))
        status = pleat_submission_take_evolving(&own, err);
    submission = &own;
    if (!status)
        status = make_plan(submission, &plan, notes, err);
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
