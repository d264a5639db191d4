/* trace.c - a job mix from a trace of arrivals and parameter files (Utrera 2010, 3.2.1, figures 3.2
 * to 3.5): applications, the numbers of processes that each takes, and whether each is short or
 * long. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/mix/mix.h"
#include "describe/values.h"
#include "describe/words.h"
#include "model/spec.h"
#include "model/types.h"

enum {
    ARRIVAL = 1,
    APPLICATION = 13,
    FIELDS = 18
}; /* columns of the Standard Workload Format, from 0 on */

/* Words in front of a job's program, and the NULL at the end. */
enum { EXTRA_WORDS = 12 };

struct application {
    int line;
    char **words; /* of its command, without the launcher; owned */
    int word_count;
    bool counted;     /* N stands in the command */
    char *counts;     /* numbers of processes, as for --processes; owned; NULL: not given */
    const char *type; /* "long", "short"; NULL: not given */
};

PLEAT_ARRAY(applications, struct application);

/* ---- lines of a file ---- */

/* Calls `take` for each line that is not empty, with the line's number. */
static int each_line(const char *path, FILE *file,
                     int (*take)(void *arg, char *text, int line, struct pleat_error *err),
                     void *arg, struct pleat_error *err)
{
    char *text = NULL;
    size_t size = 0;
    int line = 0, status = 0;
    while (!status && getline(&text, &size, file) >= 0) {
        line++;
        text[strcspn(text, "\r\n")] = '\0';
        if (text[strspn(text, " \t")])
            status = take(arg, text, line, err);
        if (status)
            pleat_error_prefix(err, status, "%s:%d", path, line);
    }
    if (!status && ferror(file))
        status = pleat_error_sys(err, errno, "cannot read %s", path);
    free(text);
    return status;
}

static int read_file(const char *path,
                     int (*take)(void *arg, char *text, int line, struct pleat_error *err),
                     void *arg, struct pleat_error *err)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return pleat_error_sys(err, errno, "cannot read %s", path);
    int status = each_line(path, file, take, arg, err);
    fclose(file);
    return status;
}

/* ---- applications (Utrera 2010, figure 3.2) ---- */

static void add_variable(const char *name, size_t length, struct pleat_string *out)
{
    char copy[128];
    snprintf(copy, sizeof(copy), "%.*s", (int)(length < 127 ? length : 127), name);
    const char *value = getenv(copy);
    if (value)
        pleat_string_add(out, value);
}

/* Replaces $NAME and ${NAME} by variables of the environment. */
static char *expand(const char *word)
{
    struct pleat_string out = {0};
    pleat_string_add(&out, "");
    for (const char *at = word; *at;) {
        size_t plain = strcspn(at, "$");
        pleat_string_add_bytes(&out, at, plain);
        at += plain;
        bool braces = at[0] == '$' && at[1] == '{';
        const char *name = at + 1 + braces;
        size_t length = 0;
        while (at[0] && (isalnum((unsigned char)name[length]) || name[length] == '_'))
            length++;
        if (!at[0])
            break;
        if (length == 0 || (braces && name[length] != '}')) {
            pleat_string_add(&out, "$");
            at++;
            continue;
        }
        add_variable(name, length, &out);
        at = name + length + braces;
    }
    if (out.failed)
        pleat_string_finish(&out);
    return out.text;
}

/* How many words at the beginning are the launcher ("mpirun -np N"), which Pleat chooses itself. */
static int launcher_words(char *const *words, int count)
{
    const char *slash = count > 0 ? strrchr(words[0], '/') : NULL;
    const char *name = slash ? slash + 1 : count > 0 ? words[0] : "";
    if (strncmp(name, "mpirun", 6) != 0 && strncmp(name, "mpiexec", 7) != 0)
        return 0;
    int at = 1;
    while (at + 1 < count && (!strcmp(words[at], "-np") || !strcmp(words[at], "-n")))
        at += 2;
    return at;
}

static int take_application(void *arg, char *text, int line, struct pleat_error *err)
{
    struct applications *all = arg;
    struct application one = {.line = line};
    int status = pleat_words_split(text, &one.words, &one.word_count, err);
    if (status)
        return status;
    int first = launcher_words(one.words, one.word_count), kept = 0;
    for (int i = 0; i < one.word_count; i++) {
        char *word = i < first ? NULL : expand(one.words[i]);
        free(one.words[i]);
        if (i >= first)
            one.words[kept++] = word;
        status = i >= first && !word ? PLEAT_E_NOMEM : status;
    }
    one.word_count = kept;
    for (int i = 0; !status && i < kept; i++)
        one.counted = one.counted || pleat_spec_has_word(one.words[i], "N");
    if (pleat_array_push(all, one) || status)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    if (kept > 0)
        return 0;
    return first == 0
               ? (all->count--, free(one.words), 0) /* a comment */
               : pleat_error_set(err, PLEAT_E_INVALID, "the line has a launcher and no program");
}

/* ---- numbers of processes (Utrera 2010, figure 3.3) ---- */

struct next {
    struct applications *all;
    size_t index;
};

static struct application *next_application(struct next *next, struct pleat_error *err)
{
    if (next->index < next->all->count)
        return &next->all->items[next->index++];
    (void)pleat_error_set(err, PLEAT_E_INVALID,
                          "the file of --applications has only %zu applications: remove this line",
                          next->all->count);
    return NULL;
}

static int by_number(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

/* Reads the numbers of a line: "32 16 8 4 2 1 1"; or "60 -1 -1 -1 -1 -1 -1": any number up to 60.
 */
static int read_numbers(char *text, int32_t *numbers, int most, int *count, bool *any,
                        struct pleat_error *err)
{
    char *rest = NULL;
    *count = 0;
    *any = false;
    for (char *word = strtok_r(text, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
        int64_t number = 0;
        int status =
            pleat_parse_int("a number of processes", word, -1, PLEAT_SIZE_MAX, &number, err);
        if (!status && (number == 0 || *count == most))
            status = pleat_error_set(
                err, PLEAT_E_INVALID,
                "expected numbers of processes: at most %d of them, each above 0; or one "
                "number and then -1",
                most);
        if (status)
            return status;
        *any = *any || number < 0;
        if (number > 0)
            numbers[(*count)++] = (int32_t)number;
    }
    return *count == 0 || (*any && *count > 1)
               ? pleat_error_set(
                     err, PLEAT_E_INVALID,
                     "expected numbers of processes, or the largest and then -1, which means any "
                     "number up to it")
               : 0;
}

static int take_counts(void *arg, char *text, int line, struct pleat_error *err)
{
    (void)line;
    int32_t numbers[64];
    int count = 0;
    bool any = false;
    struct application *one = next_application(arg, err);
    int status = one ? read_numbers(text, numbers, 64, &count, &any, err) : PLEAT_E_INVALID;
    if (status)
        return status;
    struct pleat_string list = {0};
    qsort(numbers, (size_t)count, sizeof(numbers[0]), by_number);
    pleat_string_addf(&list, any ? "1-%d" : "%d", numbers[0]);
    for (int i = 1; i < count; i++)
        if (numbers[i] != numbers[i - 1])
            pleat_string_addf(&list, ",%d", numbers[i]);
    if (list.failed)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    one->counts = list.text;
    return 0;
}

/* ---- types (Utrera 2010, figure 3.4) ---- */

static int take_type(void *arg, char *text, int line, struct pleat_error *err)
{
    (void)line;
    int64_t number;
    char *rest = NULL, *word = strtok_r(text, " \t", &rest);
    struct application *one = next_application(arg, err);
    if (!one)
        return PLEAT_E_INVALID;
    int status = pleat_parse_int("the type (1: long, 2: short)", word, 1, 2, &number, err);
    if (!status && strtok_r(NULL, " \t", &rest))
        status =
            pleat_error_set(err, PLEAT_E_INVALID,
                            "expected one number: 1 for a long application, 2 for a short one");
    if (!status)
        one->type = number == 1 ? "long" : "short";
    return status;
}

static int check_length(const char *path, const struct next *next, struct pleat_error *err)
{
    return next->index == next->all->count
               ? 0
               : pleat_error_set(err, PLEAT_E_INVALID,
                                 "%s has %zu lines, and there are %zu applications", path,
                                 next->index, next->all->count);
}

static int read_parameters(const struct pleat_mix_parameters *files, struct applications *all,
                           struct pleat_error *err)
{
    struct next counts = {all, 0}, types = {all, 0};
    int status = read_file(files->applications, take_application, all, err);
    if (!status && all->count == 0)
        status =
            pleat_error_set(err, PLEAT_E_INVALID, "%s has no applications", files->applications);
    if (!status && files->counts)
        status = read_file(files->counts, take_counts, &counts, err);
    if (!status && files->counts)
        status = check_length(files->counts, &counts, err);
    if (!status && files->types)
        status = read_file(files->types, take_type, &types, err);
    return status || !files->types ? status : check_length(files->types, &types, err);
}

/* ---- arrivals (Utrera 2010, figure 3.5) ---- */

struct trace {
    struct pleat_mix *mix;
    const struct pleat_mix_parameters *files;
    const struct applications *all;
    struct pleat_string *notes;
};

static void free_words(char **words, int count)
{
    for (int i = 0; i < count; i++)
        free(words[i]);
    free(words);
}

/* Makes the words of a line of a mix: AT NAME OPTIONS -- PROGRAM ARGUMENTS. NULL: out of memory. */
static char **make_words(const struct application *one, const char *at, int *count)
{
    const char *program = strrchr(one->words[0], '/');
    const char *extra[EXTRA_WORDS] = {at, program ? program + 1 : one->words[0], "--processes",
                                      one->counts ? one->counts : "1"};
    int extras = 4;
    if (one->type) {
        extra[extras++] = "--class";
        extra[extras++] = one->type;
    }
    if (one->counted) {
        extra[extras++] = "--count-word";
        extra[extras++] = "N";
    }
    extra[extras++] = "--";
    char **words = calloc((size_t)(extras + one->word_count) + 1, sizeof(*words));
    for (*count = 0; words && *count < extras + one->word_count; (*count)++) {
        const char *from = *count < extras ? extra[*count] : one->words[*count - extras];
        words[*count] = strdup(from);
        if (!words[*count]) {
            free_words(words, *count);
            return NULL;
        }
    }
    return words;
}

static int take_arrival(void *arg, char *text, int line, struct pleat_error *err)
{
    struct trace *trace = arg;
    const char *fields[FIELDS] = {NULL};
    char *rest = NULL;
    int count = 0;
    (void)line;
    if (text[strspn(text, " \t")] == ';') /* a comment */
        return 0;
    for (char *word = strtok_r(text, " \t", &rest); word && count < FIELDS;
         word = strtok_r(NULL, " \t", &rest))
        fields[count++] = word;
    if (count <= APPLICATION)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%d fields: the second is the time of arrival, the 14th the number "
                               "of the application",
                               count);
    int64_t number = 0;
    int status = pleat_parse_int("the application (field 14)", fields[APPLICATION], 0,
                                 (int64_t)trace->all->count - 1, &number, err);
    if (status)
        return status;
    const struct application *one = &trace->all->items[number];
    int words_count;
    char **words = make_words(one, fields[ARRIVAL], &words_count);
    if (!words)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    double at_s;
    status =
        pleat_parse_seconds("the time of arrival (field 2)", fields[ARRIVAL], 0, 1e7, &at_s, err);
    if (!status)
        return pleat_mix_add(trace->mix, words, words_count, trace->files->applications, one->line,
                             trace->notes, err);
    free_words(words, words_count);
    return status;
}

static void finish_applications(struct applications *all)
{
    for (size_t i = 0; i < all->count; i++) {
        for (int w = 0; w < all->items[i].word_count; w++)
            free(all->items[i].words[w]);
        free(all->items[i].words);
        free(all->items[i].counts);
    }
    pleat_array_finish(all);
}

int pleat_mix_read_trace(struct pleat_mix *mix, const char *path,
                         const struct pleat_mix_parameters *files, struct pleat_string *notes,
                         struct pleat_error *err)
{
    struct applications all = {0};
    struct trace trace = {mix, files, &all, notes};
    FILE *file;
    mix->path = path;
    int status = read_parameters(files, &all, err);
    if (!status)
        status = pleat_mix_open(mix, &file, err);
    if (!status) {
        status = each_line(path, file, take_arrival, &trace, err);
        fclose(file);
    }
    finish_applications(&all);
    return status ? status : pleat_mix_order(mix, err);
}
