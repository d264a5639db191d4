/* app_job.h - for tests and benchmarks: plays the agent for one MPI program, without the daemon.
 *
 * Starts mpirun with a mailbox and memory for its state, drives resizes and relaunches, collects
 * the output, and at the end ends whatever is left. Every wait has a limit. A failure prints what
 * happened and ends the program with 1, after cleaning up: there is one job at a time.
 */
#ifndef PLEAT_TESTS_APP_JOB_H
#define PLEAT_TESTS_APP_JOB_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "shm/mailbox.h"
#include "shm/state.h"

#define APP_JOB_OUTPUT 65536
#define APP_JOB_MAX_RANKS 16

struct app_job_options {
    int ranks;
    bool mpich; /* instead of Open MPI */
    bool without_pleat;
    bool without_state;       /* nobody holds its state */
    bool without_data;        /* its state is always a copy */
    bool no_oversubscribe;    /* then a spawn fails for want of slots */
    const char *mailbox_path; /* instead of a good one */
    const char *preload;      /* a library for its ranks */
    uint64_t file_limit;      /* bytes of the largest file of its ranks; 0: as it is */
    double limit_s;           /* for the whole job; 0: 120 */
};

struct app_job {
    struct app_job_options options;
    const char *const *argv;
    struct pleat_state_store store;
    char state_paths[PLEAT_STATE_PATHS_SIZE];
    struct pleat_mailbox *mailbox; /* NULL: the job was started without Pleat */
    int mailbox_fd;
    int bell[2];
    char mark[64]; /* an environment entry by which its processes are known */
    char directory[64];
    int output_fd;
    char output[APP_JOB_OUTPUT];
    size_t output_length;
    pid_t pid;
    int pidfd;
    bool ended;
    int wait_status;
    uint64_t resize;
    struct pleat_state_header saved;    /* of the state with which the last relaunch began */
    struct pleat_mailbox_cost relaunch; /* of the last relaunch, as the agent reckons it */
    uint64_t waiting_bytes; /* of its states, when the ranks of the last warm one all waited */
    bool lingers; /* in warm relaunches: for half a second, to see that the old ranks stay */
    int64_t deadline_us;
};

/* argv: program and arguments, NULL at the end; must last as long as the job. */
void app_job_start(struct app_job *job, const struct app_job_options *options,
                   const char *const *argv);
/* Waits until the ranks are attached, and begun. */
void app_job_wait_begun(struct app_job *job);
/* Waits until the ranks are attached. */
void app_job_wait_attached(struct app_job *job);
/* Posts, waits for the outcome, acknowledges. The phase is APPLIED or FAILED. After a shrink it
 * also waits until the processes that were released are gone. */
struct pleat_mailbox_status app_job_resize(struct app_job *job, uint32_t target);
/* Posts a relaunch at `target` ranks, waits until all processes have ended, starts the program
 * again in a new mailbox, waits until it has begun. Returns what the old ranks said: SAVED, or
 * FAILED, after which they go on. After SAVED job->relaunch is what all of it cost. */
struct pleat_mailbox_status app_job_relaunch(struct app_job *job, uint32_t target);
/* Likewise warm: the new processes are started first, and wait; the old ones end when the new ones
 * have begun. */
struct pleat_mailbox_status app_job_relaunch_warm(struct app_job *job, uint32_t target);
/* Ends all processes, whatever they do, and starts the program again at `ranks` ranks in a new
 * mailbox. The output goes on. */
void app_job_start_again(struct app_job *job, int ranks);
/* As above, and waits until it has begun. */
void app_job_restart(struct app_job *job, int ranks);
/* Asks and waits for the answer; the size accepted. */
uint32_t app_job_ask(struct app_job *job, uint32_t target, bool mandatory);
void app_job_post(struct app_job *job, uint32_t target);
struct pleat_mailbox_status app_job_status(const struct app_job *job);
/* Waits for the next sign of life (doorbell, output, end), a short while at most. */
void app_job_listen(struct app_job *job);
/* Waits for mpirun's end; its exit code, or 128 + signal. */
int app_job_wait(struct app_job *job);
/* Ends what is left, frees all. Returns how many processes and files the job left behind by itself;
 * only meaningful after app_job_wait. */
int app_job_finish(struct app_job *job);
/* Says what failed, cleans up, exits with 1. */
_Noreturn void app_job_fail(struct app_job *job, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#define APP_CHECK(job, condition)                                                                  \
    do {                                                                                           \
        if (!(condition))                                                                          \
            app_job_fail((job), "%s:%d: not so: %s", __FILE__, __LINE__, #condition);              \
    } while (0)

#endif
