/* daemon.h - asks the daemon. Failures are reported, and turned into exit codes. */
#ifndef PLEAT_CLI_COMMON_DAEMON_H
#define PLEAT_CLI_COMMON_DAEMON_H

#include <jansson.h>
#include <stdbool.h>

#include "client/client.h"

/* How long the functions below wait for a daemon that has ended, unless told otherwise. */
#define PLEAT_PATIENCE_S 60.0

/* Connects to the daemon, and starts one where none runs. Returns 0; or PLEAT_EXIT_NO_DAEMON,
 * having reported why. */
int pleat_daemon_connect(struct pleat_client **client);

/* Makes a call, see pleat_client_call. Returns 0, or an exit code after reporting why:
 * PLEAT_EXIT_NO_DAEMON where the connection failed, PLEAT_EXIT_NO_JOB where the params name a job
 * that does not exist. */
int pleat_daemon_ask(struct pleat_client *client, const char *method, json_t *params,
                     json_t **result);
/* Goes on after a call that failed with *err. Where *err means that the daemon has ended, this is
 * reported, the client is closed, and a daemon is looked for during `patience_s`; none is started.
 * Returns 0: *client is a new client. Otherwise returns the exit code, having reported why; *client
 * may be NULL. */
int pleat_daemon_reconnect(struct pleat_client **client, double patience_s,
                           const struct pleat_error *err);
/* Makes a call that may be repeated, also beyond the end of a daemon: each time a daemon ends,
 * another one is waited for during patience_s. *result is an object. Returns 0; or an exit code,
 * having reported why: then *client may be NULL. */
int pleat_daemon_ask_patiently(struct pleat_client **client, double patience_s, const char *method,
                               json_t *params, json_t **result);
/* Reconnects as pleat_daemon_reconnect, but silently, and starts a daemon where none runs. Returns
 * 0; or the exit code, having reported why. interrupted: as in pleat_client_open_or_start; an
 * interrupt returns PLEAT_EXIT_NO_DAEMON, too. *losses counts the connections lost in a row: its
 * owner sets it to 0 at each sign of life. At PLEAT_LOSSES_MAX this function gives up. */
#define PLEAT_LOSSES_MAX 50
int pleat_daemon_resume(struct pleat_client **client, const atomic_int *interrupted, int *losses,
                        const struct pleat_error *err);
/* Submits a spec (stolen). Where the connection breaks, the submission is repeated. A token in the
 * spec makes sure that it is one job all the same. Returns as pleat_client_call. */
int pleat_daemon_submit(struct pleat_client **client, json_t *spec, json_t **answer,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* Reports why a call failed with *err. Returns the exit code. about_job: the call names a job. */
int pleat_daemon_failed(const struct pleat_error *err, bool about_job);

/* Connects, asks once, disconnects. */
int pleat_daemon_ask_once(const char *method, json_t *params, json_t **result);
/* As pleat_daemon_ask_once, and shows the answer: as JSON where --json was given, else by `print`,
 * which returns an exit code. */
int pleat_daemon_show(const char *method, json_t *params, int (*print)(const json_t *answer));

enum pleat_jobs_wanted {
    PLEAT_JOBS_ALL = 1,  /* without it only jobs that have not ended */
    PLEAT_JOBS_BRIEF = 2 /* with the members that pleat_jobs_print shows in a table; faster */
};

/* Fetches the jobs, in order of submission. wanted: flags of enum pleat_jobs_wanted. *jobs is a new
 * array. Returns 0 or an exit code. */
int pleat_daemon_jobs(struct pleat_client *client, unsigned wanted, json_t **jobs);
/* Appends to the array `jobs`, in brief, those that have not ended with a number from `first` to
 * `last`, and the tasks of arrays with such a number; perhaps also some of those that follow. Jobs
 * up to the last one that is there already are left out, so numbers must grow from call to call. */
int pleat_daemon_jobs_between(struct pleat_client *client, int64_t first, int64_t last,
                              json_t *jobs);

/* Fetches all events after number `after` that happened at from_s (since 1970; 0: any time) or
 * later, oldest first. job: of this job; 0: of all. *events is a new array. Returns 0 or an exit
 * code. */
int pleat_daemon_events(struct pleat_client *client, int64_t job, int64_t after, double from_s,
                        json_t **events);

/* Fetches the number of the newest event; 0: there is none. Returns 0 or an exit code. */
int pleat_daemon_last_event(struct pleat_client *client, int64_t *seq);

#endif
