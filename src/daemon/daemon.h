/* daemon.h - pleatd: the one place where core, store, sites, runners and the wire meet.
 *
 * The loop only collects inputs (from clients, agents, sites, time). A turn (turn.c) applies them,
 * lets the policies decide, writes all of it in one transaction, and only then carries out the
 * effects and answers. What cannot be written does not happen: effects and answers are held, and
 * no input is taken, until it can.
 */
#ifndef PLEAT_DAEMON_DAEMON_H
#define PLEAT_DAEMON_DAEMON_H

#include <uv.h>

#include "base/paths.h"
#include "base/siphash.h"
#include "core/core.h"
#include "daemon/account.h"
#include "daemon/config.h"
#include "runner/runner.h"
#include "site/site.h"
#include "store/store.h"
#include "wire/connection.h"
#include "wire/spec.h"

struct daemon;

/* ---- jobs.c: what the daemon knows of a job beyond the core ---- */

struct job {
    int64_t id;
    uint32_t component;
    bool ended;              /* its state is final */
    bool accounted;          /* its account is in the store: it is shown from there */
    bool gone;               /* being forgotten */
    bool kill_at_once;       /* where it is ended, without SIGTERM before */
    const char *runner;      /* its name; NULL: not asked for yet */
    struct account *account; /* NULL: not asked for yet, see job_account */
    int64_t iteration, iteration_us;
    bool has_progress;
    int32_t timed_size; /* for which the core was told what an iteration takes; 0: none */
    int64_t timed_us;   /* what it was told */
    int32_t redistributed_size;
    int64_t redistributed_us; /* what the last change, to that size, took its ranks; 0: unknown */
    bool spec_lost;           /* and what stands for it must not be run */
    json_t *folded;           /* what the agent said last of how it is folded; NULL: nothing yet */
    uint64_t folded_run;      /* ... of this run */
};

PLEAT_ARRAY(job_list, struct job *);

/* A job that the core has begun to know. Numbers only grow; a recovery, which finds jobs by
 * component, sorts when all are there. */
int job_add(struct daemon *d, int64_t id, uint32_t component);
void jobs_sort(struct daemon *d);
struct job *job_find(struct daemon *d, int64_t id);
struct job *job_of_component(struct daemon *d, uint32_t component);
/* The place in d->numbers of the first job with a number above `id`. */
size_t job_after(const struct daemon *d, int64_t id);
void job_ended(struct daemon *d, struct job *job);
/* Those that are `gone`. */
void jobs_forget(struct daemon *d);
void jobs_finish(struct daemon *d);
const struct pleat_component *job_component(struct daemon *d, const struct job *job);
bool job_is_over(struct daemon *d, const struct job *job);
struct pleat_runner *job_runner(struct daemon *d, struct job *job);
/* Its account, read from its notes when first asked for, and kept up from then on. Never NULL: out
 * of memory, or where the store cannot be read, it is empty (and that is logged). */
struct account *job_account(struct daemon *d, struct job *job);
void job_drop_account(struct job *job);
/* A note was made: the account follows, where there is one. */
void job_note(struct daemon *d, int64_t job, const char *kind, int64_t time_us, const json_t *data);

/* ---- job_json.c: a job as clients are shown it ---- */

/* NULL when out of memory. */
json_t *job_to_json(struct daemon *d, struct job *job, bool history);
/* The same, always from what the core says now. */
json_t *job_now_to_json(struct daemon *d, struct job *job, bool history);
/* The members that a list of many jobs needs (docs/protocol.md, `brief` of `jobs`). */
json_t *job_brief(struct daemon *d, struct job *job);
/* {"queued":1,..}: how many there are in each state, where there are any. */
json_t *jobs_counts(struct daemon *d);
/* The fewest and the most processors that a job may have, whether it folds or not. */
int32_t job_minimum(const struct pleat_component *c);
int32_t job_maximum(const struct pleat_component *c);
/* How many processes it has now. */
int32_t job_processes(struct daemon *d, int64_t job, const struct pleat_component *c);
/* submit_s, start_s, end_s, wait_s, run_s. */
void job_add_times(json_t *object, const struct pleat_component *c, int64_t now_us);

/* ---- specs.c: what users submitted; in the store, a few of them at hand ---- */

/* Without the environment. Borrowed until the next call of these; NULL: it cannot be read. */
const json_t *spec_json(struct daemon *d, int64_t job, struct pleat_error *err);
/* The same, read; and its name. Never NULL: one that cannot be read is empty, and that is logged.
 */
const struct pleat_spec *job_spec(struct daemon *d, int64_t job);
const char *job_name(struct daemon *d, int64_t job);
/* All of it. Borrowed until the next call of these; NULL: it cannot be read. */
const struct pleat_spec *spec_of(struct daemon *d, int64_t job, struct pleat_error *err);
/* A new one, to be written with this turn; takes "env" out of it. */
int spec_made(struct daemon *d, int64_t job, json_t *json);
/* They are in the store, or the daemon ends. */
void specs_written(struct daemon *d);
void spec_forget(int64_t job);
void specs_finish(void);
/* Paths of its output; buffers of 600 bytes. */
void job_output_path(struct daemon *d, int64_t job, const char *stream, char *buffer, size_t size);

/* ---- files.c: where its output goes, the copy of its script ---- */

enum job_file { JOB_INPUT, JOB_OUTPUT, JOB_ERROR };

/* The path of a stream, as its user wants it, else the daemon's own; "" for no input. */
int job_file_path(struct daemon *d, int64_t job, enum job_file which, char *buffer, size_t size,
                  struct pleat_error *err);
/* Whether its user named that file; else it is one of Pleat's. */
bool job_file_is_users(struct daemon *d, int64_t job, enum job_file which);
/* Where the copy of its script is: under a name that the script would know as its own. */
void job_script_path(struct daemon *d, const struct job *job, char *buffer, size_t size);
int job_script_make(struct daemon *d, const struct job *job, const char *path,
                    struct pleat_error *err);
void job_script_remove(struct daemon *d, int64_t job);
/* Those of jobs that are over: a daemon may have died before it removed them. */
void job_scripts_sweep(struct daemon *d);

/* ---- inputs ---- */

struct client;

enum reply_kind { REPLY_NONE, REPLY_EMPTY, REPLY_SUBMIT, REPLY_RESIZE };

struct input {
    struct pleat_event event;
    struct client *client; /* NULL: nobody waits for an answer */
    int64_t request;
    enum reply_kind reply;
    int32_t before;          /* REPLY_RESIZE */
    json_t *spec_json;       /* SUBMIT: owned */
    struct pleat_spec *spec; /* SUBMIT: owned */
};

PLEAT_ARRAY(inputs, struct input);

/* A note made in a turn, kept until it is written. */
struct made_note {
    int64_t time_us;
    const char *kind; /* a literal */
    int64_t job;
    json_t *data; /* owned */
    int64_t seq;
};

PLEAT_ARRAY(made_notes, struct made_note);

struct made_spec {
    int64_t job;
    char *text;
    char *environment; /* or NULL */
};

PLEAT_ARRAY(made_specs, struct made_spec);

/* An answer that must not leave before the turn is written. */
struct held_reply {
    struct client *client;
    struct pleat_string out;
};

PLEAT_ARRAY(held_replies, struct held_reply);

PLEAT_ARRAY(numbers, int64_t);

/* A job that ended, and its account until that is written. */
struct ended {
    int64_t job, submit_us, end_us;
    char *text;
};

PLEAT_ARRAY(ended_list, struct ended);

struct active_run {
    uint64_t run;
    uint32_t component;
};

PLEAT_ARRAY(active_runs, struct active_run);

struct daemon {
    uv_loop_t loop;
    struct pleat_paths paths;
    struct pleat_config config;
    char instance[33];
    unsigned char
        secret[PLEAT_SIPHASH_KEY]; /* of which names follow that others must not foresee */
    char config_path[600];
    int64_t started_us;
    int64_t clock_offset_us; /* real time at the start less monotonic time */
    int64_t last_us;         /* of the last record: time never goes back */

    struct pleat_core *core;
    struct pleat_store *store;
    struct pleat_host host;
    struct pleat_agent_link agent_link;
    struct pleat_site_instance **sites;
    struct pleat_runner *runners[4]; /* plain, mpi, malleable, folded */

    struct job_list jobs;    /* by component; NULL: forgotten */
    struct job_list numbers; /* the same, by number */
    size_t living;           /* jobs that have not ended */
    struct active_runs runs;

    struct inputs inputs;
    struct pleat_events records; /* applied, not yet written */
    struct pleat_effects effects;
    struct made_notes notes;
    struct made_specs specs;
    struct held_replies replies;
    struct pleat_error holding_why;

    uv_idle_t busy; /* keeps the loop from sleeping while inputs wait */
    uv_check_t check;
    uv_timer_t collect; /* runs while a turn waits for more inputs to share its commit */
    uint64_t turn;      /* counts those with inputs */
    int64_t commit_us;  /* how long the last commit took */
    uv_timer_t deadline, probe, retry, tail, idle_exit, linger;
    uv_signal_t sigterm, sigint;
    struct pleat_listener *listener;
    struct client *clients;
    struct agent *agents;
    int64_t last_job;        /* the highest number given */
    int64_t good_seq;        /* the last record that recovery could apply */
    uint64_t runs_below;     /* of a salvaged log: runs that it knew at the start have lower ones */
    char damage[1200];       /* how, and where the damaged file is; "" */
    struct ended_list ended; /* jobs of this turn */
    struct numbers archived; /* let go of in this turn */
    struct numbers dropped;  /* of which nothing is kept after this turn */
    bool drops_shared;       /* nor texts that no job has any more */
    int64_t next_archive_us; /* when the next one is to be let go of */
    int64_t checkpoint_seq;  /* of the newest; 0: none */
    size_t checkpoint_size;  /* of the newest, in bytes */
    uint32_t next_size_list;
    struct {
        int64_t job;            /* its first task; 0: that was refused, ... */
        uint32_t group;         /* in the core */
        struct pleat_error why; /* ... since */
    } array;                    /* that is being submitted in this turn */
    int mark_fd;                /* 0: not open */
    int parked_outputs;
    int lock_fd, runtime_lock_fd; /* 0: not taken */
    bool homeless;                /* it listens nowhere, and that was said */
    bool holding;                 /* the store cannot write */
    bool committed;               /* the turn is in the store, which is not in its place */
    bool has_accounts;            /* every job that ended before has an account */
    bool salvaged; /* the log was damaged, and what that leaves open is not settled yet */
    bool stopping;
    bool collected; /* `collect` has run out */
    int lingered;   /* times that it waited for an agent before it ended */
};

/* ---- main parts ---- */

int64_t daemon_now_us(struct daemon *d);
void daemon_log(const char *fmt, ...) PLEAT_PRINTF(1, 2);
void daemon_stop(struct daemon *d);

/* outset.c: default signals (but SIGHUP's), no descriptor but 0 to 2, files for this user only; out
 * of the job that it may be started in, with its environment, limits, CPUs, groups and session:
 * then it goes to the background, executes itself again, and does not return. */
void daemon_outset(char **argv);

/* place.c: the locks of state and runtime directory, and where it listens. In them is a record of
 * it (base/lock_record.h). */
/* 0, or PLEAT_E_BUSY when another daemon has one of the directories, or one of
 * another machine had and its jobs may still run there. */
int place_lock(struct daemon *d, struct pleat_error *err);
int place_listen(struct daemon *d, struct pleat_error *err);
/* Listens again where its socket was removed; ends the process at once where another pleatd has the
 * log. To call now and then. */
void place_check(struct daemon *d);
/* At an end in order: another machine may go on with the log, unless jobs run here. */
void place_leave(struct daemon *d);

/* crash.c: called between any two steps that another process, or the log, can see. Ends the daemon
 * as SIGKILL does at the n-th call where the environment has PLEAT_TEST_CRASH_AFTER=n; for tests.
 */
void crash_point(void);

/* turn.c */
void turn_init(struct daemon *d);
/* Queues an input; takes over what it owns. */
void turn_input(struct daemon *d, const struct input *input);
void turn_event(struct daemon *d, const struct pleat_event *event);
/* Applies, decides, writes, carries out, now. */
void turn_run(struct daemon *d);
void turn_finish(struct daemon *d);
/* Applies an event at once, and has it written with the turn that runs next. As pleat_core_apply.
 */
int turn_apply(struct daemon *d, const struct pleat_event *event, struct pleat_error *err);
/* An answer that leaves when the turn that runs next is written. Takes the result. */
/* False: the job's submission waits for the log, which cannot be written now. */
bool turn_has_taken(const struct daemon *d, int64_t job);
void turn_reply(struct daemon *d, struct client *client, int64_t request, json_t *result);
/* Arms the timer for the core's next deadline. */
void turn_arm(struct daemon *d);

/* notes.c: effects in the words of people */
void note_make(struct daemon *d, int64_t time_us, const char *kind, int64_t job, json_t *data);
void note_effect(struct daemon *d, const struct pleat_effect *effect);
void note_event(struct daemon *d, const struct pleat_event *event);

/* notify.c: users' commands when something happens to their jobs */
void notify_note(struct daemon *d, const struct made_note *note);
/* Commands run, or wait to be run: any; of that job, which may have been let go of. */
bool notify_busy(void);
bool notify_has(int64_t job);
/* Lets them come to their end, for a short time. */
void notify_finish(struct daemon *d);

/* secret.c: reads d->secret from the log, or makes one. */
int secret_take(struct daemon *d, struct pleat_error *err);

/* carry_out.c: effects into the world */
void carry_out(struct daemon *d, const struct pleat_effect *effect);
/* Of a job that is being ended: its processes are killed now. */
void carry_out_kill(struct daemon *d, struct job *job);
int sites_open(struct daemon *d, struct pleat_error *err);
void sites_close(struct daemon *d);
/* After a recovery: sites take up the claims that the core holds. */
int sites_adopt(struct daemon *d, struct pleat_error *err);
/* The last run that a job was given, in a file in its directory; 0: it says none. */
void run_note(struct daemon *d, int64_t job, uint64_t run);
uint64_t run_noted(struct daemon *d, int64_t job);
void run_remember(struct daemon *d, uint64_t run, uint32_t component);
void run_forget(struct daemon *d, uint64_t run);
/* The component of a run, or PLEAT_NONE. */
uint32_t run_component(const struct daemon *d, uint64_t run);

/* slots.c: which processors of a node a job has */
PLEAT_ARRAY(slot_ranges, struct pleat_slot_range);

/* The node of its first processor. */
uint32_t slots_first_node(struct daemon *d, const struct pleat_component *component);
/* Whether jobs of the site are bound to the processors that their slots are. */
bool slots_are_bound(struct daemon *d, uint32_t site);
/* The CPUs of its slots as configured, or as its agent said; NULL: neither. Borrowed. */
const char *slots_cpus(struct daemon *d, uint32_t site);
/* Adds its slots on its first node, in the order of ranks, were it that large: with what is claimed
 * for a resize under way. Where jobs share the time of all, all of the site. None where they are
 * not bound, or where it has not so many. */
int slots_of(struct daemon *d, const struct pleat_component *component, int32_t processors,
             struct slot_ranges *ranges, struct pleat_error *err);

/* mark.c: how far the log was, in a file beside it: what is lost of its end without a trace shows
 * in that. Not synced: it outlives pleatd, and only the death of the machine may leave it behind.
 */
void log_mark(struct daemon *d);
/* Whether the log is behind its mark; the highest number of a job is at least the mark's. */
bool log_is_behind(struct daemon *d);
/* There is a log, and its mark is missing or cannot be read: nobody knows whether its end is there.
 */
bool log_mark_is_lost(const struct daemon *d);
/* After a recovery: the time goes on from the last record; keep: as it went before, in the same
 * boot of the machine, whatever the system's clock says. */
void log_mark_clock(struct daemon *d, bool keep);
/* Takes the instance from the mark; false where it has none. */
bool log_mark_instance(struct daemon *d);

/* log.c */
/* Writes what the turn has made, in one transaction. A damaged log is made good: then all is
 * written all the same. */
int log_write(struct daemon *d, struct pleat_error *err);
/* Now and then: whether the log is still in its place; else it is put there. */
void log_watch(struct daemon *d);
/* Between turns: makes the log good where it was found damaged. False: it was not. */
bool log_mend(struct daemon *d);

/* salvage.c */
/* Of a log that is closed: keeps it aside, opens what is good of it; says so in d->damage and,
 * until all is settled, in the new log. *why: what is wrong with it, or (returned) why that failed.
 */
int log_salvage(struct daemon *d, int64_t most_seq, struct pleat_error *why);
/* The damage is not of a log that is all that is known, but of one that a living pleatd has. */
void salvage_say_alive(struct daemon *d);
/* Inside a transaction: what the log says of its damage. */
int salvage_put_meta(struct daemon *d, struct pleat_error *err);
/* Cancels waiting jobs of which it is not known any more what they are to run. */
void salvage_lost_specs(struct daemon *d);
/* Opens the log, or what is good of it, and takes its instance. After a death of pleatd its
 * structure is checked first, which reads all of it. */
int log_open(struct daemon *d, struct pleat_error *err);
/* Creates the core and recovers it from the log, or from what is good of it. */
int log_recover(struct daemon *d, struct pleat_error *err);
/* After a salvage: inputs that settle what is known to be open; jobs whose run no agent has; all
 * agents have said what they run. */
void salvage_begin(struct daemon *d);
void salvage_cancel(struct daemon *d, uint32_t component);
void salvage_settled(struct daemon *d);
/* Of the effects that a recovered core asks for again: takes out the starts of runs of which a lost
 * part of the log may know more. Their agents say whether they have them. */
void salvage_hold_starts(struct daemon *d);
/* For people, as long as the damaged file is there; else NULL. */
const char *salvage_text(struct daemon *d);
/* archive.c: jobs that have ended: their accounts, and letting go of them */
/* It has ended in this turn. */
void archive_ended(struct daemon *d, struct job *job);
/* Before the turn's transaction: makes the accounts of those that ended in it. */
void archive_prepare(struct daemon *d);
/* The same again: the log that they were made from was damaged, and is another now. */
void archive_remake(struct daemon *d);
/* Inside it: writes them, and removes what was let go of. */
int archive_write(struct daemon *d, struct pleat_error *err);
/* After it. */
void archive_written(struct daemon *d);
/* When nothing else is to be done: lets go of those that ended long ago, and makes checkpoints. */
void archive_run(struct daemon *d);
void archive_finish(struct daemon *d);
/* Is there an account of it? */
bool archive_knows(struct daemon *d, int64_t job);
/* An ended job from its account, as job_to_json gives it; NULL: there is none. */
json_t *archive_job(struct daemon *d, int64_t job, bool history);
/* An entry of `history`; NULL when out of memory. */
json_t *archive_entry(struct daemon *d, const struct pleat_account_row *row);

/* Has the core forget it; it is `gone`, jobs_forget comes next. False: it does not (logged). Only
 * when nothing is under way that could mean its component. */
bool archive_let_go(struct daemon *d, struct job *job);

/* clean.c: removing what is kept about jobs */
/* Requests wait; the first of them, when nothing else is to be done. */
bool clean_waits(void);
void clean_run(struct daemon *d);
/* As those of archive.c, which calls them. */
int clean_write(struct daemon *d, struct pleat_error *err);
void clean_written(struct daemon *d);
void clean_finish(struct daemon *d);

/* recover.c */
int recover(struct daemon *d, struct pleat_error *err);
/* Inputs for what the configuration says differently from the log. */
void configure(struct daemon *d);

/* agent_lock.c: the file that an agent keeps locked as long as it lives (src/agent/main.c) */
bool agent_lock_is_held(struct daemon *d, uint32_t site, uint32_t node);
/* Kills the process that holds it; false: who that is cannot be told. */
bool agent_lock_kill(struct daemon *d, uint32_t site, uint32_t node);

/* agents.c */
int agent_send(void *arg, uint32_t site, uint32_t node, const char *method, json_t *params,
               struct pleat_error *err);
/* Once a second: whether agents answer; one that does not for long is ended, so that another can
 * take its place. */
void agents_look(struct daemon *d);
/* So many seconds an agent of the site has been silent, where that is long; 0: none is. */
int agents_silent_s(struct daemon *d, uint32_t site);
/* A connection that said it is an agent. Takes it over. */
void agent_accept(struct daemon *d, struct pleat_connection *connection, const json_t *hello);
void agents_quit(struct daemon *d);
/* The one that was in the way of this node's is gone: where one is wanted, it is started. */
void agent_needed(struct daemon *d, const char *site, uint32_t node);

/* stranger.c */
/* A connection of an agent of another instance. Takes it over. */
void stranger_accept(struct daemon *d, struct pleat_connection *connection, const char *site,
                     uint32_t node);
void strangers_close(void);

/* The policies are others: what agents said of folded runs, and say again only when it changes, may
 * be wanted now. */
void agents_learn(struct daemon *d);
/* Whether an agent lives that has not (yet) called, so that it cannot be told to end. */
bool agents_absent(struct daemon *d);
/* After a restart: expect the agents of living runs to call back; else start new ones. */
void agents_expect(struct daemon *d);
/* After a start, before anything else: no agent is there yet. 0 or an error. */
int agents_away(struct daemon *d, struct pleat_error *err);
/* Something waits for the agent of a site: there is one, or will be. */
void agent_reach(struct daemon *d, uint32_t site);
/* Whether the agent that is connected is the one that the core, and so the log, knows to be there:
 * only that one may be told to start anything. */
bool agent_is_known(struct daemon *d, uint32_t site, uint32_t node);
/* Whether it has a feature (wire/message.h): one from before an upgrade may not. */
bool agent_knows(struct daemon *d, uint32_t site, uint32_t node, const char *feature);

/* follow.c: a client that is told what happens. Events that it does not take in time are not kept
 * for it in memory: they are in the log, and it gets them from there, when it takes them. */
struct follow {
    bool on;
    bool behind;     /* more is in the log than it was sent */
    int64_t job;     /* -1: all */
    int64_t from_us; /* only what happened then or later */
    int64_t last;    /* number of the last event that it was sent */
};

struct client;
/* From now on, beginning with what is in the log, when the answer to that wish has been written. */
void follow_begin(struct client *client, const struct pleat_note_filter *filter);
/* All that it was sent has been written: more of what it is behind. */
void follow_on(struct client *client);
/* That has just been written. */
void clients_notify(struct daemon *d, const struct made_note *note);

/* clients.c */
struct client {
    struct daemon *daemon;
    struct pleat_connection *connection; /* NULL: gone, kept only for what refers to it */
    struct client *next;
    bool greeted;
    struct follow follow;
    int references;              /* inputs and replies under way */
    uint64_t asked;              /* the last turn that had an input of it; 0: none */
    int process;                 /* who connected */
    struct pleat_string *answer; /* NULL, or where what is to be sent is kept */
};

void client_accept(void *arg, struct pleat_connection *connection);
void client_send(struct client *client, struct pleat_string *out);
void client_fail(struct client *client, int64_t request, const struct pleat_error *error);
void client_reply(struct client *client, int64_t request, json_t *result);
void client_hold(struct client *client);
void client_drop(struct client *client);
void clients_close(struct daemon *d);
json_t *note_to_json(int64_t seq, int64_t time_us, const char *kind, int64_t job,
                     const json_t *data);

/* methods.c: what clients can ask */
void method_call(struct client *client, const struct pleat_message *message);

/* history.c: what jobs did and used */
json_t *history_entry(struct daemon *d, struct job *job);

/* decided.c: the last decisions about a job, oldest first, from its notes. *queued_s: since when it
 * has been waiting (left as it is where that is not among them). */
int decided(struct daemon *d, int64_t job, json_t **decisions, double *queued_s,
            struct pleat_error *err);

/* Decimal seconds; null for PLEAT_NEVER. */
static inline json_t *json_seconds(int64_t us)
{
    return us == PLEAT_NEVER ? json_null() : json_real((double)us / 1e6);
}

/* depend.c: which other jobs a job waits for, as its spec says */
/* Before it is submitted: PLEAT_E_NOTFOUND: there is no such job; PLEAT_E_STATE: it would wait for
 * ever. */
int needs_check(struct daemon *d, const struct pleat_spec *spec, struct pleat_error *err);
/* After it was. */
int needs_set(struct daemon *d, const struct pleat_event *submit, const struct pleat_spec *spec,
              struct pleat_error *err);
json_t *needs_to_json(struct daemon *d, const struct pleat_component *c);
/* What holds it: "user", "jobs", "array"; and the same for people, of one that something holds. */
json_t *holds_to_json(const struct pleat_component *c);
void holds_text(struct daemon *d, const struct pleat_component *c, char *text, size_t size);

/* why.c */
int why_to_json(struct daemon *d, struct job *job, json_t **result, struct pleat_error *err);
/* The same about a waiting one in few members; of a rehearsed pass. */
json_t *why_waits_short(const struct pleat_pass *pass, uint32_t component);

/* top.c: all that a live view shows, in one bounded answer */
int top_to_json(struct daemon *d, int64_t limit, int64_t ended, json_t **result,
                struct pleat_error *err);

/* forecast.c: those under way end soon, and answer with what they know */
void forecasts_end(void);

/* parked.c: answers that wait for something (wait, output --follow) */
void parked_wait(struct client *client, int64_t request, int64_t job);
struct output_wish {
    int64_t job, offset;
    char stream[8]; /* "stdout" or "stderr" */
    bool follow;    /* answered when there is something */
    bool paths;     /* the client reads what its user named */
    bool read;      /* ... and has read all of it */
};
void parked_output(struct client *client, int64_t request, const struct output_wish *wish);
/* Answers those whose time has come. */
void parked_check(struct daemon *d);
void parked_forget(struct client *client);

#endif
