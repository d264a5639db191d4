#include "adapter/pace.h"

#include <stdlib.h>

static void on_time(uv_timer_t *timer);

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* When the next question of all may be asked. */
static uint64_t open_ms(const struct pleat_adapter_pace *pace)
{
    return pace->turns ? pace->asked_ms + pace->interval_ms : 0;
}

/* Waits for the first time at which one of them may be asked. */
static void arm(struct pleat_adapter_pace *pace)
{
    uint64_t first = UINT64_MAX;
    for (int i = 0; i < PLEAT_ADAPTER_QUESTIONS_MAX && pace->questions[i]; i++)
        if (pace->questions[i]->wanted && pace->questions[i]->earliest_ms < first)
            first = pace->questions[i]->earliest_ms;
    if (first == UINT64_MAX)
        return;
    uint64_t now = uv_now(pace->timer.loop), at = later(first, open_ms(pace));
    uv_timer_start(&pace->timer, on_time, at > now ? at - now : 0, 0);
}

static struct pleat_adapter_question *choose(const struct pleat_adapter_pace *pace, uint64_t now)
{
    struct pleat_adapter_question *chosen = NULL;
    for (int i = 0; i < PLEAT_ADAPTER_QUESTIONS_MAX && pace->questions[i]; i++) {
        struct pleat_adapter_question *one = pace->questions[i];
        if (one->wanted && one->earliest_ms <= now && (!chosen || one->turn < chosen->turn))
            chosen = one;
    }
    return chosen;
}

static void on_time(uv_timer_t *timer)
{
    struct pleat_adapter_pace *pace = timer->data;
    struct pleat_adapter_question *question;
    uint64_t now = uv_now(timer->loop);
    while (now >= open_ms(pace) && (question = choose(pace, now))) {
        question->wanted = false;
        if (!question->ask(question->arg))
            continue;
        question->turn = ++pace->turns;
        pace->asked_ms = now;
    }
    arm(pace);
}

void pleat_adapter_pace_open(struct pleat_adapter_pace *pace, uv_loop_t *loop, uint64_t interval_ms)
{
    *pace = (struct pleat_adapter_pace){.interval_ms = interval_ms};
    uv_timer_init(loop, &pace->timer);
    pace->timer.data = pace;
}

void pleat_adapter_pace_want(struct pleat_adapter_pace *pace,
                             struct pleat_adapter_question *question, uint64_t earliest_ms)
{
    int i = 0;
    if (question->wanted)
        return;
    while (i < PLEAT_ADAPTER_QUESTIONS_MAX && pace->questions[i] && pace->questions[i] != question)
        i++;
    if (i == PLEAT_ADAPTER_QUESTIONS_MAX)
        abort(); /* a question was added without room for it */
    pace->questions[i] = question;
    question->wanted = true;
    question->earliest_ms = earliest_ms;
    arm(pace);
}
