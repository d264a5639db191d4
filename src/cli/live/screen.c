#include "cli/live/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cli/jobs/output.h"

#define ENTER "\033[?1049h\033[?25l\033[?7l\033[2J"
#define LEAVE "\033[0m\033[?7h\033[?25h\033[?1049l"

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH};
#define SIGNAL_COUNT (sizeof(signals) / sizeof(signals[0]))

static atomic_int ended, stopped, resized;

static struct {
    bool entered, has_keys;
    struct termios before;
    struct sigaction actions[SIGNAL_COUNT];
    struct pleat_string shown; /* lines on the screen; each ends with '\n' */
} screen;

static void on_signal(int number)
{
    if (number == SIGWINCH)
        resized = 1;
    else if (number == SIGTSTP)
        stopped = 1;
    else
        ended = number;
}

bool pleat_screen_possible(void)
{
    const char *kind = getenv("TERM");
    return isatty(STDOUT_FILENO) && kind && *kind && strcmp(kind, "dumb") != 0;
}

const atomic_int *pleat_screen_ended(void)
{
    return &ended;
}

static void take_terminal(void)
{
    struct termios raw = screen.before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO); /* Ctrl-C and Ctrl-Z still send signals */
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    if (screen.has_keys)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
    screen.shown.length = 0;
    (void)pleat_output_write(STDOUT_FILENO, ENTER, strlen(ENTER));
}

static void give_terminal(void)
{
    (void)pleat_output_write(STDOUT_FILENO, LEAVE, strlen(LEAVE));
    if (screen.has_keys)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &screen.before);
}

int pleat_screen_enter(struct pleat_error *err)
{
    static bool at_exit;
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    screen.has_keys = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &screen.before) == 0;
    if (!at_exit && atexit(pleat_screen_leave))
        return pleat_error_set(err, PLEAT_E_SYSTEM, "cannot take the terminal");
    at_exit = true;
    for (size_t i = 0; i < SIGNAL_COUNT; i++) {
        sigaction(signals[i], NULL, &screen.actions[i]);
        if (screen.actions[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
    signal(SIGPIPE, SIG_IGN); /* the end of the daemon must not end this program */
    screen.entered = true;
    take_terminal();
    return 0;
}

void pleat_screen_leave(void)
{
    if (!screen.entered)
        return;
    screen.entered = false;
    give_terminal();
    for (size_t i = 0; i < SIGNAL_COUNT; i++)
        sigaction(signals[i], &screen.actions[i], NULL);
    pleat_string_finish(&screen.shown);
    screen.shown = (struct pleat_string){0};
}

/* On Ctrl-Z: the shell gets the terminal as it was. When the program goes on it takes the terminal
 * again. */
static void stop_here(void)
{
    struct sigaction ours, usual = {.sa_handler = SIG_DFL};
    stopped = 0;
    give_terminal();
    sigaction(SIGTSTP, &usual, &ours);
    raise(SIGTSTP);
    sigaction(SIGTSTP, &ours, NULL);
    take_terminal();
}

/* ---- drawing ---- */

static const char *next_line(const char *line, size_t *length)
{
    *length = strcspn(line, "\n");
    return line + *length + (line[*length] == '\n');
}

int pleat_screen_draw(const struct pleat_string *text, struct pleat_error *err)
{
    struct pleat_string out = {0}, now = {0};
    const char *is = screen.shown.length ? screen.shown.text : "";
    const char *wanted = text->text ? text->text : "";
    if (resized) {
        resized = 0;
        is = "";
        pleat_string_add(&out, "\033[0m\033[2J");
    }
    for (int row = 1; *wanted || *is; row++) {
        size_t is_length, length;
        const char *is_next = next_line(is, &is_length), *next = next_line(wanted, &length);
        if (length != is_length || memcmp(is, wanted, length) != 0) {
            pleat_string_addf(&out, "\033[%d;1H", row);
            pleat_string_add_bytes(&out, wanted, length);
            pleat_string_add(&out, "\033[0m\033[K");
        }
        is = is_next;
        wanted = next;
    }
    pleat_string_add(&now, text->text ? text->text : "");
    int failed = out.length ? pleat_output_write(STDOUT_FILENO, out.text, out.length) : 0;
    bool short_of_memory = out.failed || now.failed || text->failed;
    pleat_string_finish(&out);
    pleat_string_finish(&screen.shown);
    screen.shown = now;
    if (short_of_memory)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the screen");
    return failed ? pleat_error_sys(err, failed, "cannot write to the terminal") : 0;
}

/* ---- keys ---- */

/* Reads a key. A terminal sends an escape sequence as a whole, so its rest need not be waited for.
 */
static int read_key(void)
{
    unsigned char bytes[16];
    ssize_t count = read(STDIN_FILENO, bytes, sizeof(bytes));
    if (count <= 0) {
        screen.has_keys = screen.has_keys && count < 0 && errno == EINTR;
        return PLEAT_KEY_NONE;
    }
    if (bytes[0] != '\033')
        return bytes[0];
    if (count >= 3 && (bytes[1] == '[' || bytes[1] == 'O'))
        return bytes[2] == 'A' ? PLEAT_KEY_UP : bytes[2] == 'B' ? PLEAT_KEY_DOWN : PLEAT_KEY_OTHER;
    return PLEAT_KEY_OTHER;
}

int pleat_screen_key(int timeout_ms)
{
    struct pollfd keys = {.fd = screen.has_keys ? STDIN_FILENO : -1, .events = POLLIN};
    struct timespec limit = {timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000000};
    sigset_t ours, before;
    int ready = 0;
    sigemptyset(&ours);
    for (size_t i = 0; i < SIGNAL_COUNT; i++)
        sigaddset(&ours, signals[i]);
    sigprocmask(SIG_BLOCK, &ours, &before); /* no signal may come between the check and the wait */
    if (!ended && !stopped && !resized)
        ready = ppoll(&keys, 1, &limit, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (stopped)
        stop_here();
    return ready > 0 && !ended ? read_key() : PLEAT_KEY_NONE;
}
