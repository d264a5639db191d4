/* notify.h - runs the commands that users want run when something happens to their jobs (--notify)
 */
#ifndef PLEAT_DAEMON_NOTIFY_H
#define PLEAT_DAEMON_NOTIFY_H

#include <uv.h>

struct daemon;
struct made_note;

struct notification;

struct notifications {
    struct notification *first, **last; /* last: where to append; NULL: at `first` */
    int waiting, running;
    uv_timer_t starter;
    bool starter_ready;
};

void notify_note(struct daemon *d, const struct made_note *note);
/* notify_busy: whether any command runs or waits to be run; notify_has: whether one of that job
 * does. The job may have been let go of. */
bool notify_busy(const struct daemon *d);
bool notify_has(const struct daemon *d, int64_t job);
/* Gives the commands a short time to end. Blocks. */
void notify_finish(struct daemon *d);

#endif
