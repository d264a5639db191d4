#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/timefmt.h"
#include "cli/common/daemon.h"
#include "cli/common/reply.h"
#include "cli/common/term.h"
#include "cli/live/commands.h"
#include "cli/live/screen.h"
#include "cli/live/top_frame.h"

enum { JOBS_MAX = 400, ENDED_SHOWN = 20, RECONNECT_MS = 500, MESSAGE_MS = 5000 };

struct top {
    struct pleat_client *client; /* NULL: no daemon runs at present */
    json_t *frame;
    struct pleat_top_view view;
    double interval_s;
    bool ended, paused, help;
    int below; /* number of jobs that did not fit on the screen */
    int64_t next_us, message_until_us;
    char message[200];
};

static const char help_text[] =
    "  q          quit (also Ctrl-C)\n"
    "  s, r       sort by another column; in the other direction\n"
    "  e          show the last ended jobs, too; or not\n"
    "  p, space   pause; go on\n"
    "  j, k       (or the arrows) down, up in the list of jobs\n"
    "  h, ?       this; any key goes back\n"
    "\n"
    "  A bar shows who has the processors of a site: the letter in front of a job is its\n"
    "  own, # are those that others keep busy, . are free. PROCS 4>8: on the way from 4 to 8.\n"
    "  TIME is how long it runs, or waits; EACH is an iteration's time.\n";

static json_t *params_of(const struct top *top)
{
    return json_pack("{s:i, s:i}", "limit", JOBS_MAX, "ended", top->ended ? ENDED_SHOWN : 0);
}

static void say(struct top *top, const char *text, bool stays)
{
    snprintf(top->message, sizeof(top->message), "%.190s", text);
    top->message_until_us =
        stays ? INT64_MAX : pleat_clock_monotonic_us() + INT64_C(1000) * MESSAGE_MS;
}

/* Looks for a daemon after the last one has ended. Starts none: its user may have stopped it. */
static void reconnect(struct top *top)
{
    struct pleat_paths paths;
    struct pleat_error err = {0};
    char moment[PLEAT_TIME_SIZE], text[120];
    if (pleat_paths_init(&paths, &err) || pleat_client_open(&paths, &top->client, &err)) {
        top->client = NULL;
        return;
    }
    pleat_client_set_interrupt(top->client, pleat_screen_ended());
    snprintf(text, sizeof(text), "connected again at %s",
             pleat_time_moment((double)pleat_clock_real_us() / 1e6, moment));
    say(top, text, false);
}

static void fetch(struct top *top)
{
    struct pleat_error err = {0};
    json_t *frame = NULL;
    if (!top->client)
        reconnect(top);
    if (!top->client)
        return;
    int status = pleat_client_call(top->client, "top", params_of(top), &frame, &err);
    if (status == PLEAT_INTERRUPTED)
        return;
    if (!status && json_is_object(frame)) {
        json_decref(top->frame);
        top->frame = frame;
        return;
    }
    json_decref(frame);
    pleat_client_close(top->client);
    top->client = NULL;
    say(top,
        status == PLEAT_E_CLOSED || status == PLEAT_E_SYSTEM
            ? "pleatd has ended: waiting for one (any other command of pleat starts it)"
            : err.text,
        true);
}

static void status_line(const struct top *top, char *text, size_t size)
{
    size_t length = 0;
    if (*top->message && pleat_clock_monotonic_us() < top->message_until_us)
        length = (size_t)snprintf(text, size, "%s  ", top->message);
    snprintf(text + length, size - length, "%sq quit  s sort: %s%s  e ended  p pause  h help%s",
             top->paused ? "PAUSED  " : "", pleat_top_sort_name(top->view.sort),
             top->view.reverse ? " (reversed)" : "", top->below > 0 ? "  j more below" : "");
}

static int draw(struct top *top, struct pleat_error *err)
{
    struct pleat_term term;
    struct pleat_string text = {0};
    char status[512];
    pleat_term_init(&term);
    term.limited = true;
    top->view.height = term.height > 2 ? term.height : 24;
    status_line(top, status, sizeof(status));
    top->view.status = status;
    if (top->help) {
        pleat_string_add(&text, help_text);
        top->below = 0;
    } else {
        top->below = pleat_top_add_frame(top->frame, &top->view, &term, &text);
    }
    top->view.status = NULL;
    int rc = pleat_screen_draw(&text, err);
    pleat_string_finish(&text);
    return rc;
}

/* Acts on a key. False: the program is to end. */
static bool take_key(struct top *top, int key)
{
    if (key == PLEAT_KEY_NONE)
        return true;
    if (top->help && key != 'q') {
        top->help = false;
        return true;
    }
    switch (key) {
    case 'q':
    case 'Q':
        return false;
    case 's':
        top->view.sort = (enum pleat_top_sort)((top->view.sort + 1) % PLEAT_TOP_SORT_COUNT);
        break;
    case 'r':
        top->view.reverse = !top->view.reverse;
        break;
    case 'e':
        top->ended = !top->ended;
        top->next_us = 0;
        break;
    case 'p':
    case ' ':
        top->paused = !top->paused;
        top->next_us = 0;
        break;
    case 'h':
    case '?':
        top->help = true;
        break;
    case 'j':
    case PLEAT_KEY_DOWN:
        top->view.first += top->below > 0;
        break;
    case 'k':
    case PLEAT_KEY_UP:
        top->view.first -= top->view.first > 0;
        break;
    default:
        break;
    }
    return true;
}

static int wait_ms(const struct top *top)
{
    int64_t left_ms = (top->next_us - pleat_clock_monotonic_us()) / 1000 + 1;
    if (top->paused)
        return 1000;
    return left_ms < 1 ? 1 : left_ms > 60000 ? 60000 : (int)left_ms;
}

static int watch(struct top *top)
{
    struct pleat_error err = {0};
    bool goes_on = true;
    int rc = pleat_screen_enter(&err);
    if (top->client)
        pleat_client_set_interrupt(top->client, pleat_screen_ended());
    while (!rc && goes_on && !*pleat_screen_ended()) {
        int64_t now_us = pleat_clock_monotonic_us();
        if (!top->paused && now_us >= top->next_us) {
            fetch(top);
            double next_s = top->client ? top->interval_s : RECONNECT_MS / 1e3;
            top->next_us = now_us + (int64_t)(next_s * 1e6);
        }
        rc = draw(top, &err);
        if (!rc && !*pleat_screen_ended())
            goes_on = take_key(top, pleat_screen_key(wait_ms(top)));
    }
    int number = *pleat_screen_ended();
    pleat_screen_leave();
    if (rc)
        return pleat_fail(&err);
    return number ? PLEAT_EXIT_SIGNAL + number : PLEAT_EXIT_OK;
}

static int print_once(const struct top *top)
{
    struct pleat_term term;
    struct pleat_string text = {0};
    if (pleat_settings.json)
        return pleat_reply_print(top->frame);
    pleat_term_init(&term);
    (void)pleat_top_add_frame(top->frame, &top->view, &term, &text);
    if (text.text && !text.failed)
        fputs(text.text, stdout);
    pleat_string_finish(&text);
    return PLEAT_EXIT_OK;
}

static int read_options(struct pleat_options *options, struct top *top, bool *once)
{
    struct pleat_error err;
    const char *sorts[PLEAT_TOP_SORT_COUNT];
    size_t sort;
    bool has_interval = false;
    for (int i = 0; i < PLEAT_TOP_SORT_COUNT; i++)
        sorts[i] = pleat_top_sort_name((enum pleat_top_sort)i);
    for (int option; (option = pleat_options_next(options)) != PLEAT_OPTION_END;) {
        int wrong = 0;
        if (option == PLEAT_OPTION_EXIT)
            return PLEAT_OPTION_EXIT;
        if (option == 'o') {
            *once = true;
        } else if (option == 'a') {
            top->ended = true;
        } else if (option == 's') {
            wrong = pleat_parse_word("--sort", optarg, sorts, PLEAT_TOP_SORT_COUNT, &sort, &err);
            top->view.sort = wrong ? PLEAT_TOP_QUEUE : (enum pleat_top_sort)sort;
        } else {
            wrong = pleat_parse_seconds("--interval", optarg, 0.1, 3600, &top->interval_s, &err);
            has_interval = true;
        }
        if (wrong) {
            options->exit_code = pleat_usage(&pleat_cmd_top, "%s", err.text);
            return PLEAT_OPTION_EXIT;
        }
    }
    options->exit_code =
        *once && has_interval
            ? pleat_usage(&pleat_cmd_top, "--interval does not go with --once: there is one frame")
            : pleat_options_count(options, 0, 0);
    return options->exit_code ? PLEAT_OPTION_EXIT : 0;
}

static int run_top(int argc, char **argv)
{
    static const struct option own[] = {{"once", no_argument, NULL, 'o'},
                                        {"all", no_argument, NULL, 'a'},
                                        {"sort", required_argument, NULL, 's'},
                                        {"interval", required_argument, NULL, 'i'},
                                        {0}};
    struct pleat_options options;
    struct top top = {.interval_s = 1};
    bool once = false;
    pleat_options_init(&options, &pleat_cmd_top, argc, argv, own, "ai:");
    if (read_options(&options, &top, &once) == PLEAT_OPTION_EXIT)
        return options.exit_code;
    int code = pleat_daemon_connect(&top.client);
    if (!code)
        code = pleat_daemon_ask(top.client, "top", params_of(&top), &top.frame);
    if (!code) {
        top.next_us = pleat_clock_monotonic_us() + (int64_t)(top.interval_s * 1e6);
        code = once || pleat_settings.json || !pleat_screen_possible() ? print_once(&top)
                                                                       : watch(&top);
    }
    json_decref(top.frame);
    pleat_client_close(top.client);
    return code;
}

const struct pleat_cli_command pleat_cmd_top = {
    .name = "top",
    .arguments = "[OPTION...]",
    .summary = "Shows machine and jobs, live",
    .help = "The view shows which share of the processors each job has, at which size it "
            "runs, how far\n"
            "it is, and why a job waits. If standard output is not a terminal, one frame "
            "is printed.\n"
            "Keys: q quits, h explains the others. If the daemon ends, 'top' waits for "
            "another one.\n"
            "\n"
            "Options:\n"
            "      --once           print one frame and end\n"
            "  -i, --interval S     seconds between frames (default: 1)\n"
            "  -a, --all            also show the last ended jobs\n"
            "      --sort COLUMN    queue (default), job, processors, time, name\n"
            "\n"
            "Exit codes: 0; 2 usage; 3 no daemon; 128 + N: signal N\n"
            "(Ctrl-C: 130).\n"
            "\n"
            "Example:\n"
            "  pleat top --once | head\n",
    .json = true,
    .run = run_top,
};
