/* mailbox-asks.c - what the application asks for, and the answer; and what it expects. */
#include <string.h>

#include "shm/mailbox-word.h"

#define WORDS (PLEAT_MAILBOX_REASON / 8)
#define LOOKS 8
#define MANDATORY (UINT64_C(1) << 31)

static uint64_t ask_word(const struct pleat_mailbox_ask *ask)
{
    return (uint64_t)ask->number << 32 | (ask->mandatory ? MANDATORY : 0) |
           (ask->wanted & (MANDATORY - 1));
}

void pleat_mailbox_get_ask(const struct pleat_mailbox *mailbox, struct pleat_mailbox_ask *ask)
{
    uint64_t word = atomic_load(&mailbox->segment->ask);
    ask->number = (uint32_t)(word >> 32);
    ask->mandatory = word & MANDATORY;
    ask->wanted = (uint32_t)(word & (MANDATORY - 1));
    ask->limit_us = atomic_load(&mailbox->segment->ask_limit_us);
}

void pleat_mailbox_carry_ask(struct pleat_mailbox *mailbox, const struct pleat_mailbox_ask *ask)
{
    atomic_store(&mailbox->segment->ask_limit_us, ask->limit_us);
    atomic_store(&mailbox->segment->ask, ask_word(ask));
}

void pleat_mailbox_answer_ask(struct pleat_mailbox *mailbox, uint32_t number, bool granted,
                              const char *reason)
{
    struct pleat_mailbox_segment *segment = mailbox->segment;
    uint64_t copy[WORDS] = {0};
    size_t length = strlen(reason);
    memcpy(copy, reason, length < sizeof(copy) ? length : sizeof(copy) - 1);
    atomic_fetch_add(&segment->answers, 1); /* odd: what follows is half of two answers */
    atomic_store(&segment->answered, number);
    atomic_store(&segment->granted, granted);
    for (size_t i = 0; i < WORDS; i++)
        atomic_store(&segment->reason[i], copy[i]);
    atomic_fetch_add(&segment->answers, 1);
}

void pleat_mailbox_ask_for(struct pleat_mailbox_rank *self, uint32_t wanted, bool mandatory,
                           uint64_t limit_us)
{
    struct pleat_mailbox_ask ask;
    pleat_mailbox_get_ask(self->mailbox, &ask);
    ask.number++;
    ask.wanted = wanted;
    ask.mandatory = mandatory;
    self->asked = wanted ? ask.number : 0;
    atomic_store(&self->mailbox->segment->ask_limit_us, limit_us);
    atomic_store(&self->mailbox->segment->ask, ask_word(&ask));
    pleat_mailbox_ring(self);
}

/* The latest answer; false: the agent is writing it. */
static bool read_answer(const struct pleat_mailbox_segment *segment, uint32_t *number,
                        bool *granted, uint64_t reason[WORDS])
{
    for (int look = 0; look < LOOKS; look++) {
        uint32_t before = atomic_load(&segment->answers);
        *number = atomic_load(&segment->answered);
        *granted = atomic_load(&segment->granted) != 0;
        for (size_t i = 0; i < WORDS; i++)
            reason[i] = atomic_load(&segment->reason[i]);
        if (before % 2 == 0 && atomic_load(&segment->answers) == before)
            return true;
    }
    return false;
}

enum pleat_mailbox_asked pleat_mailbox_asked(const struct pleat_mailbox_rank *self, bool inherits,
                                             char reason[PLEAT_MAILBOX_REASON])
{
    struct pleat_mailbox_ask ask;
    uint64_t text[WORDS];
    uint32_t answered = 0;
    bool granted = false;
    pleat_mailbox_get_ask(self->mailbox, &ask);
    reason[0] = '\0';
    if (ask.wanted == 0 || !(inherits || self->asked == ask.number))
        return PLEAT_MAILBOX_ASKED_NOTHING;
    if (!read_answer(self->mailbox->segment, &answered, &granted, text) || answered != ask.number)
        return PLEAT_MAILBOX_ASKED_PENDING;
    memcpy(reason, text, sizeof(text));
    reason[PLEAT_MAILBOX_REASON - 1] = '\0';
    return granted ? PLEAT_MAILBOX_ASKED_GRANTED : PLEAT_MAILBOX_ASKED_REFUSED;
}

void pleat_mailbox_expect(struct pleat_mailbox_rank *self,
                          const struct pleat_mailbox_expectation *expectation)
{
    struct pleat_mailbox_segment *segment = self->mailbox->segment;
    atomic_fetch_add(&segment->expects, 1); /* odd: what follows is half of two */
    atomic_store(&segment->expected_end_us, expectation->end_us);
    atomic_store(&segment->expected_iteration, expectation->iteration);
    atomic_store(&segment->expected_bytes, expectation->bytes);
    atomic_fetch_add(&segment->expects, 1);
}

bool pleat_mailbox_get_expectation(const struct pleat_mailbox *mailbox,
                                   struct pleat_mailbox_expectation *expectation)
{
    const struct pleat_mailbox_segment *segment = mailbox->segment;
    for (int look = 0; look < LOOKS; look++) {
        uint64_t before = atomic_load(&segment->expects);
        expectation->end_us = atomic_load(&segment->expected_end_us);
        expectation->iteration = atomic_load(&segment->expected_iteration);
        expectation->bytes = atomic_load(&segment->expected_bytes);
        if (before % 2 == 0 && atomic_load(&segment->expects) == before)
            return before != 0;
    }
    return false;
}

/* ---- too few ranks to begin ---- */

void pleat_mailbox_lack(struct pleat_mailbox_rank *self, uint32_t least)
{
    atomic_store(&self->mailbox->segment->lacks, 1); /* first: the ask rings for both */
    pleat_mailbox_ask_for(self, least, true, 0);
}

void pleat_mailbox_decide(struct pleat_mailbox *mailbox, enum pleat_mailbox_verdict verdict)
{
    _Atomic uint32_t *word = &mailbox->segment->verdict;
    atomic_store(word, (uint32_t)verdict);
    pleat_word_wake(word);
}

enum pleat_mailbox_verdict pleat_mailbox_await(const struct pleat_mailbox_rank *self,
                                               char reason[PLEAT_MAILBOX_REASON])
{
    _Atomic uint32_t *word = &self->mailbox->segment->verdict;
    uint64_t text[WORDS] = {0};
    uint32_t number = 0;
    bool granted = false;
    while (atomic_load(word) == PLEAT_VERDICT_NONE)
        pleat_word_sleep(word, PLEAT_VERDICT_NONE);
    if (atomic_load(word) == PLEAT_VERDICT_LEAVE)
        return PLEAT_VERDICT_LEAVE;
    (void)read_answer(self->mailbox->segment, &number, &granted, text);
    memcpy(reason, text, sizeof(text));
    reason[PLEAT_MAILBOX_REASON - 1] = '\0';
    return PLEAT_VERDICT_REFUSED;
}
