/* handlers.h - handlers of events, each in the file of what it is about */
#ifndef PLEAT_CORE_HANDLERS_H
#define PLEAT_CORE_HANDLERS_H

#include "core/state.h"

/* 0, PLEAT_CORE_STALE or an error, as pleat_core_apply. Its subject exists (model/events.def). */
#define EVENT(number, kind, name, subject, handler, member, last)                                  \
    int handler(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err);
#define BARE_EVENT(number, kind, name, subject, handler)                                           \
    int handler(struct pleat_core *core, const struct pleat_event *event, struct pleat_error *err);
#include "model/events.def"
#undef EVENT
#undef BARE_EVENT

#endif
