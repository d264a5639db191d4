/* pleatd - schedules jobs that change size while they run. One per user, started on demand. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/oom.h"
#include "daemon/accounts.h"
#include "daemon/agent_link.h"
#include "daemon/agents.h"
#include "daemon/archive.h"
#include "daemon/clean.h"
#include "daemon/connections.h"
#include "daemon/daemon.h"
#include "daemon/files.h"
#include "daemon/forecast.h"
#include "daemon/jobs.h"
#include "daemon/log.h"
#include "daemon/log_open.h"
#include "daemon/mark.h"
#include "daemon/notes.h"
#include "daemon/notify.h"
#include "daemon/outset.h"
#include "daemon/place.h"
#include "daemon/recover.h"
#include "daemon/salvage.h"
#include "daemon/secret.h"
#include "daemon/sites.h"
#include "daemon/sites_change.h"
#include "daemon/stop.h"
#include "daemon/turn.h"
#include "daemon/turn_inputs.h"
#include "wire/connection.h"

enum { EXIT_RUNNING_ALREADY = 4, PROBE_MS = 1000 };

static const char usage[] =
    "Usage: pleatd [--dir DIR] [--config FILE] [--check]\n"
    "\n"
    "The daemon of Pleat: queues, starts, grows and shrinks the jobs of one user.\n"
    "'pleat' starts it when none runs; there is no need to start it by hand.\n"
    "\n"
    "  --dir DIR      keep everything under DIR (as the environment variable PLEAT_DIR)\n"
    "  --config FILE  read FILE instead of pleat.conf in the configuration directory\n"
    "  --check        check the configuration, and exit\n"
    "  --version      print the version, and exit\n"
    "  --help         print this, and exit\n"
    "\n"
    "Exit status: 0 ended in order; 1 failed (the reason is printed); 2 wrong usage;\n"
    "4 another pleatd runs for that directory already.\n"
    "\n"
    "Example: pleatd --dir /tmp/try --config my.conf\n";

/* ---- starting ---- */

static bool all_over(struct daemon *d)
{
    const struct pleat_view *view = pleat_core_view(d->core);
    for (uint32_t i = view->component_count; i > 0; i--)
        if (!pleat_component_state_is_final(
                (enum pleat_component_state)view->components[i - 1].state))
            return false;
    return true;
}

static int open_parts(struct daemon *d, struct pleat_error *err)
{
    int rc = log_open(d, err);
    if (!rc)
        programs_open(d);
    if (!rc)
        rc = secret_take(d, err);
    for (size_t i = 0; !rc && i < PLEAT_RUNNER_KIND_COUNT; i++)
        rc = pleat_runner_open(pleat_runner_kinds[i].name, &d->host, &d->agent_link, &d->runners[i],
                               err);
    if (!rc)
        rc = log_recover(d, err);
    if (!rc)
        log_mark_clock(d, !all_over(d));
    if (!rc)
        rc = site_list_open(d, err);
    if (!rc)
        rc = sites_open(d, err);
    if (!rc)
        rc = sites_adopt(d, err);
    return rc;
}

/* ---- running ---- */

static void on_signal(uv_signal_t *handle, int number)
{
    daemon_log("signal %d: ending; jobs go on, and are found again at the next start", number);
    daemon_stop(handle->data);
}

/* Every PROBE_MS: looks at the load of others, the socket, the agents and the log, and ends pleatd
 * if it has been idle for long. */
static void on_probe(uv_timer_t *handle)
{
    struct daemon *d = handle->data;
    int64_t now = pleat_clock_monotonic_us();
    bool over = d->jobs.living == 0;
    if (!over)
        sites_poll(d);
    sites_leave(d);
    place_check(d);
    agents_look(d);
    turn_idle(d);
    log_watch(d);
    if (over && (d->stopping || d->ending))
        daemon_stop(d);
    else if (d->ending)
        daemon_stop_unattended(d);
    if (!over || d->clients || notify_busy(d))
        d->idle_since_us = 0;
    else if (d->idle_since_us == 0)
        d->idle_since_us = now;
    else if (d->config.idle_exit_us && now - d->idle_since_us > d->config.idle_exit_us)
        daemon_stop(d);
}

static int begin(struct daemon *d, struct pleat_error *err)
{
    int rc = place_listen(d, connection_accept, err);
    if (!rc)
        rc = agent_listen_open(d, connection_accept, err);
    if (rc)
        return rc;
    uv_timer_init(&d->loop, &d->probe);
    uv_timer_init(&d->loop, &d->parked.tail);
    uv_timer_init(&d->loop, &d->linger);
    checkpoint_times_init(d);
    uv_signal_init(&d->loop, &d->sigterm);
    uv_signal_init(&d->loop, &d->sigint);
    d->probe.data = d->parked.tail.data = d->linger.data = d->sigterm.data = d->sigint.data = d;
    uv_timer_start(&d->probe, on_probe, PROBE_MS, PROBE_MS);
    uv_signal_start(&d->sigterm, on_signal, SIGTERM);
    uv_signal_start(&d->sigint, on_signal, SIGINT);
    salvage_begin(d); /* first: it rules out numbers already given */
    configure(d);
    note_make(d, daemon_now_us(d), "daemon", -1,
              json_pack("{s:s}", "text", "started, version " PLEAT_VERSION));
    sites_free_is_unknown(d);
    rc = agents_away(d, err);
    if (rc)
        return rc;
    if (pleat_core_outstanding(d->core, &d->turn.effects))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    salvage_hold_starts(d);
    agents_expect(d);
    job_scripts_sweep(d);
    checkpoint_times_recover(d);
    turn_run(d);
    daemon_log("ready: %s, %zu jobs known", d->paths.socket, d->jobs.by_number.count);
    return 0;
}

static void close_handle(uv_handle_t *handle, void *arg)
{
    (void)arg;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

static void finish(struct daemon *d)
{
    if (d->place.listener) {
        notify_finish(d);
        note_make(d, daemon_now_us(d), "daemon", -1, json_pack("{s:s}", "text", "ended"));
        turn_run(d);
        archive_end(d);
        place_leave(d);
        pleat_store_close(d->store); /* a client that sees its connection closed can rely on the log
                                        being closed */
        d->store = NULL;
        pleat_listener_close(d->place.listener);
        agent_listen_close(d);
        agents_quit(d);
        hosting_end(d);
        forecasts_end(d);
        couriers_finish(d);
        connections_close(d);
        /* lets queued answers leave; connections close themselves within a second */
        uv_unref((uv_handle_t *)&d->probe);
        uv_unref((uv_handle_t *)&d->sigterm);
        uv_unref((uv_handle_t *)&d->sigint);
        uv_timer_stop(&d->probe);
        uv_timer_stop(&d->turn.deadline);
        uv_timer_stop(&d->turn.retry);
        uv_timer_stop(&d->parked.tail);
        uv_timer_stop(&d->linger);
        uv_timer_stop(&d->checkpoints.timer);
        uv_idle_stop(&d->turn.busy);
        uv_check_stop(&d->turn.check);
        uv_run(&d->loop, UV_RUN_DEFAULT);
    }
    agents_await(d);
    hosting_end(d); /* where nobody listened */
    sites_close(d);
    uv_walk(&d->loop, close_handle, NULL);
    uv_run(&d->loop, UV_RUN_DEFAULT);
    (void)uv_loop_close(&d->loop);
    turn_finish(d);
    checkpoint_times_finish(d);
    hosting_finish(d);
    for (size_t i = 0; i < PLEAT_RUNNER_KIND_COUNT; i++)
        if (d->runners[i])
            d->runners[i]->ops->close(d->runners[i]);
    jobs_finish(d);
    programs_finish(d);
    accounts_finish(d);
    clean_finish(d);
    pleat_array_finish(&d->runs);
    parts_finish(d);
    processes_finish(d);
    terminals_finish(d);
    pleat_core_destroy(d->core);
    pleat_store_close(d->store);
    pleat_config_finish(&d->config);
}

static int run(struct daemon *d, struct pleat_error *err)
{
    d->agent_link = (struct pleat_agent_link){d, agent_send};
    d->clock.started_us = pleat_clock_real_us();
    d->clock.offset_us = d->clock.started_us - pleat_clock_monotonic_us();
    if (uv_loop_init(&d->loop))
        return pleat_error_set(err, PLEAT_E_SYSTEM, "no event loop");
    turn_init(d);
    int rc = hosting_init(d, err);
    if (!rc)
        rc = open_parts(d, err);
    if (!rc)
        rc = begin(d, err);
    if (!rc)
        uv_run(&d->loop, UV_RUN_DEFAULT);
    finish(d);
    return rc;
}

/* The file given, else pleat.conf if there is one; NULL: none, use the defaults. */
static const char *config_file(struct daemon *d, const char *given)
{
    if (given) {
        char *whole = realpath(given, NULL); /* before pleatd changes its directory */
        bool fits = whole && strlen(whole) < sizeof(d->config_path);
        if (fits)
            memcpy(d->config_path, whole, strlen(whole) + 1);
        free(whole);
        return fits ? d->config_path : given;
    }
    snprintf(d->config_path, sizeof(d->config_path), "%s/pleat.conf", d->paths.config);
    return access(d->config_path, F_OK) ? NULL : d->config_path;
}

/* Goes to /, so that pleatd neither keeps a file system from being unmounted nor has its directory
 * removed under it. */
static int leave_directory(const struct daemon *d, struct pleat_error *err)
{
    const char *directory = getenv("PLEAT_DIR");
    if (directory && *directory && setenv("PLEAT_DIR", d->paths.runtime, 1))
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    return chdir("/") ? pleat_error_sys(err, errno, "cannot go to /") : 0;
}

/* What the command line asks for. */
struct asked {
    const char *config; /* a file; NULL: none is named */
    bool check;         /* only read the configuration */
};

/* Reads the command line; -1: go on, else the exit code. */
static int read_options(int argc, char **argv, struct asked *asked)
{
    static const struct option options[] = {
        {"dir", required_argument, NULL, 'd'}, {"config", required_argument, NULL, 'c'},
        {"check", no_argument, NULL, 'k'},     {"version", no_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},      {NULL, 0, NULL, 0}};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 'd':
            setenv("PLEAT_DIR", optarg, 1);
            break;
        case 'c':
            asked->config = optarg;
            break;
        case 'k':
            asked->check = true;
            break;
        case 'v':
            printf("pleatd %s\n", PLEAT_VERSION);
            return 0;
        case 'h':
            fputs(usage, stdout);
            return 0;
        default:
            fprintf(stderr, "See 'pleatd --help'.\n");
            return 2;
        }
    }
    if (optind == argc)
        return -1;
    fprintf(stderr, "pleatd: '%s' is not expected. See 'pleatd --help'.\n", argv[optind]);
    return 2;
}

int main(int argc, char **argv)
{
    static struct daemon daemon_state;
    struct daemon *d = &daemon_state;
    struct pleat_error err = {0};
    struct asked asked = {0};
    daemon_outset(argv);
    int code = read_options(argc, argv, &asked);
    if (code >= 0)
        return code;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* so that writing fails, instead of pleatd being killed */
    int rc = pleat_paths_init(&d->paths, &err);
    if (!rc && !asked.config)
        rc = pleat_paths_check_config(&d->paths, &err);
    if (!rc)
        rc = pleat_config_load(config_file(d, asked.config), &d->config, &err);
    if (!rc && asked.check) {
        printf("%s: good\n", d->config.path ? d->config.path : "defaults");
        pleat_config_finish(&d->config);
        return 0;
    }
    pleat_oom_last();
    if (!rc)
        rc = leave_directory(d, &err);
    if (!rc)
        rc = pleat_paths_make_private(d->paths.runtime, &err);
    if (!rc)
        rc = pleat_paths_make_private(d->paths.state, &err);
    if (!rc)
        rc = place_lock(d, &err);
    if (!rc)
        rc = run(d, &err);
    if (rc)
        daemon_log("%s", err.text);
    return rc == 0 ? 0 : rc == PLEAT_E_BUSY ? EXIT_RUNNING_ALREADY : 1;
}
