/* effect.h - what the core asks of the world, as records of 64 bytes.
 *
 * Effects are carried out only after the events that caused them are in the log. After a restart
 * the core gives the effects that are still unanswered again, so whoever carries them out must
 * take a repeated one (same claim, same resize, same run) as already known.
 * NOTE effects ask for nothing: they say what happened, in the words of people.
 */
#ifndef PLEAT_MODEL_EFFECT_H
#define PLEAT_MODEL_EFFECT_H

#include <stdint.h>

#include "base/array.h"
#include "model/types.h"

enum pleat_effect_kind {
    /* sites */
    PLEAT_DO_CLAIM = 1, /* claim: get `count` processors */
    PLEAT_DO_SPLIT,     /* claim: its last `count` processors become claim `into`; no answer */
    PLEAT_DO_RELEASE,   /* claim: give the last `count` back (also of a claim still requested) */
    /* runners */
    PLEAT_DO_START,    /* run */
    PLEAT_DO_ASK,      /* change: what do you accept? */
    PLEAT_DO_RESIZE,   /* change */
    PLEAT_DO_WITHDRAW, /* change */
    PLEAT_DO_KILL,     /* run.reason */
    PLEAT_DO_RELAUNCH, /* change: end what is left of the run, start it again from its last state */
    PLEAT_DO_STAGE = 10,     /* stage: bring its files to its site. What was asked for before under
                              * another id is not wanted any more */
    PLEAT_DO_PROCESSES = 11, /* claim: the prepared processes on it are the application's now: the
                              * answer to ADD_PROCESS; without this effect the request failed */
    PLEAT_DO_REACH = 12, /* reach: its agent is away, and something waits for it: see that there is
                          * one. What it is to do is said once AGENT_BACK was applied */
    /* notes */
    PLEAT_NOTE_STATE = 64, /* state: a component changed its state */
    PLEAT_NOTE_CLAIM,      /* claim: its state or purpose changed (look at it: pieces, owner) */
    PLEAT_NOTE_RESIZE,     /* change: a resize went one step on, or ended (outcome) */
    PLEAT_NOTE_SIZE,       /* run: the component now runs at this size */
    PLEAT_NOTE_LIMITS,     /* change: processors = minimum, processes = maximum */
    PLEAT_NOTE_WARNING     /* change: outcome BAD_ANSWER: the application's answer made no sense and
                            * was ignored; NOT_HONOURED: the notice of a mandatory shrink is over,
                            * after the grace it is enforced; RELAUNCHED: from its beginning, as no
                            * state of it was held */
};

struct pleat_effect {
    int64_t time_us;
    uint64_t id; /* of the claim or of the resize; of the run for START, KILL and STAGE */
    uint16_t kind;
    uint16_t flags; /* of a resize: PLEAT_MANDATORY, PLEAT_BY_USER of model/event.h */
    uint32_t component;
    union {
        struct {
            uint64_t into;
            uint32_t site;
            uint32_t index; /* the claim's place in the core, for looking at it */
            int32_t count;
            uint8_t state, purpose;
        } claim;
        struct {
            int32_t processors, processes;
            uint32_t reason;
            int32_t code, signal;
        } run;
        struct {
            uint64_t run;
            int32_t from;
            int32_t processors, processes; /* the size aimed at */
            int32_t offered, accepted;
            uint8_t step, outcome;
            uint8_t reason; /* of a relaunch: enum pleat_reason, else NONE */
            uint32_t waiter;
        } change;
        struct {
            uint32_t site;
            int64_t expected_us; /* when they should be there */
        } stage;
        struct {
            uint32_t site;
        } reach;
        struct {
            uint32_t from, to;
            uint32_t reason;
        } state;
        uint8_t bytes[40];
    } u;
};

_Static_assert(sizeof(struct pleat_effect) == 64, "effects are copied about by the million");

PLEAT_ARRAY(pleat_effects, struct pleat_effect);

#endif
