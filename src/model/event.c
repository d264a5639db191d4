#include "model/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* From the union's first byte to the last one of a field. */
#define USED(member, last)                                                                         \
    (offsetof(struct pleat_event, u.member.last) +                                                 \
     sizeof(((struct pleat_event *)0)->u.member.last) - offsetof(struct pleat_event, u))

static const struct {
    const char *name;
    size_t used; /* bytes of the union */
} kinds[PLEAT_EV_COUNT] = {
#define EVENT(number, kind, name, subject, handler, member, last)                                  \
    [PLEAT_EV_##kind] = {name, USED(member, last)},
#define BARE_EVENT(number, kind, name, subject, handler) [PLEAT_EV_##kind] = {name, 0},
#include "model/events.def"
#undef EVENT
#undef BARE_EVENT
};

static bool is_known(unsigned kind)
{
    return kind < PLEAT_EV_COUNT && kinds[kind].name;
}

const char *pleat_event_name(unsigned kind)
{
    return is_known(kind) ? kinds[kind].name : "?";
}

void pleat_event_clean(struct pleat_event *event)
{
    if (!is_known(event->kind))
        return; /* a kind that is not known may use all of the union */
    size_t used = kinds[event->kind].used;
    memset(event->u.bytes + used, 0, sizeof(event->u.bytes) - used);
}
