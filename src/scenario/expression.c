/* expression.c - a recursive descent over the text. */
#include "scenario/expression.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MOST = 64 };

struct expression {
    const char *text, *at;
    pleat_variable *variable;
    void *context;
    struct pleat_error *err;
    int depth;
    bool failed;
};

static double sum(struct expression *e);

static double wrong(struct expression *e, const char *what)
{
    if (!e->failed)
        pleat_error_set(e->err, PLEAT_E_INVALID, "'%.60s', character %zu: %s", e->text,
                        (size_t)(e->at - e->text) + 1, what);
    e->failed = true;
    return 0;
}

static bool take(struct expression *e, char c)
{
    e->at += strspn(e->at, " \t");
    if (e->failed || *e->at != c)
        return false;
    e->at++;
    return true;
}

static double call(struct expression *e, const char *name, size_t length)
{
    static const struct {
        const char *name;
        double (*one)(double);
        double (*two)(double, double);
    } functions[] = {{"abs", fabs, NULL},    {"ceil", ceil, NULL},   {"exp", exp, NULL},
                     {"floor", floor, NULL}, {"log", log, NULL},     {"log10", log10, NULL},
                     {"log2", log2, NULL},   {"round", round, NULL}, {"sqrt", sqrt, NULL},
                     {"max", NULL, fmax},    {"min", NULL, fmin},    {"pow", NULL, pow}};
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (strlen(functions[i].name) != length || strncmp(functions[i].name, name, length) != 0)
            continue;
        double first = sum(e);
        if (functions[i].one)
            return take(e, ')') ? functions[i].one(first) : wrong(e, "')' is missing");
        if (!take(e, ','))
            return wrong(e, "',' is missing");
        double second = sum(e);
        return take(e, ')') ? functions[i].two(first, second) : wrong(e, "')' is missing");
    }
    return wrong(e, "there is no such function");
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static double primary(struct expression *e)
{
    e->at += strspn(e->at, " \t");
    if (take(e, '(')) {
        double value = sum(e);
        return take(e, ')') ? value : wrong(e, "')' is missing");
    }
    if (is_digit(*e->at) || *e->at == '.') {
        char *end;
        double value = strtod(e->at, &end);
        if (end == e->at || e->at[1] == 'x' || e->at[1] == 'X')
            return wrong(e, "this is no number");
        e->at = end;
        return value;
    }
    const char *name = e->at;
    while (is_letter(*e->at) || (e->at > name && is_digit(*e->at)))
        e->at++;
    size_t length = (size_t)(e->at - name);
    double value = 0;
    if (length == 0)
        return wrong(e, *e->at ? "a number or a name is expected" : "it ends too early");
    if (take(e, '('))
        return call(e, name, length);
    if (!e->variable(e->context, name, length, &value)) {
        e->at = name;
        return wrong(e, "there is no such variable");
    }
    return value;
}

static double power(struct expression *e)
{
    if (e->failed || ++e->depth > DEPTH_MOST)
        return wrong(e, "it is nested too deep");
    double value;
    if (take(e, '-')) {
        value = -power(e);
    } else if (take(e, '+')) {
        value = power(e);
    } else {
        value = primary(e);
        if (take(e, '^'))
            value = pow(value, power(e));
    }
    e->depth--;
    return value;
}

static double product(struct expression *e)
{
    double value = power(e);
    while (!e->failed) {
        if (take(e, '*'))
            value *= power(e);
        else if (take(e, '/'))
            value /= power(e);
        else if (take(e, '%'))
            value = fmod(value, power(e));
        else
            break;
    }
    return value;
}

static double sum(struct expression *e)
{
    double value = product(e);
    while (!e->failed) {
        if (take(e, '+'))
            value += product(e);
        else if (take(e, '-'))
            value -= product(e);
        else
            break;
    }
    return value;
}

int pleat_expression(const char *text, pleat_variable *variable, void *context, double *value,
                     struct pleat_error *err)
{
    struct expression e = {text, text, variable, context, err, 0, false};
    double read = sum(&e);
    e.at += strspn(e.at, " \t");
    if (!e.failed && *e.at)
        (void)wrong(&e, "an operator is expected");
    if (e.failed)
        return PLEAT_E_INVALID;
    *value = read;
    return 0;
}
