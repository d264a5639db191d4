#include "cli/jobs/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "cli/common/cli.h"
#include "cli/common/interrupt.h"
#include "cli/jobs/far_terminal.h"
#include "cli/jobs/output.h"

#define LOOK_MS 20   /* between looks whether a job has opened the terminal */
#define IDLE_MS 1000 /* between looks whether this program is in the foreground again */
/* for the rest of the job's output, where a process still has the terminal open */
#define LAST_MS 1000

/* What signal handlers use. There is one terminal in this program. */
static struct termios usual; /* settings before the program changed them */
static atomic_bool raw, left;
static atomic_int shown = -1; /* the master */

/* ---- this program's own terminal ---- */

static bool in_foreground(void)
{
    return tcgetpgrp(STDIN_FILENO) == getpgrp();
}

/* Restores the settings of this program's terminal. Not in the background: then the settings are
 * those of the foreground program, and changing them would stop this program. */
static void restore(void)
{
    if (atomic_exchange(&raw, false) && in_foreground())
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &usual);
}

static void copy_window(void)
{
    struct winsize size;
    int master = atomic_load(&shown);
    if (master >= 0 && ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0)
        (void)ioctl(master, TIOCSWINSZ, &size);
    pleat_far_terminal_resized();
}

static struct termios raw_settings(void)
{
    struct termios attributes = usual;
    cfmakeraw(&attributes);
    return attributes;
}

static void make_raw(void)
{
    struct termios attributes = raw_settings();
    if (atomic_load(&left) || atomic_load(&raw) || !in_foreground())
        return;
    if (tcsetattr(STDIN_FILENO, TCSADRAIN, &attributes) == 0)
        atomic_store(&raw, true);
    copy_window();
}

/* On a crash, or a signal that ends the program: restores the terminal. Otherwise the signal acts
 * as if there were no handler. */
static void on_end(int number)
{
    restore();
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static void on_stop(int number)
{
    int before = errno;
    bool was = atomic_load(&raw);
    (void)number;
    restore();
    (void)raise(SIGSTOP);
    if (was)
        make_raw(); /* in the background the thread does it later */
    errno = before;
}

static void on_window(int number)
{
    int before = errno;
    (void)number;
    copy_window();
    errno = before;
}

static void catch (const int *numbers, size_t count, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < count; i++)
        (void)sigaction(numbers[i], &action, NULL);
}

static void catch_signals(void)
{
    static const int ends[] = {SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGALRM};
    static const int stop = SIGTSTP, window = SIGWINCH;
    catch (ends, sizeof(ends) / sizeof(*ends), on_end);
    catch (&stop, 1, on_stop);
    catch (&window, 1, on_window);
    (void)atexit(restore);
    pleat_interrupt_do(restore);
}

/* ---- the job's ---- */

static void close_all(struct pleat_terminal *terminal)
{
    int *const all[] = {&terminal->master, &terminal->slave, &terminal->far, &terminal->over[0],
                        &terminal->over[1]};
    atomic_store(&shown, -1);
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        if (*all[i] >= 0)
            close(*all[i]);
        *all[i] = -1;
    }
}

static int open_pair(struct pleat_terminal *terminal)
{
    terminal->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal->master < 0 || grantpt(terminal->master) || unlockpt(terminal->master) ||
        fcntl(terminal->master, F_SETFL, O_NONBLOCK) || pipe2(terminal->over, O_CLOEXEC))
        return errno;
    int code = ptsname_r(terminal->master, terminal->path, sizeof(terminal->path));
    if (code)
        return code;
    terminal->slave = open(terminal->path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    return terminal->slave < 0 || tcsetattr(terminal->slave, TCSANOW, &usual) ? errno : 0;
}

int pleat_terminal_check(struct pleat_error *err)
{
    bool has_input = isatty(STDIN_FILENO);
    if (has_input && isatty(STDOUT_FILENO))
        return 0;
    return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                           "--pty: standard %s is no terminal; without --pty standard input is "
                           "passed on, and output copied, whatever they are",
                           has_input ? "output" : "input");
}

int pleat_terminal_begin(struct pleat_terminal *terminal, struct pleat_error *err)
{
    *terminal = (struct pleat_terminal){.master = -1, .slave = -1, .far = -1, .over = {-1, -1}};
    int code = tcgetattr(STDIN_FILENO, &usual) ? errno : open_pair(terminal);
    if (!code && (terminal->far = pleat_far_terminal_begin()) < 0)
        code = errno;
    if (!code) {
        atomic_store(&shown, terminal->master);
        copy_window();
        return 0;
    }
    close_all(terminal);
    *terminal->path = '\0';
    return pleat_error_sys(err, code, "--pty: cannot get a pseudo-terminal");
}

/* ---- passing on ---- */

/* What is passed between the two terminals. */
struct passing {
    struct pleat_terminal *terminal;
    char keys[4096]; /* read, but not yet taken by the job */
    size_t count;
    bool keys_end;  /* no more keys will come */
    bool is_over;   /* the job has ended */
    bool is_silent; /* no process has the job's end open */
    bool is_far;    /* keys go to a terminal on another host */
    bool far_ended; /* nothing more comes from there */
};

/* Whether a job has the terminal as its controlling terminal. */
static bool is_taken(const struct pleat_terminal *terminal)
{
    return tcgetsid(terminal->master) > 0;
}

static void close_slave(struct pleat_terminal *terminal)
{
    if (terminal->slave >= 0)
        close(terminal->slave);
    terminal->slave = -1;
}

/* Looks whether a job has a terminal on another host. */
static void follow_far(struct passing *passing)
{
    bool was = passing->is_far;
    bool lost = pleat_far_terminal_is_lost();
    passing->is_far = pleat_far_terminal_is_there() && !lost && !is_taken(passing->terminal);
    if (passing->is_far)
        make_raw();
    else if (was)
        restore();
    if (was && lost)
        pleat_say("pleatd, through which keys go to the job's host, cannot be reached: waiting for "
                  "it (Ctrl-C leaves)");
}

static void follow_job(struct passing *passing)
{
    if (!is_taken(passing->terminal)) {
        if (passing->is_silent && !passing->is_far) /* output is shown as it was written */
            restore();
        return;
    }
    make_raw();
    passing->is_silent = false;
    close_slave(passing->terminal);
}

static void read_keys(struct passing *passing)
{
    ssize_t got = read(STDIN_FILENO, passing->keys, sizeof(passing->keys));
    if (got > 0)
        passing->count = (size_t)got;
    else if (got == 0 || (errno != EINTR && errno != EAGAIN))
        passing->keys_end = true;
}

static void write_keys(struct passing *passing, int end)
{
    ssize_t taken = write(end, passing->keys, passing->count);
    if (taken > 0) {
        passing->count -= (size_t)taken;
        memmove(passing->keys, passing->keys + taken, passing->count);
    }
}

/* Shows what the job has written to one of its ends. *ended: nothing more comes there. False: there
 * was nothing. */
static bool show(int end, bool *ended)
{
    static char bytes[65536];
    ssize_t got = read(end, bytes, sizeof(bytes));
    if (got > 0) {
        make_raw(); /* a job opened the terminal between two looks */
        (void)pleat_output_write(STDOUT_FILENO, bytes, (size_t)got);
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN))
        *ended = true; /* all that was written has been read */
    return got > 0;
}

enum { KEYS, MASTER, FAR, OVER, ENDS };

/* Waits until something happens. Ends are left out where nothing can be done about them. */
static void await(struct passing *passing, struct pollfd *ends)
{
    const struct pleat_terminal *terminal = passing->terminal;
    bool keys = atomic_load(&raw) && !passing->keys_end && passing->count == 0;
    short to_far = passing->is_far && passing->count > 0 ? POLLOUT : 0;
    short to_master = !passing->is_far && passing->count > 0 ? POLLOUT : 0;
    ends[KEYS] = (struct pollfd){.fd = keys ? STDIN_FILENO : -1, .events = POLLIN};
    ends[MASTER] = (struct pollfd){.fd = passing->is_silent ? -1 : terminal->master,
                                   .events = (short)(POLLIN | to_master)};
    ends[FAR] = (struct pollfd){.fd = passing->far_ended ? -1 : terminal->far,
                                .events = (short)(POLLIN | to_far)};
    ends[OVER] = (struct pollfd){.fd = passing->is_over ? -1 : terminal->over[0], .events = POLLIN};
    bool waits = !passing->is_far && (passing->is_silent || terminal->slave >= 0);
    if (poll(ends, ENDS, passing->is_over ? LAST_MS : waits ? LOOK_MS : IDLE_MS) < 0)
        for (int i = 0; i < ENDS; i++)
            ends[i].revents = 0;
}

/* Passes on what can be passed on. False: the job is over, and all was shown, or nothing more has
 * come for a while. */
static bool pass_some(struct passing *passing, const struct pollfd *ends)
{
    const short some = POLLIN | POLLHUP | POLLERR;
    if (ends[KEYS].revents)
        read_keys(passing);
    if (passing->count > 0 && ends[MASTER].revents & POLLOUT)
        write_keys(passing, passing->terminal->master);
    if (passing->count > 0 && ends[FAR].revents & POLLOUT)
        write_keys(passing, passing->terminal->far);
    bool got = ends[MASTER].revents & some && show(passing->terminal->master, &passing->is_silent);
    got = (ends[FAR].revents & some && show(passing->terminal->far, &passing->far_ended)) || got;
    bool all = passing->is_silent && passing->far_ended;
    bool nothing = !got && !ends[MASTER].revents && !ends[FAR].revents;
    if (passing->is_over && (all || nothing))
        return false;
    if (ends[OVER].revents) {
        passing->is_over = true;
        passing->is_silent = false;
        close_slave(passing->terminal); /* no job will open it */
    }
    return true;
}

static void *pass_on(void *arg)
{
    struct passing passing = {.terminal = arg};
    struct pollfd ends[ENDS];
    do {
        follow_far(&passing);
        follow_job(&passing);
        await(&passing, ends);
    } while (pass_some(&passing, ends));
    restore();
    return NULL;
}

int pleat_terminal_start(struct pleat_terminal *terminal, struct pleat_error *err)
{
    sigset_t all, before;
    const struct termios attributes = raw_settings();
    catch_signals();
    pleat_terminal_keeper_begin(&terminal->keeper, &usual, &attributes);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* signals are left to the main thread */
    int code = pthread_create(&terminal->thread, NULL, pass_on, terminal);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    terminal->started = code == 0;
    return code ? pleat_error_sys(err, code, "--pty: no thread") : 0;
}

void pleat_terminal_is_of(int64_t job)
{
    pleat_far_terminal_start(job);
}

void pleat_terminal_leave(void)
{
    atomic_store(&left, true);
    restore();
}

void pleat_terminal_end(struct pleat_terminal *terminal)
{
    if (!*terminal->path)
        return;
    pleat_far_terminal_end();
    if (terminal->over[1] >= 0)
        close(terminal->over[1]);
    terminal->over[1] = -1;
    if (terminal->started)
        pthread_join(terminal->thread, NULL);
    close_all(terminal);
    restore();
    pleat_terminal_keeper_end(&terminal->keeper);
}
