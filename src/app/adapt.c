/* adapt.c - the adaptation point, and what the program is asked there. */
#include "app/session.h"
#include "base/clock.h"

int pleat_session_announce(struct pleat_session *session, struct pleat_error *err)
{
    if (session->state != PLEAT_SESSION_OPEN)
        return pleat_error_set(err, PLEAT_E_STATE,
                               "pleat_session_announce comes before pleat_session_begin");
    session->announces = true;
    return 0;
}

int pleat_session_pending(const struct pleat_session *session)
{
    return session->mailbox && session->announces && session->state == PLEAT_SESSION_RUNNING &&
           (pleat_mailbox_pending(&session->self) ||
            session->interval.next == session->self.iteration + 1);
}

void pleat_session_on_offer(struct pleat_session *session, pleat_offer_callback callback, void *arg)
{
    session->on_offer = callback;
    session->on_offer_arg = arg;
}

static void answer(struct pleat_session *session)
{
    struct pleat_mailbox_request request;
    uint32_t size = (uint32_t)session->size;
    if (pleat_mailbox_request(&session->self, &request)) {
        pleat_mailbox_answer(&session->self, size);
        return;
    }
    const struct pleat_offer last = session->offer;
    uint32_t accepted = request.target;
    session->offer = (struct pleat_offer){.from = session->size,
                                          .to = (int)request.target,
                                          .mandatory = request.mandatory,
                                          .occasion = (enum pleat_occasion)request.occasion};
    if (session->on_offer && !request.mandatory) {
        int wanted =
            session->on_offer(session->size, (int)request.target, 0, session->on_offer_arg);
        uint32_t low = size < request.target ? size : request.target;
        uint32_t high = size < request.target ? request.target : size;
        accepted = wanted < (int)low ? low : (uint32_t)wanted > high ? high : (uint32_t)wanted;
    } else if (session->on_offer) {
        /* The program is told, but cannot refuse. */
        (void)session->on_offer(session->size, (int)request.target, 1, session->on_offer_arg);
    }
    session->offer = last;
    pleat_mailbox_answer(&session->self, accepted);
}

/* Something happens at this point: a question, a change, or a copy is saved. */
static int look_closer(struct pleat_session *session, int point, int arrival, bool meets,
                       struct pleat_error *err)
{
    const int64_t before = session->point.at;
    int code = PLEAT_SAME;
    session->point.at = point; /* a part of what is saved */
    if (arrival == PLEAT_ARRIVAL_QUIET || arrival == PLEAT_ARRIVAL_ANSWER) {
        if (arrival == PLEAT_ARRIVAL_ANSWER)
            answer(session);
        if (meets)
            code = pleat_interval_save(session, err);
    } else if (arrival == PLEAT_ARRIVAL_ENTER) {
        code = pleat_resize_enter(session, err);
    } else {
        session->state = PLEAT_SESSION_BROKEN;
        code = pleat_error_set(err, arrival,
                               "the mailbox contradicts itself: do all ranks pass the same number "
                               "of adaptation points?");
    }
    if (code == PLEAT_SAME)
        session->point.at = before;
    session->last_ns = pleat_clock_monotonic_ns();
    return code;
}

static inline __attribute__((always_inline)) int pass(struct pleat_session *session, int point,
                                                      struct pleat_error *err)
{
    if (__builtin_expect(session->state != PLEAT_SESSION_RUNNING, 0))
        return pleat_error_set(err, PLEAT_E_STATE,
                               "an adaptation point outside of pleat_session_begin and the end");
    if (!session->mailbox)
        return PLEAT_SAME;
    int64_t now = pleat_clock_monotonic_ns();
    session->busy_ns += (uint64_t)(now - session->last_ns);
    session->last_ns = now;
    if (point) {
        pleat_points_count(session, point);
        if (!session->points[point - 1].resizes)
            return PLEAT_SAME;
    }
    double took_us = (double)(session->busy_ns - session->counted_ns) * 1e-3;
    session->counted_ns = session->busy_ns;
    session->busy_squares += took_us * took_us;
    pleat_mailbox_publish_squares(&session->self, session->busy_squares);
    pleat_mailbox_publish(&session->self, session->busy_ns, ++session->busy_count);
    int arrival = pleat_mailbox_arrive(&session->self);
    if (__builtin_expect(
            atomic_load_explicit(&pleat_asked_for_checkpoint, memory_order_relaxed) != 0, 0))
        pleat_asked_tell(session);
    bool meets = session->self.iteration >= session->interval.next;
    if (__builtin_expect(arrival == PLEAT_ARRIVAL_QUIET && !meets, 1))
        return PLEAT_SAME;
    return look_closer(session, point, arrival, meets, err);
}

int pleat_session_adapt(struct pleat_session *session, struct pleat_error *err)
{
    return pass(session, 0, err);
}

int pleat_point_adapt(struct pleat_session *session, int point, struct pleat_error *err)
{
    if (__builtin_expect(point < 1 || point > session->point_count, 0))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "there is no adaptation point %d: %d are registered", point,
                               session->point_count);
    return pass(session, point, err);
}
