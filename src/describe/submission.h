/* submission.h - from the options of submit, run and a line of a mix file to a spec for the daemon.
 */
#ifndef PLEAT_DESCRIBE_SUBMISSION_H
#define PLEAT_DESCRIBE_SUBMISSION_H

#include <jansson.h>

#include "base/array.h"
#include "describe/batch.h"
#include "describe/option_reader.h"

PLEAT_ARRAY(pleat_texts, const char *);

/* The options, as they were given; strings are borrowed. */
struct pleat_submission {
    const char *name; /* NULL: the program's */
    const char *sizes;
    const char *runner;
    const char *mpi;
    const char *site;
    const char *chdir;
    const char *beside; /* a directory where programs are looked for first; NULL: the current */
    int64_t processors, least, most, initial; /* -1: not given; of tasks, where there are cpus */
    int64_t cpus;                             /* processors of each task; 0: not given */
    const char *processes;                    /* NULL: not given */
    int64_t mpl;                              /* 0: not given */
    const char *job_class;                    /* "unknown": not given */
    const char *fold;                         /* settings, as they were given; NULL: none */
    const char *count_word;                   /* NULL: none */
    bool unfolded;
    double estimate_s, deadline_s, begin_s; /* 0: not given. The latter after the submission */
    double limit_s;                         /* 0: not given */
    const char *signal;                     /* before the time limit, as given; NULL: none */
    int64_t memory_kb;                      /* 0: not given */
    double notice_s, lifetime_s;            /* -1: not given */
    int64_t priority;
    bool moldable;
    bool asks;
    const char *output, *error, *input; /* patterns of paths, or NULL */
    const char *wrap;                   /* a command line for the shell; NULL: a program */
    bool append;
    bool hold;
    const char *array;              /* indexes of tasks; NULL: not given */
    const char *dependency;         /* NULL: not given */
    bool sbatch;                    /* the lines #SBATCH of the script count, too */
    bool pty;                       /* it has a terminal of its own; `pleat run` only */
    bool once;                      /* never started again when it may have been started */
    const char *notify, *notify_on; /* NULL: not given */
    const char *resize;             /* "auto", "merge", "relaunch" */
    const char *exported;           /* "all", "none", or names with commas between */
    struct pleat_texts env;         /* NAME=VALUE, the later ones win */
    char **argv;
    int argc;
    /* where argv[0] is a batch script; owned */
    struct pleat_batch batch; /* options that were given in it */
    char *script;             /* its text; NULL: it is a program */
    char *script_path;        /* absolute */
};

#define PLEAT_SUBMISSION_SHORTS "n:c:"
/* The options, for pleat_option_reader_init. */
extern const struct option pleat_submission_options[];
#define PLEAT_SUBMISSION_OPTIONS 46 /* their number, with the zeroed entry */
/* The options, for --help. */
#define PLEAT_SUBMISSION_HELP                                                                      \
    "  -n, --processors N   exactly N processors (rigid; default: 1)\n"                            \
    "      --min N          at least N processors (default: 1; may be 0: it may then be shrunk "   \
    "to\n"                                                                                         \
    "                       nothing where its program can)\n"                                      \
    "      --max N          at most N. With --min and --max apart the job is malleable if its\n"   \
    "                       program is linked with libpleat, else its size is chosen at its "      \
    "start\n"                                                                                      \
    "      --initial N      start with N (default: as many as are available)\n"                    \
    "      --sizes SIZES    which sizes it takes: any, powers (of two), squares, grids (r x r "    \
    "and\n"                                                                                        \
    "                       r x (r+1)), multiples:N, or a list such as 2,4,6 (default: any)\n"     \
    "  -c, --cpus-per-task C  each of its processes has C processors, and OpenMP as many "         \
    "threads: -n,\n"                                                                               \
    "                       --min, --max, --initial and --sizes then count processes: -n 4 -c "    \
    "2 is 8\n"                                                                                     \
    "                       processors (default: a processor for each, and nothing about "         \
    "threads)\n"                                                                                   \
    "      --processes N    an unmodified MPI program runs with N processes (2,4,8 or 2-8: one "   \
    "of\n"                                                                                         \
    "                       these is chosen at its start) on fewer processors, and these change\n" \
    "                       while it runs: it is folded\n"                                         \
    "      --mpl M          at most M processes on a processor (default: as --min lets it, else "  \
    "4)\n"                                                                                         \
    "      --fold SETTINGS  how its processes take turns: wait=spin,next=sender,mapping=balance\n" \
    "      --count-word W   where W stands by itself in the command, the number of processes "     \
    "that\n"                                                                                       \
    "                       is chosen is put: N in cg.B.N\n"                                       \
    "      --no-fold        it runs with a processor for each of its processes, all the same\n"    \
    "      --class CLASS    short or long: some policies treat these differently\n"                \
    "      --moldable       its size is chosen at its start and stays, also if it could change\n"  \
    "      --malleable      it changes its size while it runs, also if that cannot be seen: a "    \
    "batch\n"                                                                                      \
    "                       script that starts its program with 'pleat launch'\n"                  \
    "      --asks           it decides itself, when offered a change, what it accepts\n"           \
    "      --on-resize WAY  auto, merge (processes join and leave), relaunch (all end and are\n"   \
    "                       started again from the state kept in memory) (default: auto)\n"        \
    "      --notice TIME    so long it is given to shrink when it must, before that is enforced\n" \
    "      --lifetime TIME  once its size was changed, policies leave it so for at least so "      \
    "long\n"                                                                                       \
    "      --runner KIND    auto, plain, mpi, malleable, folded (default: auto: what it is "       \
    "linked\n"                                                                                     \
    "                       with)\n"                                                               \
    "      --mpi WHICH      auto, openmpi, mpich, none (default: auto)\n"                          \
    "      --name NAME      (default: the program's name)\n"                                       \
    "      --site SITE      run there (default: anywhere)\n"                                       \
    "      --estimate TIME  how long it will run, as far as known: 90s, 15min, 1h30m\n"            \
    "      --time-limit TIME  it is ended when it has run so long; also its estimate where none "  \
    "is\n"                                                                                         \
    "                       given\n"                                                               \
    "      --signal [B:]SIG[@TIME]  it is sent that signal TIME before its time limit (default: "  \
    "60s):\n"                                                                                      \
    "                       all its processes but the script, or with B: the script alone\n"       \
    "      --memory SIZE    all its processes together may use so much: 512M, 2G (units K, M, G, " \
    "T);\n"                                                                                        \
    "                       with more it is ended, and fails\n"                                    \
    "      --no-requeue     it is never started again when it may have been started: where its\n"  \
    "                       processors or its agent are lost, it fails\n"                          \
    "      --priority N     where the order looks at priorities, higher ones go first (default: "  \
    "0)\n"                                                                                         \
    "      --deadline WHEN  to be done by then: 2h from the submission on, or at 14:30\n"          \
    "      --begin WHEN     start then (advance reservation): refused where its processors are\n"  \
    "                       taken; needs --estimate or --time-limit\n"                             \
    "      --array LIST     many jobs, one for each index: 0-9, 1-99:2, 1,4,7; %4 behind it: 4 "   \
    "at one\n"                                                                                     \
    "                       time. Only with 'pleat submit'\n"                                      \
    "      --hold           it does not start before 'pleat release'\n"                            \
    "      --dependency LIST  it waits for other jobs: afterok:JOB (its good end), "               \
    "afternotok:JOB,\n"                                                                            \
    "                       afterany:JOB, after:JOB (its start), several :JOB:JOB, singleton "     \
    "(all of\n"                                                                                    \
    "                       that name); ',' all of them, '?' one is enough\n"                      \
    "      --chdir DIR      run in DIR (default: the current directory)\n"                         \
    "      --export WHICH   the environment that goes along: all, none (but HOME, LOGNAME, "       \
    "PATH,\n"                                                                                      \
    "                       SHELL, USER), or names of variables beside these: A,B (default: "      \
    "all)\n"                                                                                       \
    "      --env NAME=VALUE sets a variable; may be repeated\n"                                    \
    "      --output FILE    its standard output goes there, from its directory; %j is the job's\n" \
    "                       number, %x its name, %u its user, %A and %a its array and index\n"     \
    "      --error FILE     the same for its standard error\n"                                     \
    "      --input FILE     its standard input comes from there\n"                                 \
    "      --pty            it has a terminal of its own, shown on this one: keys, Ctrl-C among "  \
    "them, go\n"                                                                                   \
    "                       to it. For programs without MPI, and scripts. Only with 'pleat "       \
    "run'\n"                                                                                       \
    "      --wrap COMMAND   instead of a program: a command line for the shell\n"                  \
    "      --append         keep what is in these files (default: they are emptied at its "        \
    "start)\n"                                                                                     \
    "      --sbatch         lines #SBATCH of the script count, as far as they have an "            \
    "equivalent\n"                                                                                 \
    "      --notify COMMAND run COMMAND (with sh -c) when it ends; what happened is in "           \
    "PLEAT_EVENT\n"                                                                                \
    "      --notify-on LIST when: of start, end, fail, resize, warning (default: end,fail)\n"

void pleat_submission_init(struct pleat_submission *submission);
void pleat_submission_finish(struct pleat_submission *submission);
/* Where a job is described, and what may be said there. */
struct pleat_submission_place {
    struct pleat_option_reader *reader; /* knows pleat_submission_options, at least */
    /* Reads where there are more options than the job's, and takes those: the next option of the
     * job, PLEAT_OPTION_END, another negative number: leave, or PLEAT_E_INVALID as the reader.
     * NULL: pleat_option_reader_next. */
    int (*next)(void *arg, struct pleat_error *err);
    void *arg;
    const char *beside; /* a directory where programs are looked for first; NULL: the current one */
    const char *usage;  /* for who names no program; NULL: it is a line of a file */
    bool reads_input;   /* where no program is named, standard input may have a batch script */
    bool arrays, terminals; /* --array, --pty may be asked for */
};

/* Reads options and program; where the program is a batch script its options too: what is said in
 * this place wins. Lines for the user are appended to *notes, each ended by a newline. 0; 1:
 * place->next said to leave; PLEAT_E_INVALID and others: what is wrong, in a script with
 * "FILE:LINE: " in front. Finish *submission in any case. */
int pleat_submission_read(struct pleat_submission *submission,
                          const struct pleat_submission_place *place, struct pleat_string *notes,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* Takes an option. 0; PLEAT_E_INVALID with what is wrong with it. */
int pleat_submission_take(struct pleat_submission *submission, int option, const char *value,
                          struct pleat_error *err) PLEAT_MUST_CHECK;

/* The file that argv[0] names: `path`, of `size` bytes. A name without '/' is looked for beside a
 * mix, then in PATH. PLEAT_E_NOTFOUND, PLEAT_E_TOOBIG. */
int pleat_submission_find(const struct pleat_submission *submission, char *path, size_t size,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* Takes the text and the options of argv[0], where that is a batch script; does nothing where it is
 * not. */
int pleat_submission_open_script(struct pleat_submission *submission, struct pleat_string *notes,
                                 struct pleat_error *err) PLEAT_MUST_CHECK;
/* The environment that goes along, as a JSON array; NULL: out of memory. */
json_t *pleat_submission_environment(const struct pleat_submission *submission,
                                     struct pleat_string *notes);

/* What it takes as text where each of its processes has so many processors; to be freed. `most`:
 * its most processes. PLEAT_E_INVALID, PLEAT_E_TOOBIG. */
int pleat_submission_scale_sizes(const struct pleat_submission *submission, int64_t most,
                                 char **sizes, struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- folding ---- */

/* What --processes and --fold say. */
struct pleat_submission_fold {
    int64_t least, most; /* processes */
    char *sizes;         /* which numbers of them; owned */
    char *settings;      /* without what is not for libpleat-fold; owned; NULL: none */
    char *mapping;       /* owned; NULL: none */
    bool boost;
};

/* Finish *fold in any case. PLEAT_E_INVALID. */
int pleat_submission_read_fold(const struct pleat_submission *submission,
                               struct pleat_submission_fold *fold,
                               struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_submission_finish_fold(struct pleat_submission_fold *fold);
/* Can `program` (a path in which submission->count_word may stand) be folded, for every number of
 * processes, with what `env`, an array of strings, preloads? PLEAT_E_NOTFOUND: there is no program
 * for some number; PLEAT_E_UNSUPPORTED, with why and what to do. */
int pleat_submission_check_fold(const struct pleat_submission *submission,
                                const struct pleat_submission_fold *fold, const char *program,
                                const json_t *env, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The member "fold" of the spec; NULL: out of memory, or text that is not UTF-8. */
json_t *pleat_submission_fold_json(const struct pleat_submission *submission,
                                   const struct pleat_submission_fold *fold);

/* Checks what was given, finds the program, looks at what it is linked with, and captures the
 * environment. *spec is the caller's; lines about what was assumed are appended to *notes, each
 * ended by a newline. PLEAT_E_NOTFOUND: no such program; PLEAT_E_PERMISSION: it cannot be executed;
 * PLEAT_E_INVALID: the options do not fit together, or text that is not UTF-8; others as they come.
 */
int pleat_submission_spec(const struct pleat_submission *submission, json_t **spec,
                          struct pleat_string *notes, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
