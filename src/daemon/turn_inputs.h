/* turn_inputs.h - inputs of a turn, and what waits until the turn is written */
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
    int32_t before;          /* REPLY_RESIZE: the size before */
    json_t *spec_json;       /* SUBMIT: owned */
    struct pleat_spec *spec; /* SUBMIT: owned */
};

PLEAT_ARRAY(inputs, struct input);

/* An answer that must not leave before the turn is written. Owns `out`. */
struct held_reply {
    struct client *client;
    struct pleat_string out;
};

PLEAT_ARRAY(held_replies, struct held_reply);

struct turn {
    struct inputs inputs;
    struct pleat_events records; /* events applied, but not yet written */
    struct pleat_effects effects;
    struct held_replies replies;
    bool holding; /* the store cannot be written */
    struct pleat_error holding_why;
    uint64_t number; /* how many turns had inputs */
    uint32_t next_size_list;
    struct {
        int64_t job;            /* number of its first task; 0: that task was refused */
        uint32_t group;         /* the array's group in the core */
        struct pleat_error why; /* why the first task was refused */
    } array;                    /* the job array that is being submitted in this turn */

    uv_idle_t busy; /* keeps the loop from sleeping while inputs wait */
    uv_check_t check;
    uv_timer_t collect; /* runs while a turn waits for more inputs that share its commit */
    bool collected;     /* `collect` has run out */
    int64_t commit_us;  /* how long the last commit took */
    uv_timer_t deadline, retry;
};

/* Queues an input, and takes over what it owns. If memory is short it is dropped (logged). */
void turn_input(struct daemon *d, const struct input *input);
void turn_event(struct daemon *d, const struct pleat_event *event);
/* Has a turn run as soon as the loop goes on: there is something to write, or to answer. */
void turn_want(struct daemon *d);
/* Whether a turn would have nothing to write, and nothing to answer. */
bool turn_is_quiet(const struct daemon *d);
/* Applies an event at once, and has it written with the next turn. Returns as pleat_core_apply. */
int turn_apply(struct daemon *d, const struct pleat_event *event, struct pleat_error *err);
/* Has an event that was applied written with the next turn. */
void turn_record(struct daemon *d, const struct pleat_event *event);
/* Makes notes of the effects from index `first` on. To be called at once, while the claims are as
 * the effects found them. */
void turn_take_notes(struct daemon *d, size_t first);
/* False: the job's submission is applied, but the log cannot be written now. */
bool turn_has_taken(const struct daemon *d, int64_t job);
/* Sends an answer when the next turn is written. turn_reply takes `result`; turn_hold_reply takes
 * `out`. */
void turn_reply(struct daemon *d, struct client *client, int64_t request, json_t *result);
void turn_hold_reply(struct daemon *d, struct client *client, struct pleat_string *out);

#endif
