#include "cli/common/interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static atomic_int caught; /* threads read it, too */
static atomic_int leave_now;
static const char *volatile doomed;     /* removed before a signal ends the program */
static void (*volatile last_act)(void); /* called before a signal ends the program */

static void on_signal(int number)
{
    const char *path = doomed;
    void (*act)(void) = last_act;
    if (caught || leave_now) {
        if (act)
            act();
        if (path)
            (void)unlink(path);
        _exit(128 + number);
    }
    caught = number;
}

void pleat_interrupt_catch(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal}, before;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

const atomic_int *pleat_interrupt_flag(void)
{
    return &caught;
}

int pleat_interrupt_signal(void)
{
    return (int)caught;
}

void pleat_interrupt_reset(void)
{
    caught = 0;
}

void pleat_interrupt_again(void)
{
    leave_now = 1;
}

void pleat_interrupt_do(void (*act)(void))
{
    last_act = act;
}

void pleat_interrupt_remove(const char *path)
{
    doomed = path;
}
