#include "experiments/koala-malleable/settings.h"

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
                    "local users leave 9 % of the processors, and EGS divides only once",
                    {.background = 0.91, .steady = true, .egs = KOALA_EGS_ONCE}},
};

const struct koala_setting *koala_named(enum koala_named which)
{
    return &named[which];
}

enum { BACKGROUND, CAP, RESIZE, CLAIM, DIVIDES, ARRIVALS, SPEEDUP };

static const struct {
    double share;
    bool steady;
} backgrounds[] = {{0, false},   {0.5, true},  {0.75, true},  {0.85, true}, {0.88, true},
                   {0.91, true}, {0.5, false}, {0.75, false}, {0.9, false}};
static const int32_t caps[] = {0, 32, 16, 8};
static const double resizes[] = {0, 5, 20, 60};
static const double claims[] = {0, 15, 60};

/* The first level of a dimension is the face value. The last ones belong to the full sweep only. */
static const struct koala_dimension dimensions[] = {
    [BACKGROUND] = {"local users: none, always 50, 75, 85, 88, 91 %, coming and going 50, 75, 90 %",
                    9},
    [CAP] = {"grown up to, in a cluster: all, 32, 16, 8", 4},
    [RESIZE] = {"a change stops it for 0, 5, 20, 60 s", 4},
    [CLAIM] = {"processors take 0, 15, 60 s", 3},
    [DIVIDES] = {"EGS divides again, once, shrinks as printed", 3},
    [ARRIVALS] = {"arrivals even, random", 2},
    [SPEEDUP] = {"best sizes 16 and 32, 8 and 16", 2},
};

const struct koala_dimension *koala_dimension_at(size_t i)
{
    return i < sizeof(dimensions) / sizeof(dimensions[0]) ? &dimensions[i] : NULL;
}

size_t koala_dimension_levels(size_t i, bool quick)
{
    return !quick ? dimensions[i].count : i == BACKGROUND || i == DIVIDES ? 2 : 1;
}

size_t koala_sweep_count(bool quick)
{
    size_t count = 1;
    for (size_t i = 0; koala_dimension_at(i); i++)
        count *= koala_dimension_levels(i, quick);
    return count;
}

size_t koala_sweep_level(size_t setting, size_t dimension, bool quick)
{
    for (size_t i = 0; i < dimension; i++)
        setting /= koala_dimension_levels(i, quick);
    return setting % koala_dimension_levels(dimension, quick);
}

struct koala_unsaid koala_sweep_at(size_t setting, bool quick)
{
    size_t background = koala_sweep_level(setting, BACKGROUND, quick);
    return (struct koala_unsaid){
        .background = backgrounds[background].share,
        .steady = backgrounds[background].steady,
        .cap = caps[koala_sweep_level(setting, CAP, quick)],
        .resize_s = resizes[koala_sweep_level(setting, RESIZE, quick)],
        .claim_s = claims[koala_sweep_level(setting, CLAIM, quick)],
        .egs = (enum koala_egs)koala_sweep_level(setting, DIVIDES, quick),
        .poisson = koala_sweep_level(setting, ARRIVALS, quick) == 1,
        .steep = koala_sweep_level(setting, SPEEDUP, quick) == 1,
    };
}
