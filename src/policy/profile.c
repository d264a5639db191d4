#include "policy/profile.h"

#include <stdbool.h>
#include <string.h>

#include "model/types.h"

int pleat_profile_begin(struct pleat_profile *profile, int64_t from_us, int32_t free)
{
    profile->steps.count = 0;
    if (pleat_array_reserve(&profile->steps, 1))
        return PLEAT_E_NOMEM;
    profile->steps.count = 1;
    profile->steps.items[0] = (struct pleat_profile_step){from_us, free};
    return 0;
}

void pleat_profile_finish(struct pleat_profile *profile)
{
    pleat_array_finish(&profile->steps);
}

/* The step in force at a time that is not before the first. */
static size_t find(const struct pleat_profile *profile, int64_t at_us)
{
    size_t low = 0, high = profile->steps.count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (profile->steps.items[middle].from_us <= at_us)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The step that begins at a time, made where there is none; there is room for it. */
static size_t split(struct pleat_profile *profile, int64_t at_us)
{
    struct pleat_profile_step *steps = profile->steps.items;
    size_t at = find(profile, at_us);
    if (steps[at].from_us == at_us)
        return at;
    at++;
    memmove(steps + at + 1, steps + at, (profile->steps.count++ - at) * sizeof(*steps));
    steps[at] = (struct pleat_profile_step){at_us, steps[at - 1].free};
    return at;
}

/* Removes a step that changes nothing. */
static void join(struct pleat_profile *profile, size_t at)
{
    struct pleat_profile_step *steps = profile->steps.items;
    if (at == 0 || at >= profile->steps.count || steps[at].free != steps[at - 1].free)
        return;
    memmove(steps + at, steps + at + 1, (--profile->steps.count - at) * sizeof(*steps));
}

int pleat_profile_take(struct pleat_profile *profile, int64_t from_us, int64_t to_us,
                       int32_t processors)
{
    int64_t begin_us = profile->steps.items[0].from_us;
    if (from_us < begin_us)
        from_us = begin_us;
    if (from_us >= to_us)
        return 0;
    if (pleat_array_reserve(&profile->steps, 2))
        return PLEAT_E_NOMEM;
    size_t first = split(profile, from_us);
    size_t end = to_us == PLEAT_NEVER ? profile->steps.count : split(profile, to_us);
    for (size_t at = first; at < end; at++)
        profile->steps.items[at].free -= processors;
    join(profile, end);
    join(profile, first);
    return 0;
}

int64_t pleat_profile_earliest(const struct pleat_profile *profile, int64_t from_us,
                               int64_t length_us, int32_t processors)
{
    const struct pleat_profile_step *steps = profile->steps.items;
    size_t count = profile->steps.count;
    int64_t start_us = from_us > steps[0].from_us ? from_us : steps[0].from_us;
    for (size_t at = find(profile, start_us); at < count; at++) {
        bool last = at + 1 == count;
        if (steps[at].free < processors)
            start_us = last ? PLEAT_NEVER : steps[at + 1].from_us;
        else if (last || steps[at + 1].from_us - start_us >= length_us)
            break;
    }
    return start_us;
}

int64_t pleat_profile_earlier(const struct pleat_profile *profile, int64_t from_us,
                              int64_t length_us, int32_t processors, int64_t place_us,
                              int64_t before_us)
{
    const struct pleat_profile_step *steps = profile->steps.items;
    size_t count = profile->steps.count;
    int64_t start_us = from_us > steps[0].from_us ? from_us : steps[0].from_us;
    if (before_us > place_us)
        before_us = place_us;
    for (size_t at = start_us < before_us ? find(profile, start_us) : 0; start_us < before_us;
         at++) {
        int64_t end_us = at + 1 < count ? steps[at + 1].from_us : PLEAT_NEVER;
        if (steps[at].free < processors)
            start_us = end_us;
        else if (end_us >= place_us || end_us - start_us >= length_us)
            return start_us; /* from place_us on the component has processors: its own place */
    }
    return place_us;
}

int32_t pleat_profile_least(const struct pleat_profile *profile, int64_t from_us, int64_t length_us)
{
    const struct pleat_profile_step *steps = profile->steps.items;
    size_t at = find(profile, from_us);
    int32_t least = steps[at].free;
    for (at++; at < profile->steps.count && steps[at].from_us - from_us < length_us; at++)
        least = steps[at].free < least ? steps[at].free : least;
    return least;
}

void pleat_profile_advance(struct pleat_profile *profile, int64_t now_us)
{
    struct pleat_profile_step *steps = profile->steps.items;
    size_t at = steps[0].from_us < now_us ? find(profile, now_us) : 0;
    if (steps[at].from_us < now_us)
        steps[at].from_us = now_us;
    profile->steps.count -= at;
    memmove(steps, steps + at, profile->steps.count * sizeof(*steps));
}
