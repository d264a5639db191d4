#include "describe/option_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

void pleat_option_reader_init(struct pleat_option_reader *reader, int argc, char **argv,
                              const struct option *own, const char *shorts)
{
    *reader = (struct pleat_option_reader){.argc = argc, .argv = argv};
    size_t count = 0;
    while (own && own[count].name)
        count++;
    pleat_option_reader_add(reader, own, count, shorts ? shorts : "");
    pleat_option_reader_restart(reader);
}

void pleat_option_reader_add(struct pleat_option_reader *reader, const struct option *more,
                             size_t count, const char *shorts)
{
    size_t used = 0, length = strlen(reader->shorts);
    while (reader->table[used].name)
        used++;
    if (used + count >= PLEAT_OPTIONS_MAX || length + strlen(shorts) >= sizeof(reader->shorts)) {
        fputs("pleat: this command has more options than PLEAT_OPTIONS_MAX\n", stderr);
        abort(); /* by whoever has added one: what is left out would do nothing, without a word */
    }
    for (size_t i = 0; i < count; i++)
        reader->table[used++] = more[i];
    snprintf(reader->shorts + length, sizeof(reader->shorts) - length, "%s", shorts);
}

void pleat_option_reader_restart(struct pleat_option_reader *reader)
{
    reader->first = 0;
    optind = 0; /* makes glibc's getopt begin anew */
}

/* The name here of an option of a batch system or of an mpirun; NULL: the command has no such
 * option. The nearest word would be a different option (--asks for --ntasks). */
static const char *called_here(const char *name, const char *const *names, size_t count)
{
    static const char *const called[][2] = {{"ntasks", "processors"},   {"np", "processors"},
                                            {"procs", "processors"},    {"job-name", "name"},
                                            {"walltime", "time-limit"}, {"workdir", "chdir"},
                                            {"begin-time", "begin"},    {"stdin", "input"},
                                            {"stdout", "output"},       {"stderr", "error"}};
    for (size_t i = 0; i < sizeof(called) / sizeof(called[0]); i++)
        for (size_t n = 0; !strcmp(name, called[i][0]) && n < count; n++)
            if (!strcmp(names[n], called[i][1]))
                return names[n];
    return NULL;
}

static int unknown(const struct pleat_option_reader *reader, const char *given,
                   struct pleat_error *err)
{
    const char *names[PLEAT_OPTIONS_MAX];
    size_t count = 0, matches = 0, length = strcspn(given + 2, "=");
    for (const struct option *o = reader->table; o->name; o++) {
        names[count++] = o->name;
        matches += !strncmp(o->name, given + 2, length);
    }
    if (matches > 1)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "option '%.*s' is ambiguous: write more of its name",
                               (int)length + 2, given);
    char name[64];
    snprintf(name, sizeof(name), "%.*s", (int)length, given + 2);
    const char *near = called_here(name, names, count);
    if (!near)
        near = pleat_nearest(name, names, count);
    return pleat_error_set(err, PLEAT_E_INVALID, "unknown option '--%s'%s%s%s", name,
                           near ? "; did you mean '--" : "", near ? near : "", near ? "'?" : "");
}

static int bad_option(const struct pleat_option_reader *reader, int code, struct pleat_error *err)
{
    const char *given = reader->argv[optind > 0 ? optind - 1 : 0];
    if (code == ':' && optopt > 0 && optopt < 256)
        return pleat_error_set(err, PLEAT_E_INVALID, "option '-%c' needs a value", optopt);
    if (code == ':')
        return pleat_error_set(err, PLEAT_E_INVALID, "option '%s' needs a value", given);
    if (optopt == 0)
        return unknown(reader, given, err);
    for (const struct option *o = reader->table; o->name; o++)
        if (o->val == optopt && o->has_arg == no_argument && !strncmp(given, "--", 2))
            return pleat_error_set(err, PLEAT_E_INVALID, "option '--%s' takes no value", o->name);
    return pleat_error_set(err, PLEAT_E_INVALID, "unknown option '-%c'", optopt);
}

int pleat_option_reader_next(struct pleat_option_reader *reader, struct pleat_error *err)
{
    char shorts[sizeof(reader->shorts) + 4];
    snprintf(shorts, sizeof(shorts), "%s:%s", reader->in_front ? "+" : "", reader->shorts);
    opterr = 0;
    int code = getopt_long(reader->argc, reader->argv, shorts, reader->table, NULL);
    if (code == -1) {
        reader->first = optind;
        return PLEAT_OPTION_END;
    }
    return code == '?' || code == ':' ? bad_option(reader, code, err) : code;
}
