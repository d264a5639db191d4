/* parked.h - answers that wait for something: for the end of jobs (`wait`), for more output
 * (`output`)
 */
#ifndef PLEAT_DAEMON_PARKED_H
#define PLEAT_DAEMON_PARKED_H

#include <uv.h>

struct client;
struct daemon;

struct parked;

struct parked_answers {
    struct parked *first;
    int outputs;     /* how many of them wait for output */
    uv_timer_t tail; /* looks at that output, while any answer waits for it */
};

struct output_wish {
    int64_t job, offset;
    char stream[8]; /* "stdout" or "stderr" */
    bool follow;    /* answer only when there is more output */
    bool paths;     /* the client reads files that the user named itself */
    bool read;      /* with `paths`: the client has read all that is there */
};

void parked_wait(struct client *client, int64_t request, int64_t job);
void parked_output(struct client *client, int64_t request, const struct output_wish *wish);
/* Answers the requests that need not wait any longer. */
void parked_check(struct daemon *d);
void parked_forget(struct client *client);

#endif
