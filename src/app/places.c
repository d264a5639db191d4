/* Where in a state things are (shm/state.h): each object on a page of its own, then the values,
 * then the tail: objects whose size changes. */
#include "app/session.h"

#define PAGE 4096u

static uint64_t page_up(uint64_t offset)
{
    return (offset + PAGE - 1) / PAGE * PAGE;
}

uint64_t pleat_session_room(const struct pleat_session *session)
{
    return page_up(session->objects_bytes);
}

int pleat_session_window(struct pleat_session *session, uint64_t *window, struct pleat_error *err)
{
    if (session->windows == PLEAT_STATE_WINDOWS)
        return pleat_error_set(err, PLEAT_E_TOOBIG, "there are %d arrays already",
                               PLEAT_STATE_WINDOWS);
    *window = PLEAT_STATE_WINDOW_FIRST + session->windows * PLEAT_STATE_WINDOW;
    session->windows++;
    return 0;
}

uint64_t pleat_session_values_at(const struct pleat_session *session)
{
    return page_up(session->objects_bytes);
}

uint64_t pleat_session_tail_at(const struct pleat_session *session)
{
    return page_up(page_up(session->objects_bytes) + session->values_bytes);
}

bool pleat_session_has_tail(const struct pleat_session *session)
{
    bool has = false;
    for (const struct pleat_object *object = session->objects; object; object = object->next)
        has |= object->tail != NULL;
    return has;
}

uint64_t pleat_session_bytes(const struct pleat_session *session)
{
    if (!pleat_session_has_tail(session))
        return page_up(session->objects_bytes) + session->values_bytes;
    uint64_t bytes = pleat_session_tail_at(session);
    for (const struct pleat_object *object = session->objects; object; object = object->next)
        bytes += object->tail ? object->tail->bytes(object) : 0;
    return bytes;
}
