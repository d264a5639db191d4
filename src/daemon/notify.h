/* notify.h - users' commands when something happens to their jobs */
#ifndef PLEAT_DAEMON_NOTIFY_H
#define PLEAT_DAEMON_NOTIFY_H

#include <uv.h>

struct daemon;
struct made_note;

struct notification;

struct notifications {
    struct notification *first, **last; /* last: where the next one goes; NULL: to `first` */
    int waiting, running;
    uv_timer_t starter;
    bool starter_ready;
};

void notify_note(struct daemon *d, const struct made_note *note);
/* Commands run, or wait to be run: any; of that job, which may have been let go of. */
bool notify_busy(const struct daemon *d);
bool notify_has(const struct daemon *d, int64_t job);
/* Lets them come to their end, for a short time. */
void notify_finish(struct daemon *d);

#endif
