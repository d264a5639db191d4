#include "experiments/koala-malleable/settings.h"

#include "base/random.h"

static const struct koala_setting named[KOALA_NAMED] = {
    [KOALA_FACE] = {"face values", "nothing but what the paper says", {0}},
    [KOALA_SCARCE] = {"scarce",
                      "the jobs of a cluster are grown to 8 processors together, and getting "
                      "processors takes 15 s",
                      {.cap = 8, .claim_s = 15}},
    [KOALA_SLOW] = {"slow",
                    "as *scarce*, and a change of size stops the application for a minute",
                    {.cap = 8, .claim_s = 15, .resize_s = 60}},
    [KOALA_COSTLY] = {"costly",
                      "local users ask for half of the processors, and a change of size stops the "
                      "application for a minute",
                      {.background = 0.5, .resize_s = 60}},
    [KOALA_FULL] = {"full",
                    "local users leave 9 % of the processors, and EGS divides once in a pass",
                    {.background = 0.91, .steady = true, .egs = KOALA_EGS_ONCE}},
};

const struct koala_setting *koala_named(enum koala_named which)
{
    return &named[which];
}

enum {
    BACKGROUND,
    CLUSTERS,
    CAP,
    TOTAL,
    RESIZE,
    CLAIM,
    RELEASE,
    DECIDE,
    EGS,
    ROOM,
    ELSEWHERE,
    ARRIVALS,
    SPEEDUP
};

static const struct {
    double share;
    bool steady;
} backgrounds[] = {{0, false},   {0.5, true},  {0.75, true},  {0.85, true}, {0.88, true},
                   {0.91, true}, {0.5, false}, {0.75, false}, {0.9, false}};
static const int32_t caps[] = {0, 32, 16, 8}, totals[] = {0, 128, 64, 32};
static const double resizes[] = {0, 5, 20, 60, 120, 240, 300};
static const double claims[] = {0, 15, 60, 0}, each[] = {0, 0, 0, 5};
static const double releases[] = {0, 15, 60}, decides[] = {0, 5, 20, 60};

#define ALL (~0u)

/* What is credible was set down before any run of this sweep: local users with at most half of the
 * processors, as their load "does not disturb the measures" (VI-C); jobs that may grow to 32
 * processors of a cluster and 64 of all, or more, as figures 7a and 7b are about sizes up to 46;
 * and a minute at most for a change of size, as applications resume "immediately" (V-A). Buisson et
 * al. 2007 do not say on how many of the clusters jobs were run, so any number is credible. */
static const struct koala_dimension dimensions[] = {
    [BACKGROUND] = {"local users",
                    {"none", "always 50 %", "always 75 %", "always 85 %", "always 88 %",
                     "always 91 %", "coming and going 50 %", "coming and going 75 %",
                     "coming and going 90 %"},
                    1u << 0 | 1u << 1 | 1u << 6},
    [CLUSTERS] = {"clusters in use", {"5", "4", "3", "2", "1"}, ALL},
    [CAP] = {"grown up to, in a cluster", {"all", "32", "16", "8"}, 1u << 0 | 1u << 1},
    [TOTAL] = {"grown up to, in all clusters",
               {"all", "128", "64", "32"},
               1u << 0 | 1u << 1 | 1u << 2},
    [RESIZE] = {"a change stops it for",
                {"0 s", "5 s", "20 s", "60 s", "120 s", "240 s", "300 s"},
                1u << 0 | 1u << 1 | 1u << 2 | 1u << 3},
    [CLAIM] = {"processors take", {"0 s", "15 s", "60 s", "5 s each, one after another"}, ALL},
    [RELEASE] = {"giving back takes", {"0 s", "15 s", "60 s"}, ALL},
    [DECIDE] = {"KOALA decides", {"at every event", "every 5 s", "every 20 s", "every 60 s"}, ALL},
    [EGS] = {"EGS", {"divides again", "divides once in a pass", "shrinks as printed"}, ALL},
    [ROOM] = {"room is made", {"whole or not at all", "bit by bit"}, ALL},
    [ELSEWHERE] = {"while room is made others grow", {"elsewhere", "nowhere"}, ALL},
    [ARRIVALS] = {"arrivals", {"even", "random"}, ALL},
    [SPEEDUP] = {"best sizes", {"16 and 32", "8 and 16"}, ALL},
};

enum {
    DIMENSIONS = sizeof(dimensions) / sizeof(dimensions[0]),
    SETTINGS = 1200,
    QUICK_SETTINGS = 6
};

const struct koala_dimension *koala_dimension_at(size_t i)
{
    return i < DIMENSIONS ? &dimensions[i] : NULL;
}

size_t koala_dimension_levels(size_t i)
{
    size_t count = 0;
    while (dimensions[i].levels[count])
        count++;
    return count;
}

size_t koala_sweep_count(bool quick)
{
    return quick ? QUICK_SETTINGS : SETTINGS;
}

/* Each dimension has its face value in one of two settings, else any of the other levels: so there
 * are settings near the face values, though there are many dimensions. */
size_t koala_sweep_level(size_t setting, size_t dimension)
{
    struct pleat_random random;
    if (setting == 0)
        return 0;
    pleat_random_init(&random, setting * 64 + dimension);
    if (pleat_random_below(&random, 2))
        return 0;
    return 1 + (size_t)pleat_random_below(&random, koala_dimension_levels(dimension) - 1);
}

struct koala_unsaid koala_sweep_without(size_t setting, size_t dimension)
{
    size_t at[DIMENSIONS];
    for (size_t i = 0; i < DIMENSIONS; i++)
        at[i] = i == dimension ? 0 : koala_sweep_level(setting, i);
    return (struct koala_unsaid){
        .background = backgrounds[at[BACKGROUND]].share,
        .steady = backgrounds[at[BACKGROUND]].steady,
        .left_out = (int)at[CLUSTERS],
        .cap = caps[at[CAP]],
        .total = totals[at[TOTAL]],
        .resize_s = resizes[at[RESIZE]],
        .claim_s = claims[at[CLAIM]],
        .claim_each_s = each[at[CLAIM]],
        .release_s = releases[at[RELEASE]],
        .decide_s = decides[at[DECIDE]],
        .egs = (enum koala_egs)at[EGS],
        .partly = at[ROOM] == 1,
        .nowhere = at[ELSEWHERE] == 1,
        .poisson = at[ARRIVALS] == 1,
        .steep = at[SPEEDUP] == 1,
    };
}

struct koala_unsaid koala_sweep_at(size_t setting)
{
    return koala_sweep_without(setting, SIZE_MAX);
}

bool koala_sweep_credible(size_t setting)
{
    for (size_t i = 0; i < DIMENSIONS; i++)
        if (!(dimensions[i].credible >> koala_sweep_level(setting, i) & 1))
            return false;
    return true;
}

size_t koala_sweep_distance(size_t setting)
{
    size_t distance = 0;
    for (size_t i = 0; i < DIMENSIONS; i++)
        distance += koala_sweep_level(setting, i) > 0;
    return distance;
}

void koala_sweep_tell(size_t setting, struct pleat_string *out)
{
    bool any = false;
    for (size_t i = 0; i < DIMENSIONS; i++) {
        size_t level = koala_sweep_level(setting, i);
        if (level > 0)
            pleat_string_addf(out, "%s%s: %s", any ? "; " : "", dimensions[i].name,
                              dimensions[i].levels[level]);
        any |= level > 0;
    }
    if (!any)
        pleat_string_add(out, "face values");
}
