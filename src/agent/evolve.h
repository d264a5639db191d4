/* evolve.h - an evolving run: its processes ask for more processes themselves (Liu et al.
 * 2009, 3.1).
 *
 * The agent that leads the run is its application agent. It has the directory of processes, the
 * prepared processes (the resource buffer as it can be handed out), and the requests that wait. An
 * add is answered at once. The daemon decides on which processors a process is prepared (`prepare`,
 * `unprepare`), and is told what becomes of these: `prepared`, `taken`, `process_gone`; and what
 * was asked for: `demanded`.
 *
 * Process 0 is the main process of the run. Each other process is a run of its own in this agent
 * (`run->leader`), with a reaper, that is not told to the daemon: so it is started, bound, watched
 * and ended as any run is. A process on another node is a run of that node's agent (far.h), and
 * here a part of the run (evolve_far.c), which the daemon has started and ended, and about which it
 * hands on what is said. What is said between a process and the agent: docs/protocol.md, "Processes
 * of evolving runs".
 *
 *   a process is      with                     until
 *   waiting           asked, no claim          a processor is ordered for it
 *   wanted            a claim, no child        its child was started
 *   starting          child, not registered    it says hello, or has executed a program of its own
 *   prepared          registered, not handed   an add takes it, or the daemon gives it back
 *   running           handed, told as taken    its child has ended
 *
 * A process that the application does not want any more before it runs is `late`: it never comes,
 * and on its claim another one is wanted when its child has ended.
 */
#ifndef PLEAT_AGENT_EVOLVE_H
#define PLEAT_AGENT_EVOLVE_H

#include "agent/run.h"
#include "base/processes.h"
#include "model/architecture.h"
#include "wire/connection.h"

#define PLEAT_EVOLVE_LINE_MAX 65536   /* of a line in either direction */
#define PLEAT_EVOLVE_WAITING_MAX 1024 /* requests that may wait in a run */
#define PLEAT_EVOLVE_ANSWERS 256      /* answers that are kept for each process */
#define PLEAT_EVOLVE_GROUPS 64        /* of a process */
#define PLEAT_EVOLVE_NOBODY UINT32_MAX
/* Numbers of the runs of processes: above all that a daemon gives. */
#define PLEAT_EVOLVE_RUNS (UINT64_C(1) << 62)

/* What `start` says. */
struct pleat_evolve_request {
    uint32_t count;   /* processes at the start, from 1 */
    uint32_t maximum; /* processors that the job may have */
    bool nodes;       /* processes may be on other nodes, too */
    /* names of sites where they may be, too, with ',' between them; NULL: at no other. Borrowed */
    const char *sites;
    bool any_site; /* what is asked for without a site can be at any of them */
};

enum pleat_evolve_answer_kind { PLEAT_ANSWER_ADDED, PLEAT_ANSWER_DONE, PLEAT_ANSWER_REFUSED };

/* The answer to a request, for a process that asks again with the same number. */
struct pleat_evolve_answer {
    int64_t number;
    enum pleat_evolve_answer_kind kind;
    uint32_t process;
    bool ready;
    char *text; /* REFUSED */
};

/* How the child of a process has ended. */
struct pleat_proc_end {
    bool failed;     /* it was not started, */
    bool user_fault; /* and its user can do something about that */
    bool lost;       /* with its node, or that node's agent */
    int code, signal;
    int64_t cpu_us, max_rss_kb;
    const char *text; /* NULL: code and signal tell all */
};

enum { PLEAT_FAR_STREAMS = 2 }; /* output and errors */

/* What the agent knows of a process on another node. */
struct pleat_far_child {
    const char *site; /* another one (pleat_site_named); NULL: that of the run */
    uint32_t node;    /* its number at that site */
    uint32_t part;    /* its number among the parts of the run; 0: it has no child there */
    json_t *wish;     /* what the daemon is told about that, until it is started; else NULL */
    bool unwanted;    /* the daemon was told that it is to end */
    int64_t serial;   /* of its connection to that node's agent; 0: it has not said hello */
    struct pleat_proc_end end;
    char *text;                /* of `end` */
    char *unreachable;         /* why it and the others cannot be connected; NULL: not known */
    struct pleat_reach *reach; /* that is being tried; NULL */
    int64_t taken[PLEAT_FAR_STREAMS];                 /* bytes of its output that have come, */
    struct pleat_string unwritten[PLEAT_FAR_STREAMS]; /* and the last of them, which wait */
};

struct pleat_proc {
    struct pleat_evolve *evolve;
    uint32_t id, parent;     /* parent: PLEAT_EVOLVE_NOBODY of those of the start */
    uint64_t claim;          /* its processor; 0: it waits for one, or is of the start */
    uint64_t order;          /* the daemon's number of the order that prepared it */
    struct pleat_run *child; /* its run; NULL: not started, process 0, or far */
    bool is_far;             /* its processor is on another node: */
    struct pleat_far_child far;
    bool of_start;        /* it is on a processor of the start: */
    uint32_t place;       /* which of these */
    bool handed;          /* it is the application's, or will be once it is there */
    bool registered;      /* it has said hello since its child was started */
    bool prepared, taken; /* the daemon was told that it is */
    bool stopping;        /* the application stops it */
    bool bye;             /* it has said that it ends */
    bool unwanted;        /* the daemon gives it back */
    bool leaving;         /* stopping, since its site takes its processor back */
    bool renews;          /* its child ends, so that its own program can be started */
    bool ended;           /* its child has ended */
    bool told_running;    /* the others know that it runs */
    uint32_t failures;    /* of starts */
    int16_t priority;
    int64_t ask;        /* the number of the request, of its parent */
    int64_t started_us; /* when its child was started (monotonic) */
    int64_t due_us;     /* until it must have registered, or is told to end (monotonic); 0 */
    json_t *slots;      /* NULL: not bound */
    json_t *argv, *env; /* its own program, and variables of its own; NULL */
    char *architecture; /* of the node that it needs; NULL: that of its program */
    const char *site;   /* another one at which it has to be (pleat_site_named); NULL: the run's */
    bool any_site;      /* or at any where processes of the run may be */
    char *directory;    /* NULL: the run's */
    json_t *groups;     /* names; NULL: none */
    char *address;      /* NULL: not registered */
    char *local;        /* where those of its node reach it; NULL: at its address */
    struct pleat_connection *connection; /* NULL: none */
    size_t news_at;                      /* how many of the run's news it has been sent */
    uint32_t nonsense;   /* connections that were closed since it said what is no line */
    int64_t last_number; /* the highest number of a request */
    struct pleat_evolve_answer *answers; /* a ring; NULL: none yet */
};
PLEAT_ARRAY(pleat_procs, struct pleat_proc *);

/* A process on a claim is gone, and the daemon may not know it. */
struct pleat_gone_claim {
    uint64_t claim, order;
    const char *reason; /* a literal */
};
PLEAT_ARRAY(pleat_gone_claims, struct pleat_gone_claim);

/* A line about a process on that node: for those on other nodes, and for those there. */
struct pleat_news {
    bool is_far;
    const char *site;
    uint32_t node;
    char *texts[2];
};
PLEAT_ARRAY(pleat_news_list, struct pleat_news);

/* A connection that has not said hello. */
struct pleat_stranger {
    struct pleat_evolve *evolve;
    struct pleat_connection *connection;
    struct pleat_stranger *next;
};

struct pleat_evolve {
    struct pleat_run *run; /* NULL once destroyed, while the timer is being closed */
    uint32_t maximum;
    char socket[128], secret[128];
    char key[65];               /* what is in the file `secret` */
    char host[64];              /* the address of this node, for processes on others; "": none */
    uint32_t last_part;         /* numbers of parts up to this one were used */
    int out[PLEAT_FAR_STREAMS]; /* where what is written on other nodes goes; -1: not opened */
    struct pleat_listener *listener; /* NULL: not any more */
    json_t *argv, *env;              /* argv[0] may name the architecture of the node */
    json_t *machines;         /* architectures of the site's nodes, by number; NULL: not told */
    json_t *may;              /* names of other sites where processes may be */
    bool any_site;            /* so may those that are asked for without a site */
    json_t *sites;            /* what `architectures` says of these; NULL: not told */
    struct pleat_procs procs; /* ordered by id */
    struct pleat_stranger *strangers;
    struct pleat_gone_claims gone;
    uv_timer_t timer;
    uint32_t next_id;
    uint32_t start_left; /* processes of the start that are there */
    bool asks;           /* one of its processes has registered: the program can be prepared */
    bool ending;         /* the main process has ended, or the run is ended: all others end */
    bool others; /* there are, or may be, nodes whose architecture is not known (machines) */
    int64_t requests, satisfied, told_requests, told_waiting;
    /* processes that the application will give back, as it says; -1: it has said nothing */
    int64_t returning, told_returning;
    int64_t iteration, iteration_us, told_iteration;
    /* requests for an architecture, and for another site, that waited when that was told last */
    size_t told_on, told_at, told_any; /* told_any: those that any site can serve */
    bool told_demand;
    bool sweeps; /* some of its processes were told to end in this turn */
    /* what has become of processes, and is not sent to each of them yet, and when such were sent
     * last (monotonic) */
    struct pleat_news_list news;
    int64_t news_us;
    size_t news_round; /* the first of them, which everybody is being sent; 0: none */
};

/* ---- evolve_where.c ---- */

/* The architecture of this node, as of `uname -m`. */
const char *pleat_machine_here(void);
/* That of the node on which a process is, or is to be; NULL: not known. */
const char *pleat_proc_machine(const struct pleat_proc *proc);
/* That of another node of the site (NULL: the run's); NULL: not known. */
const char *pleat_machine_of(const struct pleat_evolve *evolve, const char *site, uint32_t node);
/* The name of another site where processes of the run may be: the same pointer for each, as long as
 * the run is known. NULL: they may not be there. */
const char *pleat_site_named(const struct pleat_evolve *evolve, const char *name);
/* PLEAT_E_UNSUPPORTED: processes of the run cannot be at that site, or not any more; err says why.
 * *site: NULL: it is the run's own; name NULL: none is said. */
int pleat_site_check(const struct pleat_evolve *evolve, const char *name, const char **site,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* Whether both are on one node. */
bool pleat_proc_is_beside(const struct pleat_proc *one, const struct pleat_proc *other);
/* Whether a program has a name for each architecture (PLEAT_PROCESS_ARCHITECTURE). */
bool pleat_program_is_any(const json_t *argv);
/* Whether a request can be met on a node: architecture: what it needs; NULL: what its program needs
 * (argv; NULL: the job's). machine NULL: not known. */
bool pleat_machine_suits(const struct pleat_evolve *evolve, const char *machine,
                         const char *architecture, const json_t *argv);
/* A copy of a command for a node of that architecture. NULL: no memory. */
json_t *pleat_command_on(const json_t *argv, const char *machine);
/* What is executed as a process. NULL: no memory. */
json_t *pleat_proc_command(const struct pleat_proc *proc);
/* PLEAT_E_UNSUPPORTED: no node of the site (NULL: the run's) has, or may have, that architecture;
 * err says which they have. */
int pleat_architecture_check(const struct pleat_evolve *evolve, const char *site,
                             const char *architecture, struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- evolve.c ---- */

int pleat_evolve_create(struct pleat_run *run, const struct pleat_run_request *request,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* Drops the first `count` pieces of news, which everybody has been sent, or nobody is any more. */
void pleat_evolve_drop_news(struct pleat_evolve *evolve, size_t count);
/* Closes all connections and listens no more. Accepts a run without it. */
void pleat_evolve_stop(struct pleat_run *run);
void pleat_evolve_destroy(struct pleat_run *run);
/* NULL: there is none. */
struct pleat_proc *pleat_proc_find(const struct pleat_evolve *evolve, uint32_t id);
struct pleat_proc *pleat_proc_on(const struct pleat_evolve *evolve, uint64_t claim);
/* A new process with the next id. NULL: no memory, or all ids were used. */
struct pleat_proc *pleat_proc_new(struct pleat_evolve *evolve, uint32_t parent);
void pleat_proc_remove(struct pleat_proc *proc);
/* Whether it is asked for, and no processor is there for it. */
bool pleat_proc_waits(const struct pleat_proc *proc);
/* Chooses the process that is to be on a claim's processor, with the number of the daemon's order:
 * the request that is served next, of those that wait and can be met on that node the one with the
 * highest priority, of these one that no other site can serve, and of these the first; or one more,
 * to be prepared, if the job's program runs there. place: another process, on the same processor
 * before; else where it is, zeroed but for is_far, far.site, far.node and slots (borrowed).
 * PLEAT_E_UNSUPPORTED: nothing that is wanted can be on that node; PLEAT_E_NOMEM: also where all
 * ids were used. Then the daemon has to be told that there is none (pleat_evolve_tell_gone). */
int pleat_proc_place(struct pleat_evolve *evolve, uint64_t claim, uint64_t order,
                     const struct pleat_proc *place) PLEAT_MUST_CHECK;
/* Whether its request is not served: it waits, or the process is on its way. */
bool pleat_proc_is_unserved(const struct pleat_proc *proc);
/* How many requests are not served. */
uint32_t pleat_evolve_unserved(const struct pleat_evolve *evolve);
/* Whether it is the application's and was never there, and is to end: its request is not wanted any
 * more, or is served on another processor. So it is not begun, whenever it registers. */
bool pleat_proc_is_late(const struct pleat_proc *proc);
/* Whether it was started, and what became of that is not settled. */
bool pleat_proc_has_child(const struct pleat_proc *proc);
/* The variables of the job, and those of the process's own, which replace them. NULL: no memory. */
json_t *pleat_proc_variables(const struct pleat_proc *proc);
/* The process whose child this is; NULL: none's. */
struct pleat_proc *pleat_proc_of_child(const struct pleat_run *child);

/* ---- evolve_far.c ---- */

/* Has the daemon start a process on its node. */
void pleat_far_start(struct pleat_proc *proc);
/* Has the daemon end it. */
void pleat_far_end(struct pleat_proc *proc);
/* It has ended, and all is known of it: forgets it, here and there. Accepts one without a child. */
void pleat_far_drop(struct pleat_proc *proc);
/* The part with that number is not known here, and has ended: nothing of it is needed. */
void pleat_far_forget(const struct pleat_run *run, int64_t part);
/* The process that has that part; NULL: none has. */
struct pleat_proc *pleat_far_find(const struct pleat_evolve *evolve, int64_t part);
/* Sends a line, without its end, to a process on another node; and ends its connection. */
void pleat_far_say(struct pleat_proc *proc, const char *text);
void pleat_far_cut_off(struct pleat_proc *proc);
/* Writes what has come of a process's output, as far as that does not block. */
void pleat_far_write(struct pleat_proc *proc);
/* Tells that what has come of a stream, and is written, need not be kept. */
void pleat_far_tell_heard(const struct pleat_proc *proc, int stream);
/* Whether something of it is unwritten. */
bool pleat_far_is_full(const struct pleat_proc *proc);
/* Tells the daemon again what it may have missed; and what `list` says. Nonzero: no memory. */
void pleat_far_report(struct pleat_evolve *evolve);
int pleat_far_describe(const struct pleat_evolve *evolve, json_t *text);

/* ---- evolve_reach.c ---- */

/* Tries to connect with a process at another site that has said where it is. If that fails it is
 * ended (far.unreachable). Does nothing with others. */
void pleat_reach_begin(struct pleat_proc *proc);
/* A process is reached that has said this. */
typedef void pleat_reached(struct pleat_proc *proc, const char *address, const char *local);
/* The same of one that says hello, which is heard once it is reached: until then its request can be
 * served at another site. False: it is not tried. */
bool pleat_reach_first(struct pleat_proc *proc, const char *address, const char *local,
                       pleat_reached *reached);
/* Tries no more. */
void pleat_reach_drop(struct pleat_proc *proc);

/* ---- evolve_tell.c ---- */

bool pleat_proc_is_connected(const struct pleat_proc *proc);

/* Sends one line to a process; steals line. Does nothing where it is not connected. */
void pleat_proc_say(struct pleat_proc *proc, json_t *line);
/* Tells all connected processes what has become of one. reason NULL: it is there. It is sent at the
 * end of the turn, or, where there are many processes, with what else comes within a moment; and in
 * any case before what is said to a process afterwards. */
void pleat_evolve_spread(struct pleat_proc *proc, const char *reason, int code, int signal);
/* Sends what was spread, unless it can wait, to as many as can be in a moment: returns the time
 * when it has to be sent, or to the others; 0: there is nothing. now: INT64_MAX: it cannot wait. */
int64_t pleat_evolve_send_news(struct pleat_evolve *evolve, int64_t now);
/* The first lines to a process that has registered: itself, and all others. */
void pleat_proc_welcome(struct pleat_proc *proc);
/* Tells a prepared process that it is handed over. */
void pleat_proc_go(struct pleat_proc *proc);
/* Tells the daemon, once: `prepared` and `taken` where they are so. */
void pleat_proc_tell(struct pleat_proc *proc);
/* Tells the daemon that no process is on a claim any more, and keeps that. */
void pleat_evolve_tell_gone(struct pleat_evolve *evolve, uint64_t claim, uint64_t order,
                            const char *reason);
/* The same of a process of the start. */
void pleat_evolve_tell_start_left(struct pleat_evolve *evolve);
/* Tells the daemon what was asked for, where that is new, and on which architectures it waits. */
void pleat_evolve_tell_demand(struct pleat_evolve *evolve);
/* Tells all again that the daemon may have missed. */
void pleat_evolve_report(const struct pleat_run *run);
/* Something that the job's user should know. */
void pleat_evolve_warn(struct pleat_run *run, const char *text);

/* ---- evolve_settle.c ---- */

/* Nothing is left of the process: it is forgotten, waits again, or is started with its own program;
 * the others, and the daemon, are told. May add another process behind all others. */
void pleat_proc_settle(struct pleat_proc *proc);

/* ---- evolve_life.c ---- */

/* The process of a child was executed, or could not be; nothing of it is left. */
void pleat_evolve_child_started(struct pleat_run *child, const struct pleat_error *failure);
void pleat_evolve_child_over(struct pleat_run *child);
/* The child of a process runs, here or on another node. */
void pleat_proc_started(struct pleat_proc *proc);
/* The process has registered: it is prepared, or the application's. */
void pleat_proc_registered(struct pleat_proc *proc);
/* A prepared process is handed over, for a request whose program is its own, if argv is there. */
void pleat_proc_hand_over(struct pleat_proc *proc);
/* Tells a process to leave, and ends it a moment later, at once where it is just starting: the
 * application stops it, or (unwanted) the daemon takes its processor back, and it was not handed
 * over. The processor of one that the application stops before it was there is another process's.
 */
void pleat_proc_stop(struct pleat_proc *proc, bool unwanted);
/* Tells one of the application's to leave, since its site takes its processor back: it is ended
 * when that time is over. */
void pleat_proc_leave(struct pleat_proc *proc, int64_t within_us);
/* Ends what was prepared on a node of unknown architecture, for no request, where it turns out that
 * requests wait for that: as many as these are, and their processors pass on to them. */
void pleat_evolve_match(struct pleat_evolve *evolve);
/* Ends all processes but the main one. */
void pleat_evolve_end(struct pleat_run *run, int64_t grace_us);
/* Whether processes other than the main one are left. */
bool pleat_evolve_holds(const struct pleat_run *run);
/* After each turn of the loop: starts what is wanted, and settles what has ended. */
void pleat_evolve_pump(struct pleat_agent *agent);

/* ---- evolve_orders.c ---- */

/* The requests `prepare`, `unprepare`, `leave` and `process_known`. */
int pleat_evolve_prepare(struct pleat_run *run, const json_t *params,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_evolve_unprepare(struct pleat_run *run, const json_t *params,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_evolve_leave(struct pleat_run *run, const json_t *params,
                       struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_evolve_known(struct pleat_run *run, const json_t *params,
                       struct pleat_error *err) PLEAT_MUST_CHECK;
/* The request `architectures`. */
int pleat_evolve_architectures(struct pleat_run *run, const json_t *params,
                               struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- evolve_ask.c ---- */

/* The requests of a process: add, cancel, stop, group. Each answers. */
void pleat_evolve_ask(struct pleat_proc *proc, const char *what, const json_t *line);

/* ---- evolve_heard.c ---- */

/* The requests `part_told`, `part_output` and `process_said`, about processes on other nodes. */
int pleat_evolve_part_told(struct pleat_run *run, const json_t *params,
                           struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_evolve_part_output(struct pleat_run *run, const json_t *params, const char *bytes,
                             size_t count, struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_evolve_said(struct pleat_run *run, const json_t *params,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

/* ---- evolve_talk.c ---- */

/* Why a hello makes no sense; NULL: it does. */
const char *pleat_hello_read(const json_t *line, int64_t *process, const char **address,
                             const char **local);
/* A process has said where it is. False: no memory. */
bool pleat_proc_hello(struct pleat_proc *proc, const char *address, const char *local);
/* What else it says. */
void pleat_proc_hear(struct pleat_proc *proc, const char *what, const json_t *line);

/* Listens to processes. */
int pleat_evolve_listen(struct pleat_run *run, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
