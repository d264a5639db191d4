#include "cli/jobs/terminal_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whether the settings are still ours: another program in the foreground sets its own. */
static bool are_in_force(const struct termios *settings)
{
    struct termios now;
    return tcgetattr(STDIN_FILENO, &now) == 0 && now.c_iflag == settings->c_iflag &&
           now.c_oflag == settings->c_oflag && now.c_lflag == settings->c_lflag;
}

/* Only what may be called after a fork in a program with threads. */
static void keep(int end, const struct termios *usual, const struct termios *raw)
{
    static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGTTOU, SIGTTIN};
    char none;
    for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
        (void)signal(ignored[i], SIG_IGN);
    (void)setpgid(0, 0); /* signals to the program's process group are not for this process */
    (void)prctl(PR_SET_NAME, "pleat-terminal");
    (void)!chdir("/");
    /* so that readers of the program's output do not wait for this process */
    if (dup2(end, STDOUT_FILENO) < 0 || dup2(end, STDERR_FILENO) < 0)
        _exit(1);
    closefrom(STDERR_FILENO + 1);
    while (read(STDERR_FILENO, &none, 1) < 0 && errno == EINTR)
        ;
    if (are_in_force(raw))
        (void)tcsetattr(STDIN_FILENO, TCSANOW, usual);
    _exit(0);
}

void pleat_terminal_keeper_begin(struct pleat_terminal_keeper *keeper, const struct termios *usual,
                                 const struct termios *raw)
{
    int ends[2];
    sigset_t all, before;
    *keeper = (struct pleat_terminal_keeper){.end = -1};
    if (pipe2(ends, O_CLOEXEC))
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* the program's handlers are not the keeper's */
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[1]);
        keep(ends[0], usual, raw);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(ends[0]);
    if (pid < 0) {
        close(ends[1]);
        return;
    }
    keeper->pid = pid;
    keeper->end = ends[1];
}

void pleat_terminal_keeper_end(struct pleat_terminal_keeper *keeper)
{
    if (!keeper->pid)
        return;
    close(keeper->end);
    while (waitpid(keeper->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    keeper->pid = 0;
}
