/* asking.c - the program asks for more ranks, or gives some back, and gets an answer; and it says
 * what it expects of its run. */
#include <math.h>

#include "app/session.h"
#include "base/clock.h"
#include "model/sizes.h"

_Static_assert((int)PLEAT_ASKED_NOTHING == (int)PLEAT_MAILBOX_ASKED_NOTHING &&
                   (int)PLEAT_ASKED_PENDING == (int)PLEAT_MAILBOX_ASKED_PENDING &&
                   (int)PLEAT_ASKED_GRANTED == (int)PLEAT_MAILBOX_ASKED_GRANTED &&
                   (int)PLEAT_ASKED_REFUSED == (int)PLEAT_MAILBOX_ASKED_REFUSED,
               "the mailbox's states are the program's");

static void want(struct pleat_session *session, int ranks, bool mandatory, double seconds)
{
    session->asks = ranks > 0;
    if (session->mailbox && session->rank == 0)
        pleat_mailbox_ask_for(&session->self, (uint32_t)ranks, mandatory,
                              (uint64_t)(seconds * 1e6));
}

void pleat_session_want(struct pleat_session *session, int ranks, bool mandatory)
{
    want(session, ranks, mandatory, 0);
}

static int check_more(const struct pleat_session *session, int more, const char *function,
                      struct pleat_error *err)
{
    int code = pleat_session_check_running(session, function, err);
    if (code)
        return code;
    if (more < 0 || more > PLEAT_SIZE_MAX - session->size)
        return pleat_error_set(err, PLEAT_E_INVALID, "a program of %d ranks cannot ask for %d more",
                               session->size, more);
    return 0;
}

int pleat_session_ask(struct pleat_session *session, int more, int mandatory,
                      struct pleat_error *err)
{
    int code = check_more(session, more, "pleat_session_ask", err);
    if (code)
        return code;
    pleat_session_want(session, more ? session->size + more : 0, mandatory != 0);
    return 0;
}

int pleat_session_ask_within(struct pleat_session *session, int more, double seconds,
                             struct pleat_error *err)
{
    int code = check_more(session, more, "pleat_session_ask_within", err);
    if (code)
        return code;
    if (more == 0 || !(seconds >= 1e-3 && seconds <= 1e9))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a program cannot ask for %d more ranks within %g seconds", more,
                               seconds);
    want(session, session->size + more, true, seconds);
    return 0;
}

int pleat_session_give_back(struct pleat_session *session, int fewer, struct pleat_error *err)
{
    int code = pleat_session_check_running(session, "pleat_session_give_back", err);
    if (code)
        return code;
    if (fewer < 1 || fewer >= session->size)
        return pleat_error_set(err, PLEAT_E_INVALID, "a program of %d ranks cannot give back %d",
                               session->size, fewer);
    pleat_session_want(session, session->size - fewer, false);
    return 0;
}

int pleat_session_asked(const struct pleat_session *session, struct pleat_error *why)
{
    char reason[PLEAT_MAILBOX_REASON] = "";
    if (why)
        *why = (struct pleat_error){0};
    if (session->rank != 0)
        return PLEAT_ASKED_NOTHING;
    if (session->mailbox) {
        int asked = (int)pleat_mailbox_asked(&session->self, session->resumed, reason);
        if (reason[0])
            pleat_error_set(why, asked == PLEAT_ASKED_REFUSED ? PLEAT_E_STATE : 0, "%s", reason);
        return asked;
    }
    if (!session->asks)
        return PLEAT_ASKED_NOTHING;
    pleat_error_set(why, PLEAT_E_STATE,
                    "the program was not started by Pleat: its size does not change");
    return PLEAT_ASKED_REFUSED;
}

int pleat_session_expect(struct pleat_session *session, double seconds, int64_t iterations,
                         int64_t bytes, struct pleat_error *err)
{
    const double longest = 1e9; /* 30 years */
    int code = pleat_session_check_running(session, "pleat_session_expect", err);
    if (code)
        return code;
    if (!isfinite(seconds) || seconds > longest || iterations > (int64_t)1 << 40)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "a program cannot expect to compute for %g seconds or %lld "
                               "iterations more",
                               seconds, (long long)iterations);
    struct pleat_mailbox_expectation expectation = {
        .bytes = bytes < 0 ? pleat_session_bytes(session) : (uint64_t)bytes};
    if (seconds >= 0)
        expectation.end_us = pleat_clock_real_us() + (int64_t)(seconds * 1e6);
    else if (iterations >= 0)
        expectation.iteration = session->self.iteration + (uint64_t)iterations;
    if (session->mailbox && session->rank == 0)
        pleat_mailbox_expect(&session->self, &expectation);
    return 0;
}
