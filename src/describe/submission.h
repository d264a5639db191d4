/* submission.h - what users write about a job, on a command line, in a batch script or in a line of
 * a file, and its spec for the daemon.
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
    int64_t processors, least, most, initial; /* -1: not given. Tasks, where cpus is given */
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
#define PLEAT_SUBMISSION_OPTIONS 46 /* their number, with the zeroed entry */
/* The options, for pleat_option_reader_init; their text for --help is in submission_help.h. */
void pleat_submission_list_options(struct option options[PLEAT_SUBMISSION_OPTIONS]);
/* Makes a reader of these options alone, for a line that is not a command's; argv[0] is not looked
 * at. */
void pleat_submission_reader_init(struct pleat_option_reader *reader, int argc, char **argv);

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
    const char *usage;  /* what to write, for an error where no program is named; NULL: it is a line
                         * of a file */
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
