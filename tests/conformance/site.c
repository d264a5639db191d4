/* The contract of src/site/site.h, over every site. */
#include "host.h"

#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "fake_site.h"
#include "model/records.h"
#include "played_slurm.h"

enum { PROCESSORS = 8, SITE = 3 };

struct subject {
    const char *what;
    const struct pleat_site_ops *ops;
    struct pleat_fake_site_options fake;
    bool moody; /* the site fails, gives less or takes processors away: only rules that hold
                 * nevertheless are checked */
    /* each claim has a node of its own, with slots from 0 on, and waits where not enough is free */
    bool apart;
    int hosts;                  /* of a cluster */
    const char *option, *value; /* of a real kind; NULL: all as usual */
};

static const struct subject subjects[] = {
    {.what = "local", .ops = &pleat_site_local},
    {.what = "fake, at once", .ops = &pleat_site_fake},
    {.what = "local, slow", .ops = &pleat_site_local, .option = "claim_delay_s", .value = "2.5"},
    {.what = "fake, slow",
     .ops = &pleat_site_fake,
     .fake = {.seed = 1, .claim_delay_us = 5000000, .release_delay_us = 3000000}},
    {.what = "fake, has a queue",
     .ops = &pleat_site_fake,
     .fake = {.seed = 5,
              .claim_delay_us = 1000,
              .release_delay_us = 1000,
              .queues = 0.7,
              .queue_us = 7200000000,
              .patience_us = 9000000000}},
    {.what = "fake, brings agents",
     .ops = &pleat_site_fake_bringing,
     .fake =
         {.seed = 6, .claim_delay_us = 1000, .release_delay_us = 1000, .agent_limit_us = 60000000}},
    {.what = "slurm", .ops = &pleat_site_slurm, .apart = true, .hosts = 1},
    {.what = "slurm, four hosts", .ops = &pleat_site_slurm, .apart = true, .hosts = 4},
    {.what = "gridengine", .ops = &pleat_site_gridengine, .apart = true, .hosts = 1},
    {.what = "gridengine, four hosts", .ops = &pleat_site_gridengine, .apart = true, .hosts = 4},
    {.what = "fake, refuses",
     .ops = &pleat_site_fake,
     .fake = {.seed = 2, .claim_delay_us = 1000, .fail = 0.5},
     .moody = true},
    {.what = "fake, gives less",
     .ops = &pleat_site_fake,
     .fake = {.seed = 3, .claim_delay_us = 1000, .partial = 0.5},
     .moody = true},
    {.what = "fake, takes away",
     .ops = &pleat_site_fake,
     .fake = {.seed = 4, .claim_delay_us = 1000, .lose = 0.5, .lose_delay_us = 2000},
     .moody = true},
};

struct bed {
    const struct subject *subject;
    struct played_host host;
    struct pleat_site_instance *site;
    void *own; /* options of a real kind */
    struct played_slurm slurm;
};

static void open_bed(struct bed *bed, const struct subject *subject)
{
    bed->subject = subject;
    played_host_init(&bed->host);
    bed->host.agent_us = 5000;
    played_slurm_init(&bed->slurm, PROCESSORS, subject->hosts);
    bed->slurm.role = subject->ops->name;
    bed->host.programs = &bed->slurm.programs;
    bool fakes = subject->ops == &pleat_site_fake || subject->ops == &pleat_site_fake_bringing;
    assert_int_equal(pleat_site_own_make(subject->ops, &bed->own), 0);
    if (subject->option)
        assert_int_equal(pleat_site_own_set(bed->own,
                                            pleat_site_option_find(subject->ops, subject->option),
                                            subject->value, NULL),
                         0);
    struct pleat_site_options options = {.name = "subject",
                                         .index = SITE,
                                         .processors = PROCESSORS,
                                         .threshold = 1,
                                         .own = fakes ? &subject->fake : bed->own};
    assert_int_equal(subject->ops->open(&options, &bed->host.host, &bed->site, NULL), 0);
    assert_ptr_equal(bed->site->ops, subject->ops);
    bed->host.site = bed->site;
}

static void close_bed(struct bed *bed)
{
    bed->subject->ops->close(bed->site);
    pleat_site_own_free(bed->subject->ops, bed->own);
    played_host_finish(&bed->host);
}

static void claim_beside(struct bed *bed, uint64_t id, int32_t count, uint64_t beside)
{
    const struct pleat_site_wish wish = {
        .id = id, .index = (uint32_t)id, .count = count, .beside = beside};
    assert_int_equal(bed->site->ops->claim(bed->site, &wish, NULL), 0);
}

static void claim(struct bed *bed, uint64_t id, int32_t count)
{
    claim_beside(bed, id, count, 0);
}

static void release(struct bed *bed, uint64_t id)
{
    assert_int_equal(bed->site->ops->release(bed->site, id, (uint32_t)id, NULL), 0);
}

/* Events of a kind about a claim, in all of time. */
static int about(const struct bed *bed, unsigned kind, uint64_t id)
{
    int count = 0;
    for (size_t i = 0; i < bed->host.events.count; i++) {
        const struct pleat_event *event = &bed->host.events.items[i];
        if (event->kind == kind && event->u.claim.claim == id) {
            assert_int_equal(event->component, (uint32_t)id);
            count++;
        }
    }
    return count;
}

/* The slots of a claim, from the pieces before its (latest) CLAIMED, which must add up to it. */
static int32_t slots_of(const struct bed *bed, uint64_t id, uint32_t *slots)
{
    int32_t count = 0, told = -1;
    for (size_t i = 0; i < bed->host.events.count; i++) {
        const struct pleat_event *event = &bed->host.events.items[i];
        if (event->kind == PLEAT_EV_PIECE && event->u.piece.claim == id) {
            if (told >= 0) /* announced again, from the beginning */
                count = 0;
            told = -1;
            for (uint32_t s = 0; s < event->u.piece.count; s++)
                slots[count++] = event->u.piece.first + s;
        } else if (event->kind == PLEAT_EV_CLAIMED && event->u.claim.claim == id) {
            told = event->u.claim.count;
            assert_int_equal(told, count);
        }
    }
    return told;
}

#define FOR_EACH_SUBJECT(bed, calm)                                                                \
    for (size_t subject_ = 0; subject_ < sizeof(subjects) / sizeof(subjects[0]); subject_++)       \
        if (!((calm) && subjects[subject_].moody))                                                 \
            for (int once_ = (open_bed(&(bed), &subjects[subject_]), 1); once_;                    \
                 once_ = 0, close_bed(&(bed)))

static void test_says_what_there_is(void **state)
{
    (void)state;
    struct bed bed;
    FOR_EACH_SUBJECT(bed, false)
    {
        struct pleat_event event;
        played_host_run(&bed.host);
        int told = played_host_count(&bed.host, PLEAT_EV_SITE, &event);
        /* once more when it knows how large its nodes are */
        assert_int_equal(told, event.u.site.node_most > 0 ? 2 : 1);
        assert_int_equal(event.component, SITE);
        assert_int_equal(event.u.site.capacity, PROCESSORS);
        assert_int_equal(event.u.site.threshold, 1);
        played_host_mark(&bed.host);
        assert_int_equal(bed.site->ops->probe(bed.site, NULL), 0);
        assert_int_equal(bed.host.events.count, bed.host.mark); /* nothing has changed */
    }
}

/* Slots of a claim that is not answered yet are nobody else's, and are free once it is given back.
 */
static void test_a_delay_is_kept(void **state)
{
    (void)state;
    struct bed bed;
    FOR_EACH_SUBJECT(bed, true)
    {
        if (!bed.subject->option)
            continue;
        played_host_run(&bed.host);
        int64_t begun_us = bed.host.now_us;
        claim(&bed, 1, PROCESSORS);
        claim(&bed, 2, 1);
        assert_int_equal(about(&bed, PLEAT_EV_CLAIMED, 1), 0);
        played_host_run(&bed.host);
        assert_int_equal(about(&bed, PLEAT_EV_CLAIMED, 1), 1);
        assert_int_equal(about(&bed, PLEAT_EV_CLAIM_FAILED, 2), 1);
        assert_true(bed.host.now_us - begun_us >= 2500000);
        release(&bed, 1);
        claim(&bed, 3, PROCESSORS);
        release(&bed, 3);
        played_host_run(&bed.host);
        assert_int_equal(about(&bed, PLEAT_EV_RELEASED, 3), 1);
        assert_int_equal(about(&bed, PLEAT_EV_CLAIMED, 3), 0);
        claim(&bed, 4, PROCESSORS); /* open: the site is closed before its time */
    }
}

static void test_refuses_to_open_nonsense(void **state)
{
    (void)state;
    for (size_t s = 0; s < 2; s++) {
        struct played_host host;
        played_host_init(&host);
        struct pleat_site_options options = {.name = "subject", .processors = -1};
        struct pleat_site_instance *site = NULL;
        struct pleat_error err = {0};
        assert_int_equal(subjects[s].ops->open(&options, &host.host, &site, &err), PLEAT_E_INVALID);
        assert_non_null(strstr(err.text, "subject"));
        assert_null(site);
        assert_int_equal(host.events.count, 0);
        subjects[s].ops->close(NULL);
        played_host_finish(&host);
    }
}

static void test_kinds(void **state)
{
    (void)state;
    assert_ptr_equal(pleat_site_find("local"), &pleat_site_local);
    assert_null(pleat_site_find("fake")); /* only tests have it */
}

static void test_a_claim_is_answered_once(void **state)
{
    (void)state;
    struct bed bed;
    FOR_EACH_SUBJECT(bed, false)
    {
        for (uint64_t id = 1; id <= 4; id++)
            claim(&bed, id, 2);
        played_host_run(&bed.host);
        for (uint64_t id = 1; id <= 4; id++) {
            uint32_t slots[PROCESSORS];
            assert_int_equal(
                about(&bed, PLEAT_EV_CLAIMED, id) + about(&bed, PLEAT_EV_CLAIM_FAILED, id), 1);
            int32_t count = slots_of(&bed, id, slots);
            assert_true(count <= 2);
            if (!bed.subject->moody)
                assert_int_equal(count, 2);
        }
    }
}

static void test_repeating_a_claim_changes_nothing(void **state)
{
    (void)state;
    struct bed bed;
    FOR_EACH_SUBJECT(bed, true)
    {
        uint32_t before[PROCESSORS], after[PROCESSORS];
        claim(&bed, 1, 5);
        claim(&bed, 1, 5); /* before it is answered */
        played_host_run(&bed.host);
        assert_int_equal(slots_of(&bed, 1, before), 5);
        played_host_mark(&bed.host);
        claim(&bed, 1, 5); /* and after: answered again */
        played_host_run(&bed.host);
        assert_int_equal(played_host_count(&bed.host, PLEAT_EV_CLAIMED, NULL), 1);
        assert_int_equal(slots_of(&bed, 1, after), 5);
        assert_memory_equal(before, after, 5 * sizeof(before[0]));
        claim(&bed, 2, 3); /* the others are still there */
        played_host_run(&bed.host);
        assert_int_equal(about(&bed, PLEAT_EV_CLAIMED, 2), 1);
    }
}

static void test_a_release_is_answered_and_repeatable(void **state)
{
    (void)state;
    struct bed bed;
    FOR_EACH_SUBJECT(bed, false)
    {
        claim(&bed, 1, PROCESSORS);
        played_host_run(&bed.host);
        release(&bed, 1);
        played_host_run(&bed.host);
        assert_int_equal(about(&bed, PLEAT_EV_RELEASED, 1), 1);
        release(&bed, 1); /* of a claim that is gone: answered as released */
        played_host_run(&bed.host);
        assert_int_equal(about(&bed, PLEAT_EV_RELEASED, 1), 2);
        release(&bed, 99); /* never claimed */
        played_host_run(&bed.host);
        assert_int_equal(about(&bed, PLEAT_EV_RELEASED, 99), 1);
        claim(&bed, 2, PROCESSORS);
        played_host_run(&bed.host);
        if (!bed.subject->moody)
            assert_int_equal(about(&bed, PLEAT_EV_CLAIMED, 2), 1);
    }
}

static void test_a_release_before_the_claim_is_answered(void **state)
{
    (void)state;
    struct bed bed;
    FOR_EACH_SUBJECT(bed, false)
    {
        claim(&bed, 1, PROCESSORS);
        release(&bed, 1);
        played_host_run(&bed.host);
        assert_int_equal(about(&bed, PLEAT_EV_RELEASED, 1), 1);
        bool released = false; /* a CLAIMED may cross, but not come behind */
        for (size_t i = 0; i < bed.host.events.count; i++) {
            const struct pleat_event *event = &bed.host.events.items[i];
            if (event->kind == PLEAT_EV_CLAIMED)
                assert_false(released);
            released = released || event->kind == PLEAT_EV_RELEASED;
        }
        claim(&bed, 2, PROCESSORS);
        played_host_run(&bed.host);
        if (!bed.subject->moody)
            assert_int_equal(about(&bed, PLEAT_EV_CLAIMED, 2), 1);
    }
}

/* "Never" is not "not now". */
static void test_cannot_is_not_refused(void **state)
{
    (void)state;
    struct bed bed;
    FOR_EACH_SUBJECT(bed, true)
    {
        if (bed.subject->apart)
            continue;
        struct pleat_event event;
        claim(&bed, 1, PROCESSORS + 1);
        played_host_run(&bed.host);
        assert_int_equal(played_host_count(&bed.host, PLEAT_EV_CLAIM_FAILED, &event), 1);
        assert_int_equal(event.u.claim.reason, PLEAT_REASON_CLAIM_CANNOT);
        claim(&bed, 2, PROCESSORS - 2);
        played_host_run(&bed.host);
        played_host_mark(&bed.host);
        claim(&bed, 3, 3); /* two are free */
        played_host_run(&bed.host);
        assert_int_equal(played_host_count(&bed.host, PLEAT_EV_CLAIM_FAILED, &event), 1);
        assert_int_equal(event.u.claim.reason, PLEAT_REASON_CLAIM_REFUSED);
        claim(&bed, 4, 2);
        played_host_run(&bed.host);
        assert_int_equal(about(&bed, PLEAT_EV_CLAIMED, 4), 1);
    }
}

static void test_a_claim_of_nothing_gives_nothing(void **state)
{
    (void)state;
    struct bed bed;
    FOR_EACH_SUBJECT(bed, false)
    {
        for (int32_t count = -1; count <= 0; count++) {
            struct pleat_error err;
            uint64_t id = (uint64_t)(count + 5);
            const struct pleat_site_wish wish = {.id = id, .index = (uint32_t)id, .count = count};
            if (bed.site->ops->claim(bed.site, &wish, &err))
                continue; /* not accepted: no answer */
            played_host_run(&bed.host);
            assert_int_equal(about(&bed, PLEAT_EV_CLAIM_FAILED, id), 1);
        }
        assert_int_equal(played_host_count(&bed.host, PLEAT_EV_CLAIMED, NULL), 0);
    }
}

static void test_splitting(void **state)
{
    (void)state;
    struct bed bed;
    FOR_EACH_SUBJECT(bed, true)
    {
        if (bed.subject->apart)
            continue;
        if (!(bed.subject->ops->capabilities & PLEAT_SITE_SPLITS))
            continue;
        uint32_t whole[PROCESSORS], again[PROCESSORS];
        claim(&bed, 1, PROCESSORS);
        played_host_run(&bed.host);
        assert_int_equal(slots_of(&bed, 1, whole), PROCESSORS);
        played_host_mark(&bed.host);
        assert_int_equal(bed.site->ops->split(bed.site, 1, 2, 2, 5, NULL), 0); /* 3 and 5 */
        assert_int_equal(bed.site->ops->split(bed.site, 2, 3, 3, 1, NULL), 0); /* 3, 4 and 1 */
        played_host_run(&bed.host);
        assert_int_equal(bed.host.events.count, bed.host.mark); /* no event */
        struct pleat_error err = {0};
        assert_true(bed.site->ops->split(bed.site, 1, 8, 8, 3, &err) < 0); /* nothing would stay */
        assert_true(bed.site->ops->split(bed.site, 1, 8, 8, 0, &err) < 0);
        assert_true(err.text[0] != '\0');
        /* what goes back is the end of what there was */
        release(&bed, 2);
        played_host_run(&bed.host);
        claim(&bed, 4, 4);
        played_host_run(&bed.host);
        assert_int_equal(slots_of(&bed, 4, again), 4);
        assert_memory_equal(again, whole + 3, 4 * sizeof(whole[0]));
        release(&bed, 3);
        release(&bed, 1);
        played_host_run(&bed.host);
        claim(&bed, 5, 4);
        played_host_run(&bed.host);
        assert_int_equal(about(&bed, PLEAT_EV_CLAIMED, 5), 1);
    }
}

static void expect_row(const struct bed *bed, uint64_t id, uint32_t first, int32_t count)
{
    uint32_t slots[PROCESSORS];
    assert_int_equal(slots_of(bed, id, slots), count);
    for (int32_t i = 0; i < count; i++)
        assert_int_equal(slots[i], first + (uint32_t)i);
}

/* Sites that keep books by slots: a job's are neighbours, where that can be. */
static void test_neighbours(void **state)
{
    (void)state;
    struct bed bed;
    FOR_EACH_SUBJECT(bed, true)
    {
        if (bed.subject->apart)
            continue;
        uint32_t slots[PROCESSORS];
        static const struct {
            uint64_t id, beside, release;
            int32_t count;
            uint32_t first;
        } steps[] = {
            {1, 0, 0, 2, 0}, {2, 0, 0, 1, 2}, {3, 0, 0, 2, 3}, /* in order */
            {4, 0, 2, 1, 2}, /* the row that fits best; 5 to 7 stay together */
            {5, 3, 0, 2, 5}, /* behind those of claim 3 */
            {6, 5, 3, 2, 3}, /* behind claim 5 there is one only: before it */
            {7, 99, 1, 2, 0} /* beside one that is not there */
        };
        for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
            if (steps[i].release)
                release(&bed, steps[i].release);
            played_host_run(&bed.host);
            claim_beside(&bed, steps[i].id, steps[i].count, steps[i].beside);
            played_host_run(&bed.host);
            expect_row(&bed, steps[i].id, steps[i].first, steps[i].count);
        }
        release(&bed, 4); /* slots 2 and 7 are free: no neighbours */
        played_host_run(&bed.host);
        claim_beside(&bed, 8, 2, 6); /* behind 3 and 4 comes 7 */
        played_host_run(&bed.host);
        assert_int_equal(slots_of(&bed, 8, slots), 2);
        assert_true(slots[0] == 7 && slots[1] == 2);
    }
}

/* After a restart: claims are taken up where they were. */
static void test_adopting(void **state)
{
    (void)state;
    struct bed bed;
    FOR_EACH_SUBJECT(bed, true)
    {
        if (bed.subject->apart)
            continue;
        struct pleat_piece pieces[] = {{.first = 6, .count = 1}, {.first = 1, .count = 2}};
        struct pleat_site_claim known = {
            .id = 7, .index = 7, .count = 3, .pieces = pieces, .piece_count = 2};
        played_host_mark(&bed.host);
        for (int twice = 0; twice < 2; twice++)
            assert_int_equal(bed.site->ops->adopt(bed.site, &known, NULL), 0);
        played_host_run(&bed.host);
        assert_int_equal(bed.host.events.count, bed.host.mark);
        uint32_t slots[PROCESSORS];
        claim(&bed, 8, PROCESSORS - 3);
        played_host_run(&bed.host);
        assert_int_equal(slots_of(&bed, 8, slots), PROCESSORS - 3);
        for (int i = 0; i < PROCESSORS - 3; i++)
            assert_true(slots[i] != 6 && slots[i] != 1 && slots[i] != 2);
        claim(&bed, 7, 3); /* asked for again, since nobody had heard the answer: the same ones */
        played_host_run(&bed.host);
        assert_int_equal(slots_of(&bed, 7, slots), 3);
        assert_true(slots[0] == 6 && slots[1] == 1 && slots[2] == 2);
        release(&bed, 7);
        played_host_run(&bed.host);
        assert_int_equal(about(&bed, PLEAT_EV_RELEASED, 7), 1);
    }
}

static void test_adopting_what_is_not_there(void **state)
{
    (void)state;
    struct bed bed;
    FOR_EACH_SUBJECT(bed, true)
    {
        struct pleat_piece pieces[] = {{.first = 2, .count = 2}, {.first = PROCESSORS, .count = 1}};
        struct pleat_site_claim known = {
            .id = 7, .index = 7, .count = 3, .pieces = pieces, .piece_count = 2};
        assert_int_equal(bed.site->ops->adopt(bed.site, &known, NULL), 0);
        played_host_run(&bed.host);
        assert_int_equal(about(&bed, PLEAT_EV_LOST, 7), 1);
        release(&bed, 7); /* of a lost one: answered all the same */
        claim(&bed, 8, PROCESSORS);
        played_host_run(&bed.host);
        assert_int_equal(about(&bed, PLEAT_EV_RELEASED, 7), 1);
        assert_int_equal(about(&bed, PLEAT_EV_CLAIMED, 8), 1);
    }
}

static void test_closing_with_answers_due(void **state)
{
    (void)state;
    struct bed bed;
    FOR_EACH_SUBJECT(bed, false)
    {
        claim(&bed, 1, 2);
        played_host_run(&bed.host);
        claim(&bed, 2, 2);
        release(&bed, 1);
    }
}

/* ---- sites whose nodes come with claims ---- */

#define FOR_EACH_BRINGING(bed)                                                                     \
    FOR_EACH_SUBJECT(bed, true)                                                                    \
    if ((bed).subject->ops->capabilities & PLEAT_SITE_BRINGS_AGENTS)

/* The node of a claim's first piece; of several, of the latest. */
static uint32_t node_of(const struct bed *bed, uint64_t id)
{
    for (size_t i = bed->host.events.count; i > 0; i--) {
        const struct pleat_event *event = &bed->host.events.items[i - 1];
        if (event->kind == PLEAT_EV_PIECE && event->u.piece.claim == id)
            return event->u.piece.node;
    }
    return PLEAT_NONE;
}

static int gone(const struct bed *bed, uint32_t node)
{
    int count = 0;
    for (size_t i = bed->host.mark; i < bed->host.events.count; i++)
        count += bed->host.events.items[i].kind == PLEAT_EV_NODE_GONE &&
                 bed->host.events.items[i].component == SITE &&
                 bed->host.events.items[i].u.node.node == node;
    return count;
}

/* No claim is given before its agent is there. */
static void test_a_claim_is_given_when_its_agents_have_called(void **state)
{
    (void)state;
    struct bed bed;
    FOR_EACH_BRINGING(bed)
    {
        bed.host.agent_us = -1;
        claim(&bed, 1, 2);
        played_host_run(&bed.host);
        assert_true(bed.host.agent_calls > 0);
        assert_int_equal(about(&bed, PLEAT_EV_CLAIMED, 1), 0);
        assert_int_equal(about(&bed, PLEAT_EV_CLAIM_FAILED, 1), 1);
        bed.host.agent_us = 5000;
        claim(&bed, 2, PROCESSORS); /* they are free again */
        played_host_run(&bed.host);
        assert_int_equal(about(&bed, PLEAT_EV_CLAIMED, 2), 1);
    }
}

/* A node's number is its own as long as it is there, and is said to be gone after its claims. */
static void test_nodes_come_and_go(void **state)
{
    (void)state;
    struct bed bed;
    FOR_EACH_BRINGING(bed)
    {
        claim(&bed, 1, 3);
        claim(&bed, 2, 3);
        played_host_run(&bed.host);
        uint32_t first = node_of(&bed, 1), second = node_of(&bed, 2);
        assert_int_not_equal(first, second);
        assert_int_equal(bed.site->ops->split(bed.site, 1, 3, 3, 1, NULL), 0);
        played_host_mark(&bed.host);
        release(&bed, 3);
        played_host_run(&bed.host);
        assert_int_equal(gone(&bed, first), 0); /* the rest is still there */
        release(&bed, 1);
        played_host_run(&bed.host);
        assert_int_equal(gone(&bed, first), 1);
        assert_int_equal(gone(&bed, second), 0);
        assert_int_equal(bed.host.events.items[bed.host.events.count - 1].kind,
                         PLEAT_EV_NODE_GONE); /* after RELEASED */
        claim(&bed, 4, 2);
        played_host_run(&bed.host);
        assert_int_not_equal(node_of(&bed, 4), second);
    }
}

/* ---- batch systems ---- */

static struct pleat_site_claim piece_of(uint64_t id, const struct pleat_piece *piece)
{
    return (struct pleat_site_claim){.id = id,
                                     .index = (uint32_t)id,
                                     .count = (int32_t)piece->count,
                                     .pieces = piece,
                                     .piece_count = 1};
}

#define BATCH_BED(bed)                                                                             \
    FOR_EACH_SUBJECT(bed, true)                                                                    \
    if ((bed).subject->apart)

static void test_batch_has_a_queue(void **state)
{
    (void)state;
    struct bed bed;
    BATCH_BED(bed)
    {
        struct pleat_event event;
        claim(&bed, 1, 6);
        claim(&bed, 2, 4);
        claim(&bed, 3, PROCESSORS + 1);
        played_host_run(&bed.host);
        assert_int_equal(about(&bed, PLEAT_EV_CLAIMED, 1), 1);
        assert_int_equal(about(&bed, PLEAT_EV_CLAIMED, 2), 0);
        claim(&bed, 4, PROCESSORS + 1); /* it is known now how large nodes are */
        played_host_mark(&bed.host);
        played_host_run(&bed.host);
        assert_int_equal(about(&bed, PLEAT_EV_CLAIM_FAILED, 4), 1);
        release(&bed, 3);
        release(&bed, 1);
        played_host_run(&bed.host);
        assert_true(played_host_count(&bed.host, PLEAT_EV_CLAIM_WAITS, &event) > 0);
        assert_int_equal(event.u.waits.reason, PLEAT_WAIT_AGENTS);
        assert_int_equal(about(&bed, PLEAT_EV_CLAIMED, 2), 1);
        release(&bed, 2);
        played_host_run(&bed.host);
        assert_int_equal(bed.slurm.free, PROCESSORS);
    }
}

static void test_batch_takes_away(void **state)
{
    (void)state;
    struct bed bed;
    BATCH_BED(bed)
    {
        claim(&bed, 1, 3);
        claim(&bed, 2, PROCESSORS);
        played_host_run(&bed.host);
        assert_int_equal(bed.site->ops->split(bed.site, 1, 5, 5, 1, NULL), 0);
        played_host_mark(&bed.host);
        played_slurm_cancel(&bed.slurm, 1);
        played_slurm_cancel(&bed.slurm, 2);
        played_host_run(&bed.host);
        assert_int_equal(about(&bed, PLEAT_EV_LOST, 1), 1);
        assert_int_equal(about(&bed, PLEAT_EV_LOST, 5), 1);
        assert_int_equal(gone(&bed, 0), 1);
        assert_int_equal(about(&bed, PLEAT_EV_CLAIM_FAILED, 2), 1); /* in the queue */
        assert_true(bed.host.said > 0);
        release(&bed, 1);
        assert_int_equal(about(&bed, PLEAT_EV_RELEASED, 1), 1);
    }
}

/* Its processes have a while to end: its claims are left for some of it, once told; nothing is
 * given of it any more. Where no process can be there, it is gone at once. */
static void test_batch_takes_away_with_notice(void **state)
{
    (void)state;
    struct pleat_event event;
    struct bed bed;
    BATCH_BED(bed)
    {
        claim(&bed, 1, 3);
        claim(&bed, 2, 3);
        played_host_run(&bed.host);
        assert_int_equal(bed.site->ops->split(bed.site, 1, 5, 5, 1, NULL), 0);
        release(&bed, 5);
        int64_t now_us = bed.host.now_us;
        played_host_mark(&bed.host);
        played_slurm_begin_end(&bed.slurm, 1, "CANCELLED");
        played_slurm_begin_end(&bed.slurm, 1, "CANCELLED");
        played_host_run(&bed.host);
        assert_int_equal(about(&bed, PLEAT_EV_LOST, 1), 0);
        assert_int_equal(played_host_count(&bed.host, PLEAT_EV_CLAIM_ENDS, &event), 1);
        assert_int_equal(event.u.ends.claim, 1);
        assert_int_equal(event.u.ends.reason, PLEAT_REASON_TAKEN);
        int64_t in_us = event.u.ends.end_us - now_us;
        assert_in_range(in_us, 10000000, (PLAYED_SLURM_KILL_WAIT_S - 5) * 1000000);
        assert_true(bed.host.said > 0);
        struct pleat_site_wish wish = {.id = 6,
                                       .index = 6,
                                       .count = 1,
                                       .purpose = PLEAT_FOR_GROWTH,
                                       .beside = 1,
                                       .on_one_node = true};
        assert_int_equal(bed.site->ops->claim(bed.site, &wish, NULL), 0);
        assert_int_equal(about(&bed, PLEAT_EV_CLAIM_FAILED, 6), 1);
        release(&bed, 1); /* its job has left */
        played_host_run(&bed.host);
        assert_int_equal(about(&bed, PLEAT_EV_RELEASED, 1), 1);
        assert_int_equal(about(&bed, PLEAT_EV_LOST, 1), 0);
        played_slurm_begin_end(&bed.slurm, 2, "NODE_FAIL");
        played_host_run(&bed.host);
        assert_int_equal(about(&bed, PLEAT_EV_LOST, 2), 1);
        release(&bed, 2);
    }
}

/* Processors that a job gave up stay for its growth; another job gets none of them. */
static void test_batch_grows_in_its_allocation(void **state)
{
    (void)state;
    struct bed bed;
    BATCH_BED(bed)
    {
        if (bed.subject->hosts > 1)
            continue;
        claim(&bed, 1, 4);
        played_host_run(&bed.host);
        assert_int_equal(bed.site->ops->split(bed.site, 1, 2, 2, 2, NULL), 0);
        release(&bed, 2);
        struct pleat_site_wish wish = {.id = 3,
                                       .index = 3,
                                       .count = 3,
                                       .purpose = PLEAT_FOR_GROWTH,
                                       .beside = 1,
                                       .on_one_node = true};
        assert_int_equal(bed.site->ops->claim(bed.site, &wish, NULL), 0);
        assert_int_equal(about(&bed, PLEAT_EV_CLAIM_FAILED, 3), 1);
        wish.id = wish.index = 4;
        wish.count = 2;
        assert_int_equal(bed.site->ops->claim(bed.site, &wish, NULL), 0);
        assert_int_equal(about(&bed, PLEAT_EV_CLAIMED, 4), 1);
        assert_int_equal(bed.slurm.count, 1);
        release(&bed, 4);
        release(&bed, 1);
        played_host_run(&bed.host);
        assert_int_equal(bed.slurm.free, PROCESSORS);
    }
}

/* Of a claim over several hosts, what a job gave up on one of them is got there again, and only
 * there: no other allocation is asked for. */
static void test_batch_grows_on_the_nodes_that_are_said(void **state)
{
    (void)state;
    struct bed bed;
    BATCH_BED(bed)
    {
        uint32_t last = UINT32_MAX, first = UINT32_MAX;
        if (bed.subject->hosts < 2)
            continue;
        claim(&bed, 1, PROCESSORS);
        played_host_run(&bed.host);
        for (size_t i = 0; i < bed.host.events.count; i++)
            if (bed.host.events.items[i].kind == PLEAT_EV_PIECE) {
                last = bed.host.events.items[i].u.piece.node;
                first = first == UINT32_MAX ? last : first;
            }
        assert_int_not_equal(first, last);
        assert_int_equal(bed.site->ops->split(bed.site, 1, 2, 2, 1, NULL), 0);
        release(&bed, 2);
        const int asked = bed.slurm.count;
        struct pleat_site_part part = {first, 1};
        struct pleat_site_wish wish = {.id = 3,
                                       .index = 3,
                                       .count = 1,
                                       .purpose = PLEAT_FOR_GROWTH,
                                       .beside = 1,
                                       .parts = &part,
                                       .part_count = 1};
        assert_int_equal(bed.site->ops->claim(bed.site, &wish, NULL), 0);
        assert_int_equal(about(&bed, PLEAT_EV_CLAIM_FAILED, 3), 1);
        part.node = last;
        wish.id = wish.index = 4;
        assert_int_equal(bed.site->ops->claim(bed.site, &wish, NULL), 0);
        assert_int_equal(about(&bed, PLEAT_EV_CLAIMED, 4), 1);
        assert_int_equal(bed.slurm.count, asked);
        release(&bed, 4);
        release(&bed, 1);
        played_host_run(&bed.host);
        assert_int_equal(bed.slurm.free, PROCESSORS);
    }
}

/* The next pleatd has it. */
static void open_again(struct bed *bed)
{
    bed->site->ops->close(bed->site);
    struct pleat_site_options options = {
        .name = "subject", .index = SITE, .processors = PROCESSORS, .own = bed->own};
    assert_int_equal(bed->subject->ops->open(&options, &bed->host.host, &bed->site, NULL), 0);
    bed->host.site = bed->site;
}

/* The next pleatd finds the allocations of this one, whatever was asked for, and gives back those
 * that it does not want. */
static void test_batch_after_a_restart(void **state)
{
    (void)state;
    struct bed bed;
    BATCH_BED(bed)
    {
        for (uint64_t id = 1; id <= 3; id++)
            claim(&bed, id, 2);
        played_host_run(&bed.host);
        assert_int_equal(bed.slurm.count, 3);
        uint32_t node = node_of(&bed, 1);
        open_again(&bed);
        const struct pleat_piece piece = {.node = node, .first = 0, .count = 2};
        const struct pleat_piece never = {.node = 77, .first = 0, .count = 1};
        struct pleat_site_claim known = piece_of(1, &piece), lost = piece_of(9, &never);
        assert_int_equal(bed.site->ops->adopt(bed.site, &known, NULL), 0);
        assert_int_equal(bed.site->ops->adopt(bed.site, &lost, NULL), 0);
        played_host_mark(&bed.host);
        bed.site->ops->agent(bed.site, node, true);
        claim(&bed, 2, 2); /* the answer was not heard */
        played_host_run(&bed.host);
        assert_int_equal(about(&bed, PLEAT_EV_LOST, 9), 1);
        assert_int_equal(about(&bed, PLEAT_EV_LOST, 1), 0);
        assert_int_equal(played_host_count(&bed.host, PLEAT_EV_CLAIMED, NULL), 1);
        assert_int_equal(bed.slurm.count, 3); /* no other one was asked for */
        assert_true(bed.slurm.jobs[2].over);  /* nobody wanted that */
        release(&bed, 1);
        release(&bed, 2);
        played_host_run(&bed.host);
        assert_int_equal(bed.slurm.free, PROCESSORS);
        assert_int_equal(gone(&bed, node), 1);
    }
}

/* What was given back is listed for a while, and may have had the node's number before. The next
 * pleatd takes the one that is held for it, and not the other one, in whatever order they are. */
static void test_a_node_whose_number_another_one_had(void **state)
{
    (void)state;
    struct bed bed;
    BATCH_BED(bed)
    {
        bed.slurm.lingers = true;
        for (uint64_t id = 1; id <= 2; id++) {
            claim(&bed, id, 2);
            played_host_run(&bed.host);
            release(&bed, id);
            played_host_run(&bed.host);
        }
        claim(&bed, 3, 2);
        played_host_run(&bed.host);
        uint32_t node = node_of(&bed, 3);
        assert_int_equal(node, node_of(&bed, 1));
        open_again(&bed);
        const struct pleat_piece piece = {.node = node, .first = 0, .count = 2};
        struct pleat_site_claim known = piece_of(3, &piece);
        assert_int_equal(bed.site->ops->adopt(bed.site, &known, NULL), 0);
        bed.site->ops->agent(bed.site, node, true);
        played_host_run(&bed.host);
        assert_int_equal(about(&bed, PLEAT_EV_LOST, 3), 0);
        assert_false(bed.slurm.jobs[2].over);
        release(&bed, 3);
        played_host_run(&bed.host);
        assert_true(bed.slurm.jobs[2].over);
        assert_int_equal(about(&bed, PLEAT_EV_RELEASED, 3), 1);
        assert_int_equal(bed.slurm.free, PROCESSORS);
    }
}

/* Both end: somebody takes it away, while the earlier one is not cleared away yet. It is the later
 * one that is lost, not at once, since its jobs have some time to leave it. */
static void test_a_node_whose_number_another_one_had_is_taken(void **state)
{
    (void)state;
    struct bed bed;
    BATCH_BED(bed)
    {
        bed.slurm.lingers = true;
        claim(&bed, 1, 2);
        played_host_run(&bed.host);
        release(&bed, 1);
        played_host_run(&bed.host);
        claim(&bed, 2, 2);
        played_host_run(&bed.host);
        uint32_t node = node_of(&bed, 2);
        open_again(&bed);
        const struct pleat_piece piece = {.node = node, .first = 0, .count = 2};
        struct pleat_site_claim known = piece_of(2, &piece);
        assert_int_equal(bed.site->ops->adopt(bed.site, &known, NULL), 0);
        bed.site->ops->agent(bed.site, node, true);
        played_slurm_end(&bed.slurm, 2);
        played_host_run(&bed.host);
        played_slurm_tell_end(&bed.slurm, 1);
        played_host_run(&bed.host);
        assert_int_equal(about(&bed, PLEAT_EV_LOST, 2), 0);
        played_slurm_tell_end(&bed.slurm, 2);
        played_host_run(&bed.host);
        assert_int_equal(about(&bed, PLEAT_EV_LOST, 2), 1);
    }
}

/* The next pleatd does not see the end of an agent: an agent that does not call is treated as dead.
 */
static void test_an_agent_ends_unseen(void **state)
{
    (void)state;
    struct bed bed;
    BATCH_BED(bed)
    {
        claim(&bed, 1, 2);
        claim(&bed, 2, 2);
        played_host_run(&bed.host);
        uint32_t dead = node_of(&bed, 1), alive = node_of(&bed, 2);
        open_again(&bed);
        const struct pleat_piece pieces[] = {{.node = dead, .count = 2},
                                             {.node = alive, .count = 2}};
        struct pleat_site_claim claims[] = {piece_of(1, &pieces[0]), piece_of(2, &pieces[1])};
        for (size_t i = 0; i < 2; i++)
            assert_int_equal(bed.site->ops->adopt(bed.site, &claims[i], NULL), 0);
        played_host_mark(&bed.host);
        bed.site->ops->agent(bed.site, alive, true);
        played_host_run(&bed.host);
        assert_int_equal(about(&bed, PLEAT_EV_LOST, 1), 1);
        assert_int_equal(gone(&bed, dead), 1);
        assert_true(bed.slurm.jobs[0].over);
        bed.site->ops->agent(bed.site, alive, false); /* later, and again the end is not seen */
        played_host_run(&bed.host);
        assert_int_equal(about(&bed, PLEAT_EV_LOST, 2), 1);
        assert_int_equal(bed.slurm.free, PROCESSORS);
    }
}

#define CLUSTER_BED(bed)                                                                           \
    FOR_EACH_SUBJECT(bed, true)                                                                    \
    if ((bed).subject->hosts > 1)

/* The pieces of a claim as "node:first+count ...", as they were told since the mark. */
static const char *pieces_of(const struct bed *bed, uint64_t id)
{
    static char text[200];
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = bed->host.mark; i < bed->host.events.count; i++) {
        const struct pleat_event *event = &bed->host.events.items[i];
        if (event->kind == PLEAT_EV_PIECE && event->u.piece.claim == id)
            length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%u:%u+%u",
                                       length ? " " : "", event->u.piece.node, event->u.piece.first,
                                       event->u.piece.count);
    }
    return text;
}

/* Processors beyond one host come from several hosts, each of which is a node with an agent. */
static void test_an_allocation_of_several_hosts(void **state)
{
    (void)state;
    struct bed bed;
    CLUSTER_BED(bed)
    {
        claim(&bed, 1, 2);
        played_host_run(&bed.host);
        assert_string_equal(pieces_of(&bed, 1), "0:0+2"); /* one host has room */
        int calls = bed.host.agent_calls;
        claim(&bed, 2, 5);
        played_host_run(&bed.host);
        assert_string_equal(pieces_of(&bed, 2), "1:0+2 2:0+2 3:0+1");
        assert_int_equal(about(&bed, PLEAT_EV_CLAIMED, 2), 1);
        assert_int_equal(bed.host.agent_calls, calls + 3);
        const struct pleat_site_wish small = {.id = 9, .index = 9, .count = 3, .on_one_node = true};
        assert_int_equal(bed.site->ops->claim(bed.site, &small, NULL), 0);
        assert_int_equal(about(&bed, PLEAT_EV_CLAIM_FAILED, 9), 1); /* none is as large */
        /* processors are given back from the end, and stay for the same job */
        assert_int_equal(bed.site->ops->split(bed.site, 2, 3, 3, 2, NULL), 0);
        release(&bed, 3);
        played_host_mark(&bed.host);
        claim(&bed, 2, 5);
        assert_string_equal(pieces_of(&bed, 2), "1:0+2 2:0+1");
        struct pleat_site_wish more = {
            .id = 4, .index = 4, .count = 2, .purpose = PLEAT_FOR_GROWTH, .beside = 2};
        assert_int_equal(bed.site->ops->claim(bed.site, &more, NULL), 0);
        assert_string_equal(pieces_of(&bed, 4), "2:1+1 3:0+1");
        /* processors that are missing come from another allocation */
        more.id = more.index = 5;
        played_host_run(&bed.host);
        int jobs = bed.slurm.count;
        more.count = 1;
        assert_int_equal(bed.site->ops->claim(bed.site, &more, NULL), 0);
        played_host_run(&bed.host);
        assert_string_equal(pieces_of(&bed, 5), "4:0+1");
        assert_int_equal(bed.slurm.count, jobs + 1);
        assert_string_equal(bed.slurm.jobs[jobs].near, "n3");
        more.id = more.index = 6;
        more.on_one_node = true; /* that would be another node */
        assert_int_equal(bed.site->ops->claim(bed.site, &more, NULL), 0);
        assert_int_equal(about(&bed, PLEAT_EV_CLAIM_FAILED, 6), 1);
        release(&bed, 5);
        release(&bed, 2);
        release(&bed, 4);
        played_host_run(&bed.host);
        assert_int_equal(gone(&bed, 4), 1);
        assert_true(gone(&bed, 1) == 1 && gone(&bed, 2) == 1 && gone(&bed, 3) == 1);
        assert_int_equal(gone(&bed, 0), 0);
        assert_int_equal(bed.slurm.free, PROCESSORS - 2);
    }
}

/* Processors that a job gave back of any of its allocations are used before another allocation is
 * asked for; but not by another job. */
static void test_what_is_held_is_used_first(void **state)
{
    (void)state;
    struct bed bed;
    CLUSTER_BED(bed)
    {
        struct pleat_site_wish wish = {.id = 1, .index = 1, .count = 2, .job = 7};
        assert_int_equal(bed.site->ops->claim(bed.site, &wish, NULL), 0);
        played_host_run(&bed.host);
        wish = (struct pleat_site_wish){
            .id = 2, .index = 2, .count = 2, .purpose = PLEAT_FOR_GROWTH, .job = 7, .beside = 1};
        assert_int_equal(bed.site->ops->claim(bed.site, &wish, NULL), 0);
        played_host_run(&bed.host);
        assert_int_equal(bed.slurm.count, 2);
        assert_int_equal(bed.site->ops->split(bed.site, 1, 3, 3, 1, NULL), 0);
        release(&bed, 3);
        open_again(&bed);
        const struct pleat_piece first = {.node = 0, .count = 1}, second = {.node = 1, .count = 2};
        struct pleat_site_claim claims[] = {piece_of(1, &first), piece_of(2, &second)};
        for (size_t i = 0; i < 2; i++) {
            claims[i].job = 7;
            assert_int_equal(bed.site->ops->adopt(bed.site, &claims[i], NULL), 0);
            bed.site->ops->agent(bed.site, (uint32_t)i, true);
        }
        played_host_run(&bed.host);
        played_host_mark(&bed.host);
        wish = (struct pleat_site_wish){
            .id = 4, .index = 4, .count = 1, .purpose = PLEAT_FOR_GROWTH, .job = 8, .beside = 0};
        assert_int_equal(bed.site->ops->claim(bed.site, &wish, NULL), 0);
        played_host_run(&bed.host);
        assert_int_equal(bed.slurm.count, 3);
        wish.id = wish.index = 5;
        wish.job = 7;
        wish.beside = 2;
        assert_int_equal(bed.site->ops->claim(bed.site, &wish, NULL), 0);
        assert_string_equal(pieces_of(&bed, 5), "0:1+1");
        assert_int_equal(bed.slurm.count, 3);
        for (uint64_t id = 1; id <= 5; id++)
            if (id != 3)
                release(&bed, id);
        played_host_run(&bed.host);
        assert_int_equal(bed.slurm.free, PROCESSORS);
    }
}

/* Only when all of its agents have called, whose nodes are then not numbered twice. */
static void test_a_host_is_lost(void **state)
{
    (void)state;
    struct bed bed;
    CLUSTER_BED(bed)
    {
        claim(&bed, 1, 6);
        played_host_run(&bed.host);
        assert_int_equal(bed.site->ops->split(bed.site, 1, 2, 2, 1, NULL), 0);
        played_host_mark(&bed.host);
        /* the last host, on which both have something */
        bed.site->ops->agent(bed.site, 2, false);
        played_slurm_end_step(&bed.slurm, 1, 2);
        played_host_run(&bed.host);
        assert_int_equal(about(&bed, PLEAT_EV_LOST, 1), 1);
        assert_int_equal(about(&bed, PLEAT_EV_LOST, 2), 1);
        assert_true(gone(&bed, 0) == 1 && gone(&bed, 1) == 1 && gone(&bed, 2) == 1);
        assert_int_equal(bed.slurm.free, PROCESSORS);
        /* a host on which only one claim has processors: the other claim keeps its part */
        claim(&bed, 3, 4);
        played_host_run(&bed.host);
        assert_int_equal(bed.site->ops->split(bed.site, 3, 4, 4, 2, NULL), 0);
        bed.site->ops->agent(bed.site, 1, false);
        played_host_mark(&bed.host);
        played_slurm_end_step(&bed.slurm, 2, 1);
        played_host_run(&bed.host);
        assert_int_equal(about(&bed, PLEAT_EV_LOST, 3), 0);
        assert_int_equal(about(&bed, PLEAT_EV_LOST, 4), 1);
        struct pleat_site_wish more = {
            .id = 5, .index = 5, .count = 1, .purpose = PLEAT_FOR_GROWTH, .beside = 3};
        more.on_one_node = true;
        assert_int_equal(bed.site->ops->claim(bed.site, &more, NULL), 0);
        assert_int_equal(about(&bed, PLEAT_EV_CLAIM_FAILED, 5), 1); /* nothing there is used */
        release(&bed, 4);
        release(&bed, 3);
        played_host_run(&bed.host);
        assert_int_equal(bed.slurm.free, PROCESSORS);
        assert_true(gone(&bed, 0) == 1 && gone(&bed, 1) == 1);
    }
}

/* The next pleatd knows the processors of each claim on each host. */
static void test_several_hosts_after_a_restart(void **state)
{
    (void)state;
    struct bed bed;
    CLUSTER_BED(bed)
    {
        claim(&bed, 1, 2);
        played_host_run(&bed.host);
        claim(&bed, 2, 5);
        played_host_run(&bed.host);
        assert_int_equal(bed.site->ops->split(bed.site, 2, 3, 3, 1, NULL), 0);
        open_again(&bed);
        const struct pleat_piece first = {.node = 0, .first = 0, .count = 2};
        const struct pleat_piece most[] = {{.node = 1, .first = 0, .count = 2},
                                           {.node = 2, .first = 0, .count = 2}};
        const struct pleat_piece rest = {.node = 3, .first = 0, .count = 1};
        struct pleat_site_claim claims[] = {piece_of(1, &first), piece_of(3, &rest),
                                            piece_of(2, most)};
        claims[2].piece_count = 2;
        claims[2].count = 4;
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(bed.site->ops->adopt(bed.site, &claims[i], NULL), 0);
        played_host_mark(&bed.host);
        for (uint32_t node = 0; node < 4; node++)
            bed.site->ops->agent(bed.site, node, true);
        played_host_run(&bed.host);
        for (uint64_t id = 1; id <= 3; id++)
            assert_int_equal(about(&bed, PLEAT_EV_LOST, id), 0);
        claim(&bed, 2, 4);
        assert_string_equal(pieces_of(&bed, 2), "1:0+2 2:0+2");
        release(&bed, 2);
        assert_int_equal(about(&bed, PLEAT_EV_RELEASED, 2), 1);
        played_host_run(&bed.host);
        assert_int_equal(gone(&bed, 2), 0); /* the allocation has another claim */
        release(&bed, 3);
        release(&bed, 1);
        played_host_run(&bed.host);
        assert_int_equal(bed.slurm.free, PROCESSORS);
        for (uint32_t node = 0; node < 4; node++)
            assert_int_equal(gone(&bed, node), 1);
    }
}

/* ---- the host that plays programs ---- */

struct user {
    struct played_host host;
    struct pleat_helper *helper;
    int told, lines, ended;
    char text[64];
};

static void play(void *arg, const struct pleat_command *command, struct played_answer *answer)
{
    (void)arg;
    answer->end = PLEAT_COMMAND_EXITED;
    answer->after_us = 5000;
    pleat_string_add(&answer->output, command->argv[0]);
}

static void hear(void *arg, struct pleat_helper *helper, const char *line)
{
    (void)arg;
    played_helper_says(helper, line, 10);
    played_helper_ends(helper, 3, 20);
}

static void on_done(void *arg, uint64_t token, const struct pleat_command_result *result)
{
    struct user *user = arg;
    assert_int_equal(token, 4);
    user->told++;
    snprintf(user->text, sizeof(user->text), "%s", result->output);
}

static void on_line(void *arg, const char *line, size_t length)
{
    struct user *user = arg;
    assert_int_equal(strlen(line), length);
    user->lines++;
}

static void on_ended(void *arg, const struct pleat_command_result *result)
{
    struct user *user = arg;
    assert_int_equal(result->code, 3);
    user->ended++;
}

/* Sites that run commands are tested without a process: they get the same results as from
 * pleatd. */
static void test_played_programs(void **state)
{
    (void)state;
    static const struct played_programs programs = {.run = play, .said = hear};
    static const struct pleat_helper_callbacks callbacks = {on_line, on_ended};
    static const char *const argv[] = {"squeue", NULL};
    const struct pleat_command command = {.argv = argv};
    struct user user = {0};
    const struct pleat_host *host = &user.host.host;
    played_host_init(&user.host);
    user.host.programs = &programs;
    host->run(host->arg, &command, on_done, &user, 4);
    struct pleat_helper *helper = host->helper_start(host->arg, &command, &callbacks, &user);
    assert_int_equal(host->helper_say(host->arg, helper, "hello"), 0);
    assert_int_equal(user.told + user.lines + user.ended, 0); /* never from within */
    played_host_run(&user.host);
    assert_true(user.told == 1 && user.lines == 1 && user.ended == 1);
    assert_string_equal(user.text, "squeue");
    assert_true(host->helper_say(host->arg, helper, "hello") < 0);
    host->run(host->arg, &command, on_done, &user, 4);
    helper = host->helper_start(host->arg, &command, &callbacks, &user);
    assert_int_equal(host->helper_say(host->arg, helper, "hello"), 0);
    host->drop(host->arg, &user);
    played_host_run(&user.host);
    assert_true(user.told == 1 && user.lines == 1 && user.ended == 1);
    played_host_finish(&user.host);
}

/* ---- at random ---- */

enum { CLAIMS = 400 };

struct ledger {
    struct {
        bool asked, answered, held, released;
        int32_t wanted;
    } claims[CLAIMS];
    size_t read;
    int32_t used[PROCESSORS]; /* by which claim; 0: none */
};

/* Books the site's events; each must fit those before it. */
static void book(struct ledger *ledger, const struct bed *bed)
{
    for (; ledger->read < bed->host.events.count; ledger->read++) {
        const struct pleat_event *event = &bed->host.events.items[ledger->read];
        if (event->kind == PLEAT_EV_SITE || event->kind == PLEAT_EV_NODE ||
            event->kind == PLEAT_EV_NODE_GONE)
            continue;
        uint64_t id = event->u.claim.claim;
        assert_true(id > 0 && id < CLAIMS && ledger->claims[id].asked);
        switch (event->kind) {
        case PLEAT_EV_CLAIM_WAITS:
            assert_false(ledger->claims[id].answered);
            assert_false(ledger->claims[id].released);
            assert_true(event->u.waits.reason > PLEAT_WAIT_NOT &&
                        event->u.waits.reason < PLEAT_WAIT_COUNT);
            break;
        case PLEAT_EV_PIECE:
            for (uint32_t s = event->u.piece.first; s < event->u.piece.first + event->u.piece.count;
                 s++) {
                assert_true(s < PROCESSORS);
                assert_int_equal(ledger->used[s], 0); /* nobody else has it */
                ledger->used[s] = (int32_t)id;
            }
            break;
        case PLEAT_EV_CLAIMED:
        case PLEAT_EV_CLAIM_FAILED:
            assert_false(ledger->claims[id].answered);
            assert_false(ledger->claims[id].released);
            ledger->claims[id].answered = true;
            ledger->claims[id].held = event->kind == PLEAT_EV_CLAIMED;
            assert_true(event->u.claim.count <= ledger->claims[id].wanted);
            break;
        case PLEAT_EV_LOST:
            assert_true(ledger->claims[id].held);
            /* fall through */
        case PLEAT_EV_RELEASED:
            ledger->claims[id].held = false;
            ledger->claims[id].released = event->kind == PLEAT_EV_RELEASED;
            for (int s = 0; s < PROCESSORS; s++)
                if (ledger->used[s] == (int32_t)id)
                    ledger->used[s] = 0;
            break;
        default:
            fail_msg("'%s' is not for a site to say", pleat_event_name(event->kind));
        }
    }
}

static void test_nothing_is_given_twice(void **state)
{
    (void)state;
    struct bed bed;
    FOR_EACH_SUBJECT(bed, false)
    {
        if (bed.subject->apart)
            continue;
        struct pleat_random random;
        struct ledger ledger;
        memset(&ledger, 0, sizeof(ledger));
        pleat_random_init(&random, 42);
        for (uint64_t id = 1; id < CLAIMS; id++) {
            ledger.claims[id].asked = true;
            ledger.claims[id].wanted = 1 + (int32_t)pleat_random_below(&random, PROCESSORS);
            claim(&bed, id, ledger.claims[id].wanted);
            if (pleat_random_below(&random, 2))
                played_host_run(&bed.host);
            book(&ledger, &bed);
            uint64_t victim = 1 + pleat_random_below(&random, id);
            if (!ledger.claims[victim].released)
                release(&bed, victim);
            if (pleat_random_below(&random, 2))
                played_host_run(&bed.host);
            book(&ledger, &bed);
        }
        for (uint64_t id = 1; id < CLAIMS; id++)
            if (!ledger.claims[id].released)
                release(&bed, id);
        played_host_run(&bed.host);
        book(&ledger, &bed);
        for (int s = 0; s < PROCESSORS; s++)
            assert_int_equal(ledger.used[s], 0);
        for (uint64_t id = 1; id < CLAIMS; id++)
            assert_true(ledger.claims[id].released);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_says_what_there_is),
        cmocka_unit_test(test_a_delay_is_kept),
        cmocka_unit_test(test_refuses_to_open_nonsense),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_a_claim_is_answered_once),
        cmocka_unit_test(test_repeating_a_claim_changes_nothing),
        cmocka_unit_test(test_a_release_is_answered_and_repeatable),
        cmocka_unit_test(test_a_release_before_the_claim_is_answered),
        cmocka_unit_test(test_cannot_is_not_refused),
        cmocka_unit_test(test_a_claim_of_nothing_gives_nothing),
        cmocka_unit_test(test_splitting),
        cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_adopting),
        cmocka_unit_test(test_adopting_what_is_not_there),
        cmocka_unit_test(test_closing_with_answers_due),
        cmocka_unit_test(test_a_claim_is_given_when_its_agents_have_called),
        cmocka_unit_test(test_nodes_come_and_go),
        cmocka_unit_test(test_batch_has_a_queue),
        cmocka_unit_test(test_batch_takes_away),
        cmocka_unit_test(test_batch_takes_away_with_notice),
        cmocka_unit_test(test_batch_grows_in_its_allocation),
        cmocka_unit_test(test_batch_grows_on_the_nodes_that_are_said),
        cmocka_unit_test(test_batch_after_a_restart),
        cmocka_unit_test(test_a_node_whose_number_another_one_had),
        cmocka_unit_test(test_a_node_whose_number_another_one_had_is_taken),
        cmocka_unit_test(test_an_allocation_of_several_hosts),
        cmocka_unit_test(test_what_is_held_is_used_first),
        cmocka_unit_test(test_a_host_is_lost),
        cmocka_unit_test(test_several_hosts_after_a_restart),
        cmocka_unit_test(test_an_agent_ends_unseen),
        cmocka_unit_test(test_played_programs),
        cmocka_unit_test(test_nothing_is_given_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
