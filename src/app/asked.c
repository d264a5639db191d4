/* A signal that asks for a checkpoint (PLEAT_CHECKPOINT_SIGNAL). The handler only takes note of the
 * signal. The rank tells the agent at its next adaptation point; the checkpoint is written at a
 * later one. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "app/session.h"

atomic_int pleat_asked_for_checkpoint;

static int number; /* number of the signal that is handled here; 0: none is */
static struct sigaction before;

static void on_signal(int which, siginfo_t *info, void *context)
{
    int error = errno;
    atomic_store(&pleat_asked_for_checkpoint, 1);
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(which, info, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
        before.sa_handler(which);
    errno = error;
}

void pleat_asked_begin(const struct pleat_session *session)
{
    const char *text = getenv(PLEAT_CHECKPOINT_SIGNAL_ENV);
    struct sigaction action;
    int wanted = session->mailbox && text ? atoi(text) : 0;
    if (number || wanted <= 0)
        return;
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    if (sigaction(wanted, NULL, &before) == 0 && sigaction(wanted, &action, NULL) == 0)
        number = wanted;
}

bool pleat_asked_take(void)
{
    return atomic_exchange(&pleat_asked_for_checkpoint, 0) != 0;
}

void pleat_asked_tell(struct pleat_session *session)
{
    if (pleat_asked_take())
        pleat_mailbox_want(&session->self);
}

void pleat_asked_again(bool taken)
{
    if (taken)
        atomic_store(&pleat_asked_for_checkpoint, 1);
}

void pleat_asked_finish(struct pleat_session *session)
{
    if (!number)
        return;
    (void)sigaction(number, &before, NULL);
    number = 0;
    if (session->state == PLEAT_SESSION_LEAVING)
        pleat_asked_tell(session);
}
