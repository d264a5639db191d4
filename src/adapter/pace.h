/* pace.h - questions that the controller is asked again and again, at most one of them in an
 * interval: those that are wanted at one time take turns. What somebody asks for once (an
 * allocation, its release) is not delayed by this.
 */
#ifndef PLEAT_ADAPTER_PACE_H
#define PLEAT_ADAPTER_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include <uv.h>

enum { PLEAT_ADAPTER_QUESTIONS_MAX = 2 };

struct pleat_adapter_question {
    /* From the loop; may want this or another question again. Returns whether it has asked: if
     * there is nothing to ask any more, another one has the turn. */
    bool (*ask)(void *arg);
    void *arg;
    bool wanted;
    uint64_t earliest_ms;
    uint64_t turn; /* of its last asking, counted from 1; 0: not asked yet */
};

struct pleat_adapter_pace {
    uint64_t interval_ms;
    uint64_t asked_ms; /* when the last question was asked */
    uint64_t turns;    /* how many were asked */
    uv_timer_t timer;
    /* borrowed; those without NULL are first */
    struct pleat_adapter_question *questions[PLEAT_ADAPTER_QUESTIONS_MAX];
};

void pleat_adapter_pace_open(struct pleat_adapter_pace *pace, uv_loop_t *loop,
                             uint64_t interval_ms);
/* Has a question asked once, from the loop: when earliest_ms of the loop's time has come, and an
 * interval after the last question of all. Among several whose time has come, the one that was
 * asked longest ago is first. One that is wanted already stays as it was. */
void pleat_adapter_pace_want(struct pleat_adapter_pace *pace,
                             struct pleat_adapter_question *question, uint64_t earliest_ms);

#endif
