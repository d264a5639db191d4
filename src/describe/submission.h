/* submission.h - what users write about a job (on a command line, in a batch script, or in a line
 * of a file), and its spec for the daemon. */
#ifndef PLEAT_DESCRIBE_SUBMISSION_H
#define PLEAT_DESCRIBE_SUBMISSION_H

#include <jansson.h>

#include "base/array.h"
#include "describe/batch.h"
#include "describe/option_reader.h"

PLEAT_ARRAY(pleat_texts, const char *);

/* The options as they were given. Strings are borrowed. */
struct pleat_submit_options {
    const char *name; /* NULL: the name of the program */
    const char *sizes;
    const char *runner;
    const char *mpi;
    const char *site;
    const char *chdir;
    const char *beside; /* a directory where programs are looked for first; NULL: the current one */
    int64_t processors, least, most, initial; /* -1: not given. In tasks, where cpus is given */
    int64_t cpus;                             /* processors of each task; 0: not given */
    const char *processes;                    /* NULL: not given */
    int64_t mpl;                              /* 0: not given */
    const char *job_class;                    /* "unknown": not given */
    const char *fold;                         /* settings as given; NULL: none */
    const char *count_word;                   /* NULL: none */
    bool unfolded;
    double estimate_s, deadline_s, begin_s; /* 0: not given. begin_s counts from the submission */
    double limit_s;                         /* 0: not given */
    const char *signal;          /* the signal before the time limit, as given; NULL: none */
    int64_t memory_kb;           /* 0: not given */
    double notice_s, lifetime_s; /* -1: not given */
    int64_t priority;
    bool moldable;
    bool asks;
    const char *output, *error, *input; /* patterns of paths, or NULL */
    const char *wrap;                   /* a command line for the shell; NULL: a program */
    bool append;
    bool hold;
    const char *array;      /* indexes of tasks; NULL: not given */
    const char *dependency; /* NULL: not given */
    bool sbatch;            /* the lines #SBATCH of the script count, too */
    bool pty;               /* the job has a terminal of its own; `pleat run` only */
    bool one_node;          /* all its processes are on one node */
    bool any_site;          /* with at_sites: also those that are asked for without a site */
    const char *at_sites;   /* names of sites where they may be, too; NULL: not given */
    bool once;              /* the job is never started again when it may have been started */
    const char *save;       /* how often copies are saved, as given; NULL: never */
    double checkpoint_every_s, checkpoint_before_s; /* 0: not given */
    int64_t checkpoint_keep;                        /* 0: not given */
    const char *checkpoint_then;                    /* "stop", "go-on"; NULL: not given */
    const char *checkpoint_signal;                  /* NULL: not given */
    const char *checkpoint_dir;                     /* NULL: not given */
    const char *from;               /* the checkpoint that the program goes on from; NULL: none */
    const char *notify, *notify_on; /* NULL: not given */
    const char *program;            /* NULL: not given */
    const char *resize;             /* "auto", "merge", "relaunch" or "restart" */
    const char *exported;           /* "all", "none", or names with commas between them */
    struct pleat_texts env;         /* NAME=VALUE; of several with one name the last counts */
    char **argv;
    int argc;
    /* where argv[0] is a batch script; owned */
    struct pleat_batch batch; /* options in the script */
    char *script;             /* text of the script; NULL: argv[0] is a program */
    char *script_path;        /* absolute */
};

#define PLEAT_SUBMISSION_SHORTS "n:c:"
#define PLEAT_SUBMISSION_OPTIONS 60 /* their number, with the zeroed entry */
/* The options, for pleat_option_reader_init; their text for --help is in submission_help.h. */
void pleat_submission_list_options(struct option options[PLEAT_SUBMISSION_OPTIONS]);
/* Makes a reader of these options alone, for a line that is not a command's. argv[0] is ignored. */
void pleat_submission_reader_init(struct pleat_option_reader *reader, int argc, char **argv);

void pleat_submission_init(struct pleat_submit_options *submission);
void pleat_submission_finish(struct pleat_submit_options *submission);
/* The place where a job is described, and what is allowed there. */
struct pleat_submission_place {
    /* knows at least the options of pleat_submission_list_options */
    struct pleat_option_reader *reader;
    /* Returns the job's next option, where the reader knows others, too: `next` handles those. Or
     * returns PLEAT_OPTION_END; PLEAT_E_INVALID as the reader; another negative number: leave.
     * NULL: pleat_option_reader_next. */
    int (*next)(void *arg, struct pleat_error *err);
    void *arg;
    const char *beside; /* a directory where programs are looked for first; NULL: the current one */
    /* what to write, for the error that no program is named; NULL: the place is a line of a file */
    const char *usage;
    bool reads_input;       /* where no program is named, standard input may be a batch script */
    bool arrays, terminals; /* --array, --pty are allowed */
};

/* Reads options and program, and the options of a batch script where the program is one: an option
 * in this place has precedence. Lines for the user are appended to *notes, each ended by a newline.
 * Returns 0; 1: place->next said to leave; PLEAT_E_INVALID and others: the error, which begins with
 * "FILE:LINE: " where it is in a script. Finish *submission in any case. */
int pleat_submission_read(struct pleat_submit_options *submission,
                          const struct pleat_submission_place *place, struct pleat_string *notes,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* Takes an option. Returns 0; PLEAT_E_INVALID: the value is wrong. */
int pleat_submission_take(struct pleat_submit_options *submission, int option, const char *value,
                          struct pleat_error *err) PLEAT_MUST_CHECK;

/* Finds the file that argv[0] names: `path`, which has `size` bytes. A name without '/' is looked
 * for beside a mix, then in PATH. PLEAT_E_NOTFOUND, PLEAT_E_TOOBIG. */
int pleat_submission_find(const struct pleat_submit_options *submission, char *path, size_t size,
                          struct pleat_error *err) PLEAT_MUST_CHECK;
/* Takes the text and the options of argv[0], where that is a batch script. Otherwise does nothing.
 */
int pleat_submission_open_script(struct pleat_submit_options *submission,
                                 struct pleat_string *notes,
                                 struct pleat_error *err) PLEAT_MUST_CHECK;
/* The environment for the job, as a JSON array. NULL: out of memory. */
json_t *pleat_submission_environment(const struct pleat_submit_options *submission,
                                     struct pleat_string *notes);

/* ---- folding ---- */

/* The values of --processes and --fold. */
struct pleat_submission_fold {
    int64_t least, most; /* numbers of processes */
    char *sizes;         /* accepted numbers of processes; owned */
    char *settings; /* without the settings that are not for libpleat-fold; owned; NULL: none */
    char *mapping;  /* owned; NULL: none */
    bool boost;
};

/* Reads both options. Finish *fold in any case. PLEAT_E_INVALID. */
int pleat_submission_read_fold(const struct pleat_submit_options *submission,
                               struct pleat_submission_fold *fold,
                               struct pleat_error *err) PLEAT_MUST_CHECK;
void pleat_submission_finish_fold(struct pleat_submission_fold *fold);
/* Checks whether `program` can be folded with every accepted number of processes.
 * submission->count_word may stand in the path. env: an array of strings; the libraries that it
 * preloads count, too. PLEAT_E_NOTFOUND: there is no program for some number. PLEAT_E_UNSUPPORTED:
 * err says why, and what to do. */
int pleat_submission_check_fold(const struct pleat_submit_options *submission,
                                const struct pleat_submission_fold *fold, const char *program,
                                const json_t *env, struct pleat_error *err) PLEAT_MUST_CHECK;
/* The member "fold" of the spec. NULL: out of memory, or text that is not UTF-8. */
json_t *pleat_submission_fold_json(const struct pleat_submit_options *submission,
                                   const struct pleat_submission_fold *fold);

/* Makes the spec: checks the options, finds the program, detects its MPI, and captures the
 * environment. The caller owns *spec. Lines about what was assumed are appended to *notes, each
 * ended by a newline. PLEAT_E_NOTFOUND: there is no such program. PLEAT_E_PERMISSION: the program
 * cannot be executed. PLEAT_E_INVALID: the options do not fit together, or text is not UTF-8. Other
 * errors are passed on. */
int pleat_submission_spec(const struct pleat_submit_options *submission, json_t **spec,
                          struct pleat_string *notes, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
