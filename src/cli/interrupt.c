#include "cli/interrupt.h"

#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t caught;
static volatile sig_atomic_t leave_now;

static void on_signal(int number)
{
    if (caught || leave_now)
        _exit(128 + number);
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

const volatile sig_atomic_t *pleat_interrupt_flag(void)
{
    return &caught;
}

int pleat_interrupt_signal(void)
{
    return (int)caught;
}

void pleat_interrupt_again(void)
{
    leave_now = 1;
}
