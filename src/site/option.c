/* Values of options of a kind of site: from a text into the kind's struct. */
#include "site/option.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "site/site.h"

const struct pleat_site_option *pleat_site_option_find(const struct pleat_site_ops *kind,
                                                       const char *name)
{
    for (const struct pleat_site_option *o = kind->options; o && o->name; o++)
        if (!strcmp(o->name, name))
            return o;
    return NULL;
}

static int check_number(const struct pleat_site_option *option, const char *text, int64_t *number,
                        struct pleat_error *err)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (!errno && end != text && !*end && value >= option->low && value <= option->high) {
        *number = value;
        return 0;
    }
    return pleat_error_set(err, PLEAT_E_INVALID, "%s = %.100s: must be from %lld to %lld",
                           option->name, text, (long long)option->low, (long long)option->high);
}

static int check_seconds(const struct pleat_site_option *option, const char *text, int64_t *us,
                         struct pleat_error *err)
{
    char *end;
    double value = strtod(text, &end);
    if (end != text && !*end && value >= (double)option->low && value <= (double)option->high) {
        *us = llround(value * (double)PLEAT_US_PER_S);
        return 0;
    }
    return pleat_error_set(err, PLEAT_E_INVALID, "%s = %.100s: must be from %lld to %lld seconds",
                           option->name, text, (long long)option->low, (long long)option->high);
}

/* Appends the choices for people, as in "auto, measure or ignore". */
static void add_choices(struct pleat_string *text, const char *choices)
{
    while (*choices) {
        size_t length = strcspn(choices, " ");
        const char *next = choices + length + (choices[length] == ' ');
        pleat_string_add_bytes(text, choices, length);
        if (*next)
            pleat_string_add(text, strchr(next, ' ') ? ", " : " or ");
        choices = next;
    }
}

static int check_choice(const struct pleat_site_option *option, const char *text, int *choice,
                        struct pleat_error *err)
{
    const char *at = option->choices;
    for (int i = 0; *at; i++) {
        size_t length = strcspn(at, " ");
        if (strlen(text) == length && !strncmp(text, at, length)) {
            *choice = i;
            return 0;
        }
        at += length + (at[length] == ' ');
    }
    struct pleat_string choices = {0};
    add_choices(&choices, option->choices);
    int rc = pleat_error_set(err, PLEAT_E_INVALID, "%s = %.100s: must be %s", option->name, text,
                             choices.failed ? option->choices : choices.text);
    pleat_string_finish(&choices);
    return rc;
}

static int check_text(const struct pleat_site_option *option, const char *text,
                      struct pleat_error *err)
{
    struct pleat_error why = {0};
    if (option->check && option->check(text, &why))
        return pleat_error_set(err, PLEAT_E_INVALID, "%s = %.100s: %s", option->name, text,
                               why.text);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++)
        if (*at < ' ' || *at == 127)
            return pleat_error_set(err, PLEAT_E_INVALID, "%s: it has control characters",
                                   option->name);
    return 0;
}

int pleat_site_own_set(void *own, const struct pleat_site_option *option, const char *text,
                       struct pleat_error *err)
{
    char *at = (char *)own + option->offset;
    int rc = 0;
    switch (option->type) {
    case PLEAT_OPTION_NUMBER:
        return check_number(option, text, (int64_t *)(void *)at, err);
    case PLEAT_OPTION_SECONDS:
        return check_seconds(option, text, (int64_t *)(void *)at, err);
    case PLEAT_OPTION_CHOICE:
        return check_choice(option, text, (int *)(void *)at, err);
    case PLEAT_OPTION_TEXT:
        rc = check_text(option, text, err);
        break;
    }
    char *copy = rc ? NULL : strdup(text);
    if (!rc && !copy)
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    if (!rc) {
        free(*(char **)(void *)at);
        *(char **)(void *)at = copy;
    }
    return rc;
}

int pleat_site_option_check(const struct pleat_site_option *option, const char *text,
                            struct pleat_error *err)
{
    int64_t number;
    int choice;
    switch (option->type) {
    case PLEAT_OPTION_NUMBER:
        return check_number(option, text, &number, err);
    case PLEAT_OPTION_SECONDS:
        return check_seconds(option, text, &number, err);
    case PLEAT_OPTION_CHOICE:
        return check_choice(option, text, &choice, err);
    case PLEAT_OPTION_TEXT:
        break;
    }
    return check_text(option, text, err);
}

int pleat_site_own_make(const struct pleat_site_ops *kind, void **own)
{
    *own = NULL;
    if (!kind->options)
        return 0;
    void *fresh = calloc(1, kind->own_size);
    if (!fresh)
        return PLEAT_E_NOMEM;
    for (const struct pleat_site_option *o = kind->options; o->name; o++) {
        if (pleat_site_own_set(fresh, o, o->usual, NULL)) {
            pleat_site_own_free(kind, fresh);
            return PLEAT_E_NOMEM;
        }
    }
    *own = fresh;
    return 0;
}

void pleat_site_own_free(const struct pleat_site_ops *kind, void *own)
{
    for (const struct pleat_site_option *o = kind->options; own && o && o->name; o++)
        if (o->type == PLEAT_OPTION_TEXT)
            free(*(char **)(void *)((char *)own + o->offset));
    free(own);
}
