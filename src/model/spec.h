/* spec.h - the description of a job as its user submits it, with its strings; events refer to it by
 * the job's number. */
#ifndef PLEAT_MODEL_SPEC_H
#define PLEAT_MODEL_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "model/sizes.h"
#include "model/types.h"

/* What the user is told about, by running spec.notify. */
enum pleat_notify_on {
    PLEAT_NOTIFY_START = 1,
    PLEAT_NOTIFY_END = 2,  /* the job ended by itself, and well */
    PLEAT_NOTIFY_FAIL = 4, /* the job ended in any other way */
    PLEAT_NOTIFY_RESIZE = 8,
    PLEAT_NOTIFY_WARNING = 16
};

/* How a resize is carried out, where the runner and the application can do both. */
enum pleat_resize_way {
    PLEAT_WAY_AUTO,
    PLEAT_WAY_MERGE,
    PLEAT_WAY_RELAUNCH, /* the new processes are started while the old ones compute, if possible */
    PLEAT_WAY_RESTART   /* the new processes are started when the old ones have ended */
};

/* A program that is folded: its processes may outnumber its processors, which change while it runs.
 * In its spec minimum, maximum and initial are numbers of processors, its sizes numbers of
 * processes. */
struct pleat_spec_fold {
    int32_t least, most; /* processes */
    int32_t mpl;         /* the most on a processor; 0: as configured */
    char *settings;      /* "wait=spin,next=sender": read by shm/fold.h; NULL: none */
    char *mapping;       /* "round-robin", "communication", "balance"; NULL: as the agent likes */
    char *count_word;    /* a word that stands for the number of processes in the program's path and
                          * arguments; NULL: there is none */
    bool boost;          /* processes with messages are preferred, where jobs share processors */
};

#define PLEAT_SPEC_NICE_HERE INT32_MAX
#define PLEAT_SPEC_MEMORY_MAX_KB (INT64_C(1) << 40) /* a PiB */

/* Which task of an array a job is. */
struct pleat_spec_array {
    int32_t count; /* the number of tasks; 0: the job is of no array */
    int32_t place; /* which task, from 0; -1: the whole array, whose tasks are not made yet */
    int64_t job;   /* the array's number, which is its first task's; 0: not given yet */
    int32_t index;
    int32_t least, most, step; /* the least and the greatest index; the difference of the first
                                * two */
    int32_t limit;             /* how many may run at one time; 0: all */
};

/* The signal before the time limit: to all processes of the job, or to its script alone. */
struct pleat_spec_signal {
    int32_t number; /* 0: none */
    int64_t lead_us;
    bool script_only;
};

/* Checkpoints that nobody has to ask for. */
struct pleat_spec_checkpoints {
    int64_t every_us;  /* 0: none */
    int64_t before_us; /* how long before the time limit; 0: none */
    int32_t keep;      /* how many files of those that are written every every_us are kept, from
                        * 1 */
    bool goes_on;      /* the job goes on after the checkpoint before the limit */
    int32_t signal;    /* a signal to a process that asks for a checkpoint; 0: none does */
};

/* Owns everything in it. Lists of strings end with NULL. */
struct pleat_spec {
    char *name;
    char **argv;
    char **env;
    char *cwd;
    char *runner; /* the name of its kind (runners.def) */
    char *mpi;    /* "none", "openmpi", "mpich" */
    char *site;   /* NULL: anywhere */
    char *sites;  /* names of sites where its processes may be, too, with ',' between them; NULL */
    char *sizes_text;
    enum pleat_job_kind kind;
    enum pleat_job_class job_class;
    struct pleat_spec_fold fold; /* if it folds */
    int32_t minimum, maximum, initial;
    int32_t cpus_per_task;    /* processors of each of its processes, of which all its sizes are
                               * multiples; 0: not said, which is one */
    struct pleat_sizes sizes; /* its list points into size_list */
    struct pleat_size_list size_list;
    int64_t estimate_us; /* 0: none */
    int64_t deadline_us; /* after the submission; 0: none */
    int64_t begin_us;    /* after the submission (advance reservation); 0: as soon as it can */
    int16_t priority;    /* higher goes first; 0: ordinary */
    bool folds;
    bool asks;
    bool once;     /* never started again when it may have been started */
    bool one_node; /* on one node, also where it could be on several */
    bool any_site; /* with `sites`: processes that its program asks for without a site may be at any
                    */
    bool append;   /* output and error files that exist are kept, and continued */
    bool hold;     /* it does not start until its user releases it */
    enum pleat_resize_way resize;
    /* patterns of paths (pleat_spec_path); NULL: the daemon's own files, and no input */
    char *output, *error, *input;
    char *terminal; /* path of a pseudo-terminal, which is its input and output; NULL: its input and
                     * output are files */
    bool terminal_sent; /* its client passes on what is typed and shown, where the job is elsewhere
                         */
    char *save; /* how often copies are saved between resizes: "300s", "100it"; NULL: never */
    char *from; /* absolute path of the checkpoint from which it goes on; NULL: none */
    struct pleat_spec_checkpoints checkpoints;
    char *checkpoint_dir; /* absolute path of the directory for its checkpoints; NULL: its own
                           * directory */
    char *script;         /* text of a batch script, run instead of argv[0]; NULL: none */
    char *program;        /* what its user calls its program; NULL: its command line */
    char *notify;         /* a command line for sh; NULL: none */
    unsigned notify_on;   /* enum pleat_notify_on */
    int64_t limit_us;     /* a run is ended after this; 0: no limit */
    struct pleat_spec_signal signal; /* sent before that */
    int64_t notice_us;               /* before a mandatory shrink is enforced; -1: as configured */
    int64_t lifetime_us;             /* of a size, at least; -1: as configured */
    char *dependency; /* the jobs that it waits for (model/dependency.h); NULL: none */
    struct pleat_spec_array array;
    /* of its processes: its user's when it was submitted */
    int32_t umask;           /* 0 to 0777 */
    char *limits;            /* base/limits.h; NULL: those of the agent */
    int32_t nice;            /* -20 to 19; PLEAT_SPEC_NICE_HERE: the agent's */
    int64_t memory_limit_kb; /* the limit of all its processes together, on a node; 0: none */
};

void pleat_spec_finish(struct pleat_spec *spec);

/* How many processes it has on `processors` processors, where it is not folded. */
int32_t pleat_spec_tasks(const struct pleat_spec *spec, int32_t processors);

/* Whether the word stands somewhere in a text by itself, with no letter, digit or '_' beside it. */
bool pleat_spec_has_word(const char *text, const char *word);
/* The text with the number wherever the word stands by itself; to be freed. NULL: out of memory. */
char *pleat_spec_put_number(const char *text, const char *word, int32_t number);

/* "start", "end", "fail", "resize", "warning": its bit; 0 for any other word. */
unsigned pleat_notify_bit(const char *word);
/* "auto", "merge", "relaunch", "restart". */
const char *pleat_resize_way_name(enum pleat_resize_way way);
int pleat_resize_way_parse(const char *word, enum pleat_resize_way *way,
                           struct pleat_error *err) PLEAT_MUST_CHECK;

/* Checks a pattern: %j stands for the job's number, %x for its name, %u for its user, %A for
 * its array's number (its own, where it is of none), %a for its index there (0), %% for %. */
int pleat_spec_check_pattern(const char *what, const char *pattern,
                             struct pleat_error *err) PLEAT_MUST_CHECK;
/* Fills a pattern in; a relative one is taken from the job's directory. A '/' in the name becomes
 * '_'. PLEAT_E_TOOBIG when it does not fit. */
int pleat_spec_path(const struct pleat_spec *spec, const char *pattern, int64_t job,
                    const char *user, char *buffer, size_t size,
                    struct pleat_error *err) PLEAT_MUST_CHECK;

/* Estimates of users count as at least this. Policies look again at each moment at which something
 * may be free, and behind a job that is late these moments follow one another the faster the
 * shorter the estimates are. Where shorter estimates come from elsewhere, the core limits how often
 * policies look. */
#define PLEAT_ESTIMATE_LEAST_US INT64_C(1000000)
static inline int64_t pleat_estimate_for_core(int64_t estimate_us) /* 0: none */
{
    bool is_short = estimate_us > 0 && estimate_us < PLEAT_ESTIMATE_LEAST_US;
    return is_short ? PLEAT_ESTIMATE_LEAST_US : estimate_us;
}

#endif
