/* daemon.h - pleatd: the one place where core, store, sites, runners and the wire meet.
 *
 * The loop only collects inputs (from clients, agents, sites, time). A turn (turn.c) applies them,
 * lets the policies decide, writes all of it in one transaction, and only then carries out the
 * effects and answers. While the log cannot be written, effects and answers wait, and no input
 * is taken.
 *
 * The state of each part is a struct in that part's header; struct daemon is made of these. No part
 * has state anywhere else. A part changes the state of another part only through that part's
 * functions.
 */
#ifndef PLEAT_DAEMON_DAEMON_H
#define PLEAT_DAEMON_DAEMON_H

#include <uv.h>

#include "base/paths.h"
#include "base/siphash.h"
#include "core/core.h"
#include "daemon/accounts.h"
#include "daemon/agent_listen.h"
#include "daemon/checkpoints.h"
#include "daemon/clean.h"
#include "daemon/config.h"
#include "daemon/couriers.h"
#include "daemon/forecast.h"
#include "daemon/hosting.h"
#include "daemon/inputs.h"
#include "daemon/jobs.h"
#include "daemon/log.h"
#include "daemon/notes.h"
#include "daemon/notify.h"
#include "daemon/parked.h"
#include "daemon/parts.h"
#include "daemon/place.h"
#include "daemon/processes.h"
#include "daemon/programs.h"
#include "daemon/runs.h"
#include "daemon/salvage.h"
#include "daemon/site_list.h"
#include "daemon/specs.h"
#include "daemon/terminals.h"
#include "daemon/turn_inputs.h"
#include "runner/runner.h"
#include "site/site.h"
#include "store/store.h"

struct agent;
struct client;
struct stranger;

struct daemon {
    uv_loop_t loop;
    struct pleat_paths paths;
    struct pleat_config config;
    char config_path[600];
    char instance[33];
    unsigned char secret[PLEAT_SIPHASH_KEY];     /* key of secret names (secret.h) */
    char secret_text[2 * PLEAT_SIPHASH_KEY + 1]; /* in hexadecimal digits; "": not known yet */
    struct {
        int64_t started_us;
        int64_t offset_us; /* real time at the start, less monotonic time */
        int64_t last_us;   /* time of the last record; daemon_now_us never goes back behind it */
    } clock;

    /* the parts that pleatd brings together */
    struct pleat_core *core;
    struct pleat_store *store;
    struct pleat_host host;
    struct hosting hosting;
    struct pleat_agent_link agent_link;
    struct pleat_site_instance **sites;
    int64_t *polled_us; /* of each site: when it was polled last; 0: never */
    size_t site_room;   /* of both */
    struct site_list site_list;
    struct pleat_runner *runners[PLEAT_RUNNER_KIND_COUNT]; /* in the order of model/runners.def */

    /* what pleatd knows */
    struct jobs jobs;
    struct active_runs runs;
    struct parts parts;
    struct processes processes;
    struct specs specs;
    struct programs programs;
    struct made_notes notes;
    uint64_t notes_told; /* how many notes there were before those */

    /* what a turn works on */
    struct turn turn;
    struct log_state log;
    struct salvage salvage;
    struct archive archive;
    struct clean clean;
    struct notifications notifications;
    struct forecasts forecasts;

    /* whom pleatd speaks to */
    struct place place;
    struct agent_listen agent_listen;
    struct agent *agents;
    struct stranger *strangers;
    struct client *clients;
    struct parked_answers parked;
    struct input_waits input_waits;
    struct terminals terminals;
    struct couriers couriers;
    struct checkpoints checkpoints;

    /* how long pleatd runs */
    uv_timer_t probe, linger;
    uv_signal_t sigterm, sigint;
    int64_t idle_since_us; /* since when there is nothing to do; 0: there is something */
    int lingered;          /* how often the end was put off, waiting for an agent to connect */
    bool ending; /* pleatd stops when all jobs have ended (pleat stop --force); until then all goes
                  * on */
    int unattended; /* while it is ending: looks in a row at which the agent of a job could not be
                     * had */
    bool stopping;
};

/* Real time in microseconds since 1970, which never goes back, whatever the system's clock does. */
int64_t daemon_now_us(struct daemon *d);
void daemon_log(const char *fmt, ...) PLEAT_PRINTF(1, 2);

#endif
