/* methods.h - what clients can ask: methods by subject, and what they have in common. */
#ifndef PLEAT_DAEMON_METHODS_H
#define PLEAT_DAEMON_METHODS_H

#include <jansson.h>

#include "base/error.h"
#include "model/event.h"
#include "model/spec.h"

struct client;
struct daemon;
struct input;
struct job;
struct pleat_message;

/* Answers the request, now or later, and returns 0; or fills *err. */
typedef int method(struct client *client, int64_t request, const json_t *params,
                   struct pleat_error *err);

/* methods_change.c */
method method_submit, method_cancel, method_resize, method_limits;
/* methods_checkpoint.c */
method method_checkpoint;
/* The client is gone: requests for which it waited are withdrawn, unless they are under way. */
void method_client_gone(struct client *client);
/* methods_hold.c */
method method_hold, method_release, method_requeue, method_revise;
/* methods_ask.c */
method method_jobs, method_job, method_why, method_top, method_wait, method_output, method_events,
    method_follow;
/* methods_site.c */
method method_site_add, method_site_remove, method_drain, method_undrain;
/* methods_input.c */
method method_input_of_job, method_terminal, method_window;
/* methods_nodes.c */
method method_nodes;
/* methods_daemon.c */
method method_sites, method_info, method_policies, method_configure, method_stop;
/* forecast.c */
method method_forecast;
/* methods_programs.c */
method method_programs, method_programs_clear;
/* history.c, clean.c */
method method_history, method_clean;

/* ---- methods.c ---- */

/* Carries out a client's request. */
void method_call(struct client *client, const struct pleat_message *message);

/* ---- params.c ---- */

/* *id: the number of the job that the params name, which may have been let go of; -1 where they
 * name none. */
int params_job_if_named(struct client *client, const json_t *params, int64_t *id,
                        struct pleat_error *err);
/* As params_job_if_named, but the params must name a job. */
int params_job_number(struct client *client, const json_t *params, int64_t *id,
                      struct pleat_error *err);
/* The job that the params must name, to change something about it. NULL: there is none, and *rc
 * says why. */
struct job *params_job(struct client *client, const json_t *params, int *rc,
                       struct pleat_error *err);
/* PLEAT_E_BUSY while the log cannot be written. */
int method_check_writing(const struct daemon *d, struct pleat_error *err);
/* Queues an input, which is answered when it is written. Refused while the log cannot be written:
 * the core never sees it then. */
int method_input(struct client *client, struct input *input, struct pleat_error *err);

#endif
