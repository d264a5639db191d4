#include "model/way.h"

#include <stdio.h>
#include <stdlib.h>

#define TRIES 2      /* tries of each way before the two are compared */
#define LATEST 5     /* pauses that count */
#define AWAY_MOST 16 /* for how many resizes, at most, a way that failed is left alone */
#define STALE 16     /* after how many resizes a way that was not taken is measured again */
#define LIKE 4       /* amounts of state within this factor of one another count as alike */

/* What the samples say of one way. */
struct record {
    enum pleat_resize_way way;
    size_t measured;       /* pauses that count, */
    int64_t pause[LATEST]; /* the last ones, sorted */
    int64_t median_us;
    size_t ago;      /* resizes in that direction since it was taken last; SIZE_MAX: never */
    size_t failures; /* failures in a row, up to now */
    size_t since;    /* resizes since the last failure that went well, in either way */
};

static int by_length(const void *a, const void *b)
{
    const int64_t one = *(const int64_t *)a;
    const int64_t other = *(const int64_t *)b;
    return (one > other) - (one < other);
}

static bool is_like(int64_t one, int64_t other)
{
    return one / LIKE <= other && other / LIKE <= one;
}

static struct record look(enum pleat_resize_way way, const struct pleat_way_sample *samples,
                          size_t count, bool grows)
{
    struct record record = {.way = way, .ago = SIZE_MAX};
    size_t behind = 0; /* resizes in that direction seen so far, from the latest on */
    int64_t bytes = 0;
    bool has_worked = false;
    for (size_t i = count; i-- > 0;) {
        const struct pleat_way_sample *sample = &samples[i];
        bool is_mine = sample->way == way;
        if (is_mine && sample->failed && !has_worked)
            record.failures++;
        has_worked = has_worked || (is_mine && !sample->failed);
        if (!sample->failed && !record.failures)
            record.since++;
        if (sample->failed || sample->grows != grows)
            continue;
        if (is_mine && record.ago == SIZE_MAX) {
            record.ago = behind;
            bytes = sample->bytes;
        }
        if (is_mine && record.measured < LATEST && is_like(sample->bytes, bytes))
            record.pause[record.measured++] = sample->pause_us;
        behind++;
    }
    if (record.measured) {
        qsort(record.pause, record.measured, sizeof(record.pause[0]), by_length);
        record.median_us = record.pause[record.measured / 2];
    }
    return record;
}

static bool is_left_alone(const struct record *record)
{
    size_t most = record->failures < 4 ? (size_t)1 << record->failures : AWAY_MOST;
    return record->failures && record->since < most;
}

static struct pleat_way_choice take(const struct record *record, const char *reason)
{
    struct pleat_way_choice choice = {.way = record->way};
    snprintf(choice.reason, sizeof(choice.reason), "%s", reason);
    return choice;
}

static struct pleat_way_choice compare(const struct record *now, const struct record *other)
{
    struct pleat_way_choice choice = {.way = now->way};
    bool changes = other->median_us < now->median_us - now->median_us / 5;
    const char *word = changes                             ? "it takes less"
                       : other->median_us < now->median_us ? "the other way takes hardly less"
                                                           : "the other way takes more";
    if (changes)
        choice.way = other->way;
    snprintf(choice.reason, sizeof(choice.reason), "%s: %.3g ms against %.3g ms", word,
             (double)(changes ? other : now)->median_us / 1e3,
             (double)(changes ? now : other)->median_us / 1e3);
    return choice;
}

struct pleat_way_choice pleat_way_choose(const struct pleat_way_sample *samples, size_t count,
                                         bool grows)
{
    const struct record merge = look(PLEAT_WAY_MERGE, samples, count, grows);
    const struct record relaunch = look(PLEAT_WAY_RELAUNCH, samples, count, grows);
    const struct record *now = relaunch.ago < merge.ago ? &relaunch : &merge;
    const struct record *other = now == &merge ? &relaunch : &merge;
    if (is_left_alone(&merge) && is_left_alone(&relaunch))
        return take(relaunch.failures < merge.failures ? &relaunch : &merge,
                    "both ways failed, this one less often");
    if (is_left_alone(&merge) || is_left_alone(&relaunch))
        return take(is_left_alone(&merge) ? &relaunch : &merge, "the other way failed");
    if (merge.measured < TRIES || relaunch.measured < TRIES)
        return take(relaunch.measured < merge.measured ? &relaunch : &merge,
                    "to measure what it takes");
    if (other->ago >= STALE)
        return take(other, "to measure it again");
    return compare(now, other);
}
