/* turn_inputs.h - what comes into a turn, and what waits until it is written */
#ifndef PLEAT_DAEMON_TURN_INPUTS_H
#define PLEAT_DAEMON_TURN_INPUTS_H

#include <jansson.h>
#include <uv.h>

#include "base/array.h"
#include "core/core.h"

struct client;
struct daemon;
struct pleat_spec;

enum reply_kind { REPLY_NONE, REPLY_EMPTY, REPLY_SUBMIT, REPLY_RESIZE };

struct input {
    struct pleat_event event;
    struct client *client; /* NULL: nobody waits for an answer */
    int64_t request;
    enum reply_kind reply;
    int32_t before;          /* REPLY_RESIZE */
    json_t *spec_json;       /* SUBMIT: owned */
    struct pleat_spec *spec; /* SUBMIT: owned */
};

PLEAT_ARRAY(inputs, struct input);

/* An answer that must not leave before the turn is written. */
struct held_reply {
    struct client *client;
    struct pleat_string out;
};

PLEAT_ARRAY(held_replies, struct held_reply);

struct turn {
    struct inputs inputs;
    struct pleat_events records; /* applied, not yet written */
    struct pleat_effects effects;
    struct held_replies replies;
    bool holding; /* the store cannot write */
    struct pleat_error holding_why;
    uint64_t number; /* counts those with inputs */
    uint32_t next_size_list;
    struct {
        int64_t job;            /* its first task; 0: that was refused, ... */
        uint32_t group;         /* in the core */
        struct pleat_error why; /* ... since */
    } array;                    /* that is being submitted in this turn */

    uv_idle_t busy; /* keeps the loop from sleeping while inputs wait */
    uv_check_t check;
    uv_timer_t collect; /* runs while a turn waits for more inputs to share its commit */
    bool collected;     /* it has run out */
    int64_t commit_us;  /* how long the last commit took */
    uv_timer_t deadline, retry;
};

/* Queues an input; takes over what it owns. */
void turn_input(struct daemon *d, const struct input *input);
void turn_event(struct daemon *d, const struct pleat_event *event);
/* There is something to write, or to answer: a turn runs as soon as the loop goes on. */
void turn_want(struct daemon *d);
/* Nothing is there that a turn would write, or answer. */
bool turn_is_quiet(const struct daemon *d);
/* Applies an event at once, and has it written with the turn that runs next. As pleat_core_apply.
 */
int turn_apply(struct daemon *d, const struct pleat_event *event, struct pleat_error *err);
/* It was applied: it is written with the turn. */
void turn_record(struct daemon *d, const struct pleat_event *event);
/* Notes of the effects from `first` on: at once, while claims are as the effect found them. */
void turn_take_notes(struct daemon *d, size_t first);
/* False: the job's submission waits for the log, which cannot be written now. */
bool turn_has_taken(const struct daemon *d, int64_t job);
/* An answer that leaves when the turn that runs next is written. Takes the result; takes `out`. */
void turn_reply(struct daemon *d, struct client *client, int64_t request, json_t *result);
void turn_hold_reply(struct daemon *d, struct client *client, struct pleat_string *out);

#endif
