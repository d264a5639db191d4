/* courier.h - one courier: its process, its connection, and what comes over that (couriers.h). */
#ifndef PLEAT_DAEMON_COURIER_H
#define PLEAT_DAEMON_COURIER_H

#include <uv.h>

#include "base/array.h"
#include "daemon/couriers.h"

enum { COURIER_STREAMS = 2 };

struct courier {
    struct courier *next;
    struct daemon *d;
    uint64_t run;
    int64_t job;
    bool reads;
    bool truncates;
    bool is_open;
    bool is_asked;                       /* it was told to open, and has not answered */
    bool retries;                        /* it could not open or read; asked again once a second */
    bool waits;                          /* a start waits for it */
    bool said;                           /* users were told that the file cannot be used */
    uv_process_t *process;               /* NULL: it has ended */
    struct pleat_connection *connection; /* NULL: it has not called yet */
    couriers_opened *opened;
    struct pleat_effect start;
    int64_t sent[COURIER_STREAMS], heard[COURIER_STREAMS]; /* numbers of bytes */
};

/* NULL: the run has none of that kind. */
struct courier *courier_find(struct daemon *d, uint64_t run, bool reads);
/* Starts one. *courier is NULL after an error. */
int courier_make(struct daemon *d, int64_t job, uint64_t run, bool reads, struct courier **courier,
                 struct pleat_error *err) PLEAT_MUST_CHECK;
/* Starts the process of one that has none. */
int courier_spawn(struct courier *courier, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Ends it. A process that may hang is killed. */
void courier_destroy(struct courier *courier);

/* Tells it to open its files. If that cannot be said, a start that waits fails, and the courier is
 * gone. */
void courier_ask_to_open(struct courier *courier);
/* Sends a notification. Takes `params`. */
void courier_tell(struct courier *courier, const char *method, json_t *params);
/* Sends *out, unless rc says that it could not be written. Empties it. */
void courier_send(struct courier *courier, struct pleat_string *out, int rc);
/* Has the run's agent tell output (again), or not. */
void courier_let_go(const struct courier *courier, bool go);
/* Tells users once that a file cannot be used, which is tried again. */
void courier_say(struct courier *courier, const char *what, const char *why);

#endif
