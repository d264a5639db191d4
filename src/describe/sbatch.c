#include "describe/sbatch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "describe/words.h"

#define NUMBER_MAX 1000000

/* The size that the lines ask for. It is computed when all lines have been read. */
struct size {
    int line; /* the last line that says something about it; 0: none */
    long tasks, per_node, nodes, cpus;
};

struct reading {
    struct pleat_sbatch *sbatch;
    struct size size;
    int line;
};

static int keep(struct reading *reading, const char *option, const char *value, int line,
                struct pleat_error *err)
{
    const char *both[2] = {option, value};
    for (int i = 0; i < 2 && both[i]; i++) {
        struct pleat_batch_word word = {line, strdup(both[i])};
        if (!word.text || pleat_array_push(&reading->sbatch->words, word)) {
            free(word.text);
            return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
        }
    }
    return 0;
}

/* Whether a list has the item; ", " is between items. */
static bool has_item(const char *list, const char *item)
{
    size_t length = strlen(item);
    for (const char *at = list; *at; at += strspn(at, ", ")) {
        size_t here = strcspn(at, ",");
        if (here == length && !strncmp(at, item, length))
            return true;
        at += here;
    }
    return false;
}

static int leave_out(struct reading *reading, const char *name)
{
    struct pleat_string *left = &reading->sbatch->left;
    const char *before = left->text ? left->text : "";
    if (!has_item(before, name))
        pleat_string_addf(left, "%s%s", *before ? ", " : "", name);
    return 0;
}

static int to_number(const char *option, const char *text, long *number, struct pleat_error *err)
{
    char *end;
    errno = 0;
    *number = strtol(text, &end, 10);
    if (errno || end == text || *end || *number < 1 || *number > NUMBER_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID, "%s wants a number from 1 to %d, not '%s'",
                               option, NUMBER_MAX, text);
    return 0;
}

/* Reads sbatch's times: minutes, minutes:seconds, hours:minutes:seconds, days-hours,
 * days-hours:minutes, days-hours:minutes:seconds. */
static int take_time(struct reading *reading, const char *value, struct pleat_error *err)
{
    long part[3] = {0}, days = 0;
    int count = 0;
    char *end = NULL, words[32];
    const char *at = value, *dash = strchr(value, '-');
    bool good = *value != '\0';
    if (dash) {
        days = strtol(value, &end, 10);
        good = end == dash && end != value;
        at = dash + 1;
    }
    while (good && count < 3) {
        good = *at >= '0' && *at <= '9';
        part[count++] = strtol(at, &end, 10);
        at = end;
        if (*at != ':')
            break;
        at++;
    }
    good = good && !*at && days >= 0 && days < 10000;
    for (int i = 0; i < count; i++)
        good = good && part[i] >= 0 && part[i] <= NUMBER_MAX;
    if (!good)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--time wants MINUTES, MINUTES:SECONDS, HOURS:MINUTES:SECONDS or "
                               "DAYS-HOURS[:MINUTES[:SECONDS]], not '%s'",
                               value);
    long long seconds = 86400LL * days;
    if (dash || count == 3)
        seconds += 3600LL * part[0] + 60LL * part[1] + part[2];
    else
        seconds += 60LL * part[0] + part[1];
    if (seconds == 0) /* to Slurm 0 means no limit */
        return 0;
    snprintf(words, sizeof(words), "%llds", seconds);
    return keep(reading, "--time-limit", words, reading->line, err);
}

/* Takes a pattern of a path, in which only %-signs are allowed that mean the same to Slurm and
 * Pleat. */
static int take_pattern(struct reading *reading, const char *option, const char *name,
                        const char *value, struct pleat_error *err)
{
    for (const char *at = value; (at = strchr(at, '%')) != NULL; at += 2)
        if (!at[1] || !strchr("jxuAa%", at[1]))
            return leave_out(reading, name);
    return keep(reading, option, value, reading->line, err);
}

static int take_export(struct reading *reading, const char *value, struct pleat_error *err)
{
    if (!strcmp(value, "ALL"))
        return keep(reading, "--export", "all", reading->line, err);
    if (!strcmp(value, "NONE"))
        return keep(reading, "--export", "none", reading->line, err);
    if (strchr(value, '=') || !strncmp(value, "ALL,", 4))
        return leave_out(reading, "--export");
    return keep(reading, "--export", value, reading->line, err);
}

/* Reads "512", "512M", "2G": MiB where there is no unit. 0 means all memory of a node, which is no
 * limit here. */
static int take_memory(struct reading *reading, const char *value, struct pleat_error *err)
{
    char words[64];
    size_t digits = strspn(value, "0123456789");
    bool plain = digits > 0 && digits < 20 && !value[digits];
    if (plain && strspn(value, "0") == digits)
        return 0;
    if (digits == 0 || digits > 20 || strlen(value) > digits + 2)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "--mem wants a size such as 512 (MiB), 512M or 2G, not '%s'", value);
    snprintf(words, sizeof(words), "%s%s", value, plain ? "M" : "");
    return keep(reading, "--memory", words, reading->line, err);
}

/* Takes --signal, whose time is in seconds. That of a reservation (R:) has no equivalent. */
static int take_signal(struct reading *reading, const char *value, struct pleat_error *err)
{
    char words[64];
    const char *at = strchr(value, '@');
    bool plain = at && at[1] && strspn(at + 1, "0123456789") == strlen(at + 1);
    if (strchr(value, 'R') == value || strlen(value) > 48)
        return leave_out(reading, "--signal");
    snprintf(words, sizeof(words), "%s%s", value, plain ? "s" : "");
    return keep(reading, "--signal", words, reading->line, err);
}

static int take_count(struct reading *reading, const char *name, const char *value, long *number,
                      struct pleat_error *err)
{
    reading->size.line = reading->line;
    return to_number(name, value, number, err);
}

/* Takes an option that has an equivalent. value: NULL where none was given. */
static int take(struct reading *reading, const char *name, const char *value,
                struct pleat_error *err)
{
    struct size *size = &reading->size;
    if (!strcmp(name, "--ntasks"))
        return take_count(reading, name, value, &size->tasks, err);
    if (!strcmp(name, "--ntasks-per-node"))
        return take_count(reading, name, value, &size->per_node, err);
    if (!strcmp(name, "--cpus-per-task"))
        return take_count(reading, name, value, &size->cpus, err);
    if (!strcmp(name, "--nodes"))
        return strchr(value, '-') ? leave_out(reading, name)
                                  : take_count(reading, name, value, &size->nodes, err);
    if (!strcmp(name, "--time"))
        return take_time(reading, value, err);
    if (!strcmp(name, "--signal"))
        return take_signal(reading, value, err);
    if (!strcmp(name, "--mem"))
        return take_memory(reading, value, err);
    if (!strcmp(name, "--array") || !strcmp(name, "--dependency"))
        return keep(reading, name, value, reading->line, err);
    if (!strcmp(name, "--job-name"))
        return keep(reading, "--name", value, reading->line, err);
    if (!strcmp(name, "--chdir"))
        return keep(reading, "--chdir", value, reading->line, err);
    if (!strcmp(name, "--open-mode"))
        return strcmp(value, "append") ? 0 : keep(reading, "--append", NULL, reading->line, err);
    if (!strcmp(name, "--export"))
        return take_export(reading, value, err);
    return take_pattern(reading, name, name, value, err); /* --output, --error, --input */
}

static const struct {
    char letter;
    const char *name;
} known[] = {{'n', "--ntasks"},
             {0, "--ntasks-per-node"},
             {'c', "--cpus-per-task"},
             {'N', "--nodes"},
             {'t', "--time"},
             {'J', "--job-name"},
             {'D', "--chdir"},
             {'d', "--dependency"},
             {0, "--open-mode"},
             {0, "--export"},
             {0, "--mem"},
             {0, "--signal"},
             {'a', "--array"},
             {'o', "--output"},
             {'e', "--error"},
             {'i', "--input"}};

/* Reads one option. *used: the number of words that it took. */
static int read_option(struct reading *reading, char **words, int count, int *used,
                       struct pleat_error *err)
{
    const char *word = words[0];
    size_t length = strcspn(word, "=");
    const char *equals = word[length] ? word + length + 1 : NULL;
    bool is_long = !strncmp(word, "--", 2);
    const char *value = is_long ? equals : *word == '-' && word[1] && word[2] ? word + 2 : NULL;
    char shown[64];
    *used = 1;
    if (!strcmp(word, "-H") || !strcmp(word, "--hold"))
        return keep(reading, "--hold", NULL, reading->line, err);
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        bool is = is_long ? strlen(known[i].name) == length && !strncmp(word, known[i].name, length)
                          : *word == '-' && known[i].letter && word[1] == known[i].letter;
        if (!is)
            continue;
        if (!value && count > 1) {
            value = words[1];
            *used = 2;
        }
        return value ? take(reading, known[i].name, value, err)
                     : pleat_error_set(err, PLEAT_E_INVALID, "%s wants a value", known[i].name);
    }
    snprintf(shown, sizeof(shown), "%.*s", is_long ? (int)(length < 60 ? length : 60) : 2, word);
    if (!value && count > 1 && words[1][0] != '-') /* the next word is probably its value */
        *used = 2;
    return leave_out(reading, shown);
}

static int read_line(struct reading *reading, const char *line, size_t length,
                     struct pleat_error *err)
{
    struct pleat_string text = {0};
    char **words = NULL;
    int count = 0, status, used;
    pleat_string_add_bytes(&text, line, length);
    if (text.failed)
        status = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    else
        status = pleat_words_split(text.text ? text.text : "", &words, &count, err);
    pleat_string_finish(&text);
    for (int i = 0; !status && i < count; i += used)
        status = read_option(reading, words + i, count - i, &used, err);
    for (int i = 0; i < count; i++)
        free(words[i]);
    free(words);
    return status;
}

/* Adds the size. A number of nodes only counts where it gives a number of tasks, since Pleat has
 * one machine. */
static int add_size(struct reading *reading, bool sized, struct pleat_error *err)
{
    const struct size *size = &reading->size;
    char number[32];
    long tasks = size->tasks;
    if (!size->line || sized)
        return 0;
    if (!tasks && size->per_node)
        tasks = size->per_node * (size->nodes ? size->nodes : 1);
    if (!tasks && size->nodes > 1)
        leave_out(reading, "--nodes");
    if (size->cpus) {
        snprintf(number, sizeof(number), "%ld", size->cpus);
        int status = keep(reading, "--cpus-per-task", number, size->line, err);
        if (status)
            return status;
    }
    if (!tasks)
        return 0;
    snprintf(number, sizeof(number), "%ld", tasks);
    return keep(reading, "--processors", number, size->line, err);
}

static bool is_blank_or_comment(const char *line, size_t length)
{
    size_t at = 0;
    while (at < length && strchr(" \t\r\v\f", line[at]))
        at++;
    return at == length || line[at] == '#';
}

int pleat_sbatch_read(const char *name, const char *text, size_t size, bool sized,
                      struct pleat_sbatch *sbatch, struct pleat_error *err)
{
    static const char mark[] = "#SBATCH";
    const size_t marked = sizeof(mark) - 1;
    struct reading reading = {.sbatch = sbatch};
    int status = 0;
    memset(sbatch, 0, sizeof(*sbatch));
    for (size_t at = 0; !status && at < size;) {
        const char *line = text + at;
        const char *end = memchr(line, '\n', size - at);
        size_t length = end ? (size_t)(end - line) : size - at;
        reading.line++;
        if (!is_blank_or_comment(line, length))
            break;
        if (length > marked && !memcmp(line, mark, marked) && strchr(" \t\r", line[marked]) &&
            !memchr(line, '\0', length)) {
            sbatch->first = sbatch->first ? sbatch->first : reading.line;
            status = read_line(&reading, line + marked, length - marked, err);
        }
        at += length + 1;
    }
    if (!status)
        status = add_size(&reading, sized, err);
    if (!status && sbatch->left.failed)
        status = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    if (status) {
        pleat_error_prefix(err, status, "%s:%d", name, reading.line);
        pleat_sbatch_finish(sbatch);
    }
    return status;
}

void pleat_sbatch_finish(struct pleat_sbatch *sbatch)
{
    for (size_t i = 0; i < sbatch->words.count; i++)
        free(sbatch->words.items[i].text);
    pleat_array_finish(&sbatch->words);
    pleat_string_finish(&sbatch->left);
    memset(sbatch, 0, sizeof(*sbatch));
}
