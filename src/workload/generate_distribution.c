/* generate_distribution.c - reads distributions, and draws from them. */
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "workload/generate-internal.h"

struct form {
    const char *name;
    enum pleat_distribution_kind kind;
    size_t numbers; /* 0: pairs */
    const char *needs, *example;
};

static const struct form forms[] = {
    {"constant", PLEAT_DIST_CONSTANT, 1, "one number, the value", "constant:30"},
    {"uniform", PLEAT_DIST_UNIFORM, 2, "two numbers, the least and the greatest", "uniform:10,50"},
    {"normal", PLEAT_DIST_NORMAL, 2, "two numbers, mean and standard deviation", "normal:60,10"},
    {"poisson", PLEAT_DIST_EXPONENTIAL, 1, "one number, the mean gap", "poisson:30"},
    {"exponential", PLEAT_DIST_EXPONENTIAL, 1, "one number, the mean", "exponential:30"},
    {"lognormal", PLEAT_DIST_LOGNORMAL, 2,
     "two numbers, mean and standard deviation of the logarithm", "lognormal:3,1"},
    {"weibull", PLEAT_DIST_WEIBULL, 2, "two numbers, scale and shape", "weibull:100,0.7"},
    {"gamma", PLEAT_DIST_GAMMA, 2, "two numbers, shape and scale", "gamma:2,50"},
    {"discrete", PLEAT_DIST_DISCRETE, 0, "values with their weights", "discrete:1=0.2,2=0.3,4=0.5"},
};
enum { FORMS = sizeof(forms) / sizeof(forms[0]) };

/* ---- reading ---- */

/* Reads the number that begins at *at, and moves *at behind it. */
static bool take_number(const char **at, double *value)
{
    char *end;
    *value = strtod(*at, &end);
    /* refuses "inf", "nan" and hexadecimal numbers */
    if (end == *at || !isfinite(*value) || strspn(*at, "+-.0123456789eE") < (size_t)(end - *at))
        return false;
    *at = end;
    return true;
}

static const struct form *find_form(const char *name, size_t length)
{
    for (size_t i = 0; i < FORMS; i++)
        if (strlen(forms[i].name) == length && !memcmp(forms[i].name, name, length))
            return &forms[i];
    return NULL;
}

static int bad_kind(const char *text, struct pleat_error *err)
{
    struct pleat_string names = {0};
    for (size_t i = 0; i < FORMS; i++)
        pleat_string_addf(&names, "%s%s", i ? ", " : "", forms[i].name);
    pleat_error_set(err, PLEAT_E_INVALID,
                    "'%s' is not a distribution: write a number, or one of %s with what it needs, "
                    "as in normal:60,10",
                    text, names.text ? names.text : "");
    pleat_string_finish(&names);
    return PLEAT_E_INVALID;
}

static int bad_form(const struct form *form, struct pleat_error *err)
{
    return pleat_error_set(err, PLEAT_E_INVALID, "%s needs %s, as in %s", form->name, form->needs,
                           form->example);
}

static int take_pairs(const struct form *form, const char **at, struct pleat_distribution *d,
                      struct pleat_error *err)
{
    double sum = 0;
    do {
        *at += **at == ',';
        if (d->count == PLEAT_DIST_VALUES)
            return pleat_error_set(err, PLEAT_E_INVALID, "discrete takes at most %d values",
                                   PLEAT_DIST_VALUES);
        double *value = &d->values[d->count], *weight = &d->weights[d->count];
        if (!take_number(at, value) || *(*at)++ != '=' || !take_number(at, weight))
            return bad_form(form, err);
        if (*value < 0 || *weight < 0)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "discrete: values and weights cannot be negative");
        sum += *weight;
        d->count++;
    } while (**at == ',');
    if (!(sum > 0) || !isfinite(sum))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "discrete: at least one weight must be "
                               "above 0");
    return 0;
}

static int take_parameters(const struct form *form, const char **at, struct pleat_distribution *d,
                           struct pleat_error *err)
{
    if (form->numbers == 0)
        return take_pairs(form, at, d, err);
    if (!take_number(at, &d->a))
        return bad_form(form, err);
    if (form->numbers == 2 && (*(*at)++ != ',' || !take_number(at, &d->b)))
        return bad_form(form, err);
    return **at && **at != '[' ? bad_form(form, err) : 0;
}

/* Reads "[LEAST..MOST]", of which each number may be left out. */
static int take_limits(const char **at, struct pleat_distribution *d, struct pleat_error *err)
{
    if (**at != '[')
        return 0;
    ++*at;
    bool least = *(*at) == '.' && (*at)[1] == '.' ? true : take_number(at, &d->least);
    /* strtod takes the first of the two dots as part of the number */
    if (least && (*at)[-1] == '.' && **at == '.')
        --*at;
    bool dots = least && !strncmp(*at, "..", 2);
    *at += dots ? 2 : 0;
    bool most = dots && (**at == ']' || (take_number(at, &d->most) && d->most > 0));
    if (!most || **at != ']')
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "limits are [LEAST..MOST], as in normal:60,10[30..90]");
    ++*at;
    if (d->least < 0 || (d->most > 0 && d->most < d->least))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "limits [%g..%g]: the least must be from 0 to the greatest",
                               d->least, d->most);
    return 0;
}

static const char *wrong_with(const struct pleat_distribution *d)
{
    switch (d->kind) {
    case PLEAT_DIST_CONSTANT:
        return d->a < 0 ? "the value cannot be negative" : NULL;
    case PLEAT_DIST_UNIFORM:
        return d->a < 0 || d->a > d->b ? "the least must be from 0 to the greatest" : NULL;
    case PLEAT_DIST_NORMAL:
        return d->a < 0 || d->b < 0 ? "mean and standard deviation cannot be negative" : NULL;
    case PLEAT_DIST_EXPONENTIAL:
        return d->a <= 0 ? "the mean must be above 0" : NULL;
    case PLEAT_DIST_LOGNORMAL:
        if (d->b < 0)
            return "the standard deviation cannot be negative";
        return isfinite(exp(d->a + d->b * d->b / 2))
                   ? NULL
                   : "mean and standard deviation of the logarithm are too large";
    case PLEAT_DIST_WEIBULL:
    case PLEAT_DIST_GAMMA:
        return d->a <= 0 || d->b <= 0 ? "scale and shape must be above 0" : NULL;
    default:
        return NULL;
    }
}

int pleat_distribution_parse(const char *text, struct pleat_distribution *distribution,
                             struct pleat_error *err)
{
    struct pleat_distribution d = {.kind = PLEAT_DIST_CONSTANT};
    const char *at = text;
    const struct form *form = &forms[0];
    if (!take_number(&at, &d.a)) {
        size_t length = strcspn(text, ":[");
        form = find_form(text, length);
        if (!form)
            return bad_kind(text, err);
        d.kind = form->kind;
        at = text + length;
        if (*at++ != ':')
            return bad_form(form, err);
        int status = take_parameters(form, &at, &d, err);
        if (status)
            return status;
    }
    int status = take_limits(&at, &d, err);
    if (status)
        return status;
    if (*at)
        return pleat_error_set(err, PLEAT_E_INVALID, "'%s': nothing can come after '%.*s'", text,
                               (int)(at - text), text);
    const char *wrong = wrong_with(&d);
    if (wrong)
        return pleat_error_set(err, PLEAT_E_INVALID, "%s: %s, as in %s", form->name, wrong,
                               form->example);
    *distribution = d;
    return 0;
}

/* ---- drawing ---- */

struct pleat_stream *pleat_generate_stream(uint64_t seed, uint32_t which)
{
    const gsl_rng_type *type = gsl_rng_mt19937;
    struct pleat_random mixer;
    struct pleat_stream *stream = malloc(sizeof(*stream) + type->size);
    if (!stream)
        return NULL;
    stream->rng.type = type;
    stream->rng.state = stream->state;
    /* the generator takes a seed of 32 bits, and takes 0 for its own default */
    pleat_random_init(&mixer, seed);
    unsigned long start = 0;
    for (uint32_t i = 0; i <= which || start == 0; i++)
        start = pleat_random_next(&mixer) >> 32;
    gsl_rng_set(&stream->rng, start);
    return stream;
}

void pleat_stream_destroy(struct pleat_stream *stream)
{
    free(stream);
}

static double draw_discrete(const struct pleat_distribution *d, const gsl_rng *rng)
{
    double sum = 0;
    uint32_t last = 0;
    for (uint32_t i = 0; i < d->count; i++)
        sum += d->weights[i];
    double at = gsl_rng_uniform(rng) * sum;
    for (uint32_t i = 0; i < d->count && at >= 0; i++) {
        at -= d->weights[i];
        last = d->weights[i] > 0 ? i : last;
    }
    return d->values[last];
}

static double draw(const struct pleat_distribution *d, const gsl_rng *rng)
{
    double value;
    switch (d->kind) {
    case PLEAT_DIST_UNIFORM:
        return gsl_ran_flat(rng, d->a, d->b);
    case PLEAT_DIST_NORMAL:
        value = d->a + gsl_ran_gaussian(rng, d->b);
        return value > 0 ? value : 0;
    case PLEAT_DIST_EXPONENTIAL:
        return gsl_ran_exponential(rng, d->a);
    case PLEAT_DIST_LOGNORMAL:
        return gsl_ran_lognormal(rng, d->a, d->b);
    case PLEAT_DIST_WEIBULL:
        return gsl_ran_weibull(rng, d->a, d->b);
    case PLEAT_DIST_GAMMA:
        return gsl_ran_gamma(rng, d->a, d->b);
    case PLEAT_DIST_DISCRETE:
        return draw_discrete(d, rng);
    default:
        return d->a;
    }
}

static double clip(const struct pleat_distribution *d, double value)
{
    if (d->most > 0 && value > d->most)
        value = d->most;
    return value < d->least ? d->least : value;
}

double pleat_distribution_draw(const struct pleat_distribution *distribution,
                               struct pleat_stream *stream)
{
    return clip(distribution, draw(distribution, &stream->rng));
}

int64_t pleat_distribution_draw_whole(const struct pleat_distribution *d,
                                      struct pleat_stream *stream, int64_t low, int64_t high)
{
    double value;
    if (d->kind == PLEAT_DIST_UNIFORM)
        value = floor(gsl_ran_flat(&stream->rng, ceil(d->a), floor(d->b) + 1));
    else
        value = draw(d, &stream->rng);
    value = round(clip(d, value));
    return value <= (double)low ? low : value >= (double)high ? high : (int64_t)value;
}
