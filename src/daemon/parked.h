/* parked.h - answers that wait for something (wait, output --follow) */
#ifndef PLEAT_DAEMON_PARKED_H
#define PLEAT_DAEMON_PARKED_H

#include <uv.h>

struct client;
struct daemon;

struct parked;

struct parked_answers {
    struct parked *first;
    int outputs;     /* of those, that wait for output ... */
    uv_timer_t tail; /* ... which is looked at while there are any */
};

struct output_wish {
    int64_t job, offset;
    char stream[8]; /* "stdout" or "stderr" */
    bool follow;    /* answered when there is something */
    bool paths;     /* the client reads what its user named */
    bool read;      /* ... and has read all of it */
};

void parked_wait(struct client *client, int64_t request, int64_t job);
void parked_output(struct client *client, int64_t request, const struct output_wish *wish);
/* Answers those whose time has come. */
void parked_check(struct daemon *d);
void parked_forget(struct client *client);

#endif
