/* submission_program.c - finds the program of a job, and decides how it is run. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/processes.h"
#include "describe/submission_plan.h"
#include "launch/detect.h"
#include "model/runner_kind.h"
#include "model/sizes.h"
#include "model/spec.h"

static int find_directory(const struct pleat_submit_options *s, struct pleat_submission_plan *plan,
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

static int find_program(const struct pleat_submit_options *s, struct pleat_submission_plan *plan,
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
    /* The directory is resolved. The program's own name is not: it may be a link, and programs may
     * act on the name by which they are called. */
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

/* The spec gets the program's own name as it was given. */
static int keep_name(struct pleat_submission_plan *plan, const char *base, struct pleat_error *err)
{
    char *end = strrchr(plan->program, '/') + 1;
    size_t left = sizeof(plan->program) - (size_t)(end - plan->program);
    if ((size_t)snprintf(end, left, "%s", base) >= left)
        return pleat_error_set(err, PLEAT_E_TOOBIG, "the path of program '%s' is too long", base);
    return 0;
}

/* Finds a program in whose name the number of processes stands, for the first accepted number. The
 * programs for the other numbers must be beside it. If the job is folded its spec keeps the word,
 * which is replaced at each start. */
static int find_counted(const struct pleat_submit_options *s, struct pleat_submission_plan *plan,
                        struct pleat_error *err)
{
    struct pleat_sizes sizes = {0};
    struct pleat_size_list list = {0};
    int status = pleat_sizes_parse(plan->fold.sizes, &sizes, &list, err);
    int32_t first = status ? 0 : pleat_sizes_ceil(&sizes, (int32_t)plan->fold.least);
    char *name = pleat_spec_put_number(s->argv[0], s->count_word, first);
    struct pleat_submit_options one = *s;
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
    return plan->folds ? keep_name(plan, base, err) : 0;
}

/* Finds a program of an evolving job in whose name the architecture of a node stands: that for this
 * host. The others must be beside it. The job's spec keeps the word, which is replaced where a
 * process is started (src/agent/evolve_where.c). */
static int find_of_architecture(const struct pleat_submit_options *s,
                                struct pleat_submission_plan *plan, struct pleat_error *err)
{
    const char *slash = strrchr(s->argv[0], '/'), *base = slash ? slash + 1 : s->argv[0];
    const char *at = strstr(base, PLEAT_PROCESS_ARCHITECTURE);
    const char *rest = at ? at + strlen(PLEAT_PROCESS_ARCHITECTURE) : "";
    char name[PATH_MAX];
    struct utsname here;
    if (!at || strstr(rest, PLEAT_PROCESS_ARCHITECTURE))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s may stand once in the program's own name, not in that of a "
                               "directory: '%s'",
                               PLEAT_PROCESS_ARCHITECTURE, s->argv[0]);
    if (uname(&here))
        return pleat_error_sys(err, errno, "the architecture of this host is not known");
    int length = snprintf(name, sizeof(name), "%.*s%s%s", (int)(at - s->argv[0]), s->argv[0],
                          here.machine, rest);
    if (length < 0 || (size_t)length >= sizeof(name))
        return pleat_error_set(err, PLEAT_E_TOOBIG, "the path of program '%s' is too long", base);
    char *words = name;
    struct pleat_submit_options one = *s;
    one.argv = &words;
    int status = find_program(&one, plan, err);
    memcpy(plan->sample, plan->program, sizeof(plan->sample));
    return status ? status : keep_name(plan, base, err);
}

static int find_what(const struct pleat_submit_options *s, struct pleat_submission_plan *plan,
                     struct pleat_error *err)
{
    if (s->count_word && !s->script && pleat_spec_has_word(s->argv[0], s->count_word))
        return find_counted(s, plan, err);
    if (pleat_submission_evolves(s) && !s->script && strstr(s->argv[0], PLEAT_PROCESS_ARCHITECTURE))
        return find_of_architecture(s, plan, err);
    int status = find_program(s, plan, err);
    memcpy(plan->sample, plan->program, sizeof(plan->sample));
    return status;
}

int pleat_submission_plan_program(const struct pleat_submit_options *s,
                                  struct pleat_submission_plan *plan, struct pleat_error *err)
{
    int status = find_directory(s, plan, err);
    return status ? status : find_what(s, plan, err);
}

/* ---- how it is run ---- */

static int choose_mpi(const struct pleat_submit_options *s,
                      const struct pleat_launch_detected *found, struct pleat_submission_plan *plan,
                      struct pleat_error *err)
{
    plan->mpi = found->mpi;
    if (strcmp(s->mpi, "auto") != 0)
        return pleat_mpi_parse(s->mpi, &plan->mpi, err);
    return 0;
}

static void note_size(const struct pleat_submit_options *s,
                      const struct pleat_submission_plan *plan, bool fixed,
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
        !(pleat_runner_starts(plan->runner) & PLEAT_STARTS_LAUNCHED))
        pleat_string_addf(notes,
                          "'%s' is not linked with an MPI: one process is started, however many "
                          "processors it gets\n",
                          s->argv[0]);
}

/* Checks that the terminal can belong to one process: the one that is started with it, or rank 0 of
 * an MPI program. */
static int check_terminal(const struct pleat_submit_options *s,
                          const struct pleat_submission_plan *plan, struct pleat_error *err)
{
    if (!s->pty)
        return 0;
    if (s->output || s->error || s->input)
        return pleat_error_set(
            err, PLEAT_E_INVALID,
            "--pty: input and output of the job are its terminal: leave out --%s",
            s->output  ? "output"
            : s->error ? "error"
                       : "input");
    const unsigned changes = PLEAT_STARTS_MAILBOX | PLEAT_STARTS_FOLDED;
    if (!s->script && pleat_runner_starts(plan->runner) & changes)
        return pleat_error_set(
            err, PLEAT_E_INVALID,
            "--pty: '%s' would change its size or be folded, and such a program gets no "
            "terminal: give the job one size (-n 4), or use --moldable",
            s->argv[0]);
    return 0;
}

static int choose_runner(const struct pleat_submit_options *s,
                         const struct pleat_launch_detected *found,
                         struct pleat_submission_plan *plan, struct pleat_string *notes,
                         struct pleat_error *err)
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
    if (!strcmp(plan->runner, "folded")) /* here: folded together with --no-fold */
        plan->runner = "auto";
    if (!strcmp(plan->runner, "auto"))
        plan->runner = found->malleable && apart && !s->moldable && !s->processes ? "malleable"
                       : plan->mpi != PLEAT_MPI_NONE                              ? "mpi"
                                                                                  : "plain";
    if (pleat_submission_evolves(
            s)) { /* whatever it is linked with: each process is started alone */
        plan->mpi = PLEAT_MPI_NONE;
        plan->kind = apart ? "moldable" : "rigid";
        return check_terminal(s, plan, err);
    }
    bool malleable = (pleat_runner_starts(plan->runner) & PLEAT_STARTS_MAILBOX) != 0;
    /* a script starts its program itself */
    bool by_itself = malleable && (s->script || !strcmp(s->mpi, "none"));
    if (plan->mpi == PLEAT_MPI_NONE && strcmp(plan->runner, "plain") != 0 && !by_itself)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--runner %s: '%s' is not linked with an MPI; if it uses one in "
                               "another way, name it with --mpi openmpi or --mpi mpich",
                               plan->runner, s->argv[0]);
    /* only what is malleable is started again while it runs, also at its one size */
    plan->kind = malleable && !s->moldable && (apart || s->save) ? "malleable"
                 : apart                                         ? "moldable"
                                                                 : "rigid";
    if (s->asks && strcmp(plan->kind, "malleable") != 0)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--asks is for malleable jobs, and this one is %s", plan->kind);
    note_size(s, plan, apart && !malleable && !s->moldable && !s->unfolded, notes);
    return check_terminal(s, plan, err);
}

static int detect(const struct pleat_submission_plan *plan, struct pleat_launch_detected *found,
                  struct pleat_error *err)
{
    int status = pleat_launch_detect(plan->sample, found, err);
    if (status != PLEAT_E_SYSTEM)
        return status;
    /* a program that cannot be read may still be executed */
    *found = (struct pleat_launch_detected){0};
    return 0;
}

int pleat_submission_plan_runner(const struct pleat_submit_options *s,
                                 struct pleat_submission_plan *plan, struct pleat_string *notes,
                                 struct pleat_error *err)
{
    struct pleat_launch_detected found = {0};
    int status = s->script ? 0 : detect(plan, &found, err);
    if (!status)
        status = choose_mpi(s, &found, plan, err);
    return status ? status : choose_runner(s, &found, plan, notes, err);
}
