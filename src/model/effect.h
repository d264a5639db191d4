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
#include "base/error.h"
#include "model/types.h"

/* What each one asks for, or says: model/effects.def. */
enum pleat_effect_kind {
#define EFFECT(kind, number, name, member) PLEAT_##kind = (number),
#include "model/effects.def"
#undef EFFECT
    PLEAT_EFFECT_COUNT = 128 /* all numbers are below */
};

enum { PLEAT_EFFECT_FIRST_NOTE = PLEAT_NOTE_STATE };

struct pleat_effect {
    int64_t time_us;
    uint64_t id; /* of the claim or of the resize; of the run for START, KILL and SIGNAL; of
                  * STAGE, its own */
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
            uint64_t run; /* PREPARE, UNPREPARE: the run that the process is, or was to be, of */
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
            uint32_t site, node;
        } reach;
        struct {
            uint32_t site, node;
            uint32_t shut;
        } node;
        struct {
            int32_t number;
            uint32_t script_only;
        } signal;
        struct {
            uint64_t run;
            uint32_t number;
            int32_t wanted, processors; /* what the application asked for; what it has */
            uint8_t state, reason;      /* enum pleat_ask_state, enum pleat_ask_reason */
            uint8_t mandatory, unbegun;
        } asked;
        struct {
            uint32_t from, to;
            uint32_t reason;
        } state;
        uint8_t bytes[40];
    } u;
};

_Static_assert(sizeof(struct pleat_effect) == 64, "effects are copied about by the million");

PLEAT_ARRAY(pleat_effects, struct pleat_effect);

/* What a driver answers that cannot carry an effect out: 0 for a note, which asks for nothing;
 * otherwise PLEAT_E_UNSUPPORTED, and err has `who` (the driver: "pleatd", ...) and the effect's
 * name. */
int pleat_effect_unsupported(const struct pleat_effect *effect, const char *who,
                             struct pleat_error *err);

#endif
