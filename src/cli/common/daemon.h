/* daemon.h - asking the daemon, with failures said and turned into exit codes. */
#ifndef PLEAT_CLI_COMMON_DAEMON_H
#define PLEAT_CLI_COMMON_DAEMON_H

#include <jansson.h>
#include <stdbool.h>

#include "client/client.h"

/* How long what follows waits for a daemon that has ended, unless told otherwise. */
#define PLEAT_PATIENCE_S 60.0

/* Connects to the daemon; starts one where none runs. Returns 0 or, having said why,
 * PLEAT_EXIT_NO_DAEMON. */
int pleat_daemon_connect(struct pleat_client **client);

/* A call, see pleat_client_call. Returns 0, or an exit code after saying why: PLEAT_EXIT_NO_DAEMON
 * where the connection failed, PLEAT_EXIT_NO_JOB where the params name a job that is not there. */
int pleat_daemon_ask(struct pleat_client *client, const char *method, json_t *params,
                     json_t **result);
/* A call failed with *err. Where that means that the daemon has ended: closes the client and tries
 * for `patience_s` to reach one again (none is started), which is said. 0: *client is a new one.
 * Else the exit code, having said why; *client may be NULL. */
int pleat_daemon_reconnect(struct pleat_client **client, double patience_s,
                           const struct pleat_error *err);
/* Asks what may be asked again, also over the end of a daemon: each time for patience_s until one
 * is there again. *result is an object. Returns 0 or an exit code, having said why; *client may be
 * NULL then. */
int pleat_daemon_ask_patiently(struct pleat_client **client, double patience_s, const char *method,
                               json_t *params, json_t **result);
/* Reconnects as pleat_daemon_reconnect, but without a word, and starts a daemon where none runs. 0,
 * or the exit code, having said why. interrupted: as pleat_client_open_or_start; then
 * PLEAT_EXIT_NO_DAEMON, too. *losses counts the connections lost in a row, so its owner sets it to
 * 0 with each sign of life; at PLEAT_LOSSES_MAX this gives up. */
#define PLEAT_LOSSES_MAX 50
int pleat_daemon_resume(struct pleat_client **client, const volatile sig_atomic_t *interrupted,
                        int *losses, const struct pleat_error *err);
/* Submits a spec (stolen). The connection may break meanwhile: then it is asked again, and it is
 * one job all the same, by a token that goes with it. As pleat_client_call. */
int pleat_daemon_submit(struct pleat_client **client, json_t *spec, json_t **answer,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* The exit code for a call that failed with *err, having said why. */
int pleat_daemon_failed(const struct pleat_error *err, bool about_job);

/* Connects, asks once, disconnects. */
int pleat_daemon_ask_once(const char *method, json_t *params, json_t **result);
/* The same, and shows the answer: as JSON where --json was given, else by `print`, which returns an
 * exit code. */
int pleat_daemon_show(const char *method, json_t *params, int (*print)(const json_t *answer));

enum pleat_jobs_wanted {
    PLEAT_JOBS_ALL = 1,  /* else only those not ended */
    PLEAT_JOBS_BRIEF = 2 /* with the members that pleat_jobs_print shows as a table: faster */
};

/* The jobs, in order of submission; wanted: of the above. *jobs is a new array. Returns 0 or an
 * exit code. */
int pleat_daemon_jobs(struct pleat_client *client, unsigned wanted, json_t **jobs);

/* All events after number `after` that happened at from_s (since 1970; 0: any) or later, oldest
 * first; job 0: of all jobs. *events is a new array. Returns 0 or an exit code. */
int pleat_daemon_events(struct pleat_client *client, int64_t job, int64_t after, double from_s,
                        json_t **events);

/* The number of the newest event; 0 where there is none. Returns 0 or an exit code. */
int pleat_daemon_last_event(struct pleat_client *client, int64_t *seq);

#endif
