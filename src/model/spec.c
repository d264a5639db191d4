#include "model/spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static void free_list(char **list)
{
    for (char **item = list; item && *item; item++)
        free(*item);
    free(list);
}

void pleat_spec_finish(struct pleat_spec *spec)
{
    free(spec->name);
    free_list(spec->argv);
    free_list(spec->env);
    free(spec->cwd);
    free(spec->runner);
    free(spec->mpi);
    free(spec->site);
    free(spec->sites);
    free(spec->sizes_text);
    free(spec->output);
    free(spec->error);
    free(spec->input);
    free(spec->terminal);
    free(spec->from);
    free(spec->save);
    free(spec->checkpoint_dir);
    free(spec->script);
    free(spec->limits);
    free(spec->program);
    free(spec->notify);
    free(spec->dependency);
    free(spec->fold.settings);
    free(spec->fold.mapping);
    free(spec->fold.count_word);
    pleat_array_finish(&spec->size_list);
    memset(spec, 0, sizeof(*spec));
}

int32_t pleat_spec_tasks(const struct pleat_spec *spec, int32_t processors)
{
    return spec->cpus_per_task > 1 ? processors / spec->cpus_per_task : processors;
}

/* ---- words ---- */

unsigned pleat_notify_bit(const char *word)
{
    static const char *const words[] = {"start", "end", "fail", "resize", "warning"};
    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (!strcmp(words[i], word))
            return 1u << i;
    return 0;
}

static const char *const ways[] = {"auto", "merge", "relaunch", "restart"};

const char *pleat_resize_way_name(enum pleat_resize_way way)
{
    return (unsigned)way < sizeof(ways) / sizeof(ways[0]) ? ways[way] : "?";
}

int pleat_resize_way_parse(const char *word, enum pleat_resize_way *way, struct pleat_error *err)
{
    for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        if (!strcmp(ways[i], word)) {
            *way = (enum pleat_resize_way)i;
            return 0;
        }
    }
    return pleat_error_set(err, PLEAT_E_INVALID,
                           "'%.40s' is not a way to resize: auto, merge, relaunch, restart", word);
}

/* ---- a word that stands for a number ---- */

static bool belongs_to_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Where the word stands by itself, from `at` on; NULL: nowhere. */
static const char *find_word(const char *text, const char *at, const char *word)
{
    size_t length = strlen(word);
    for (; length > 0 && (at = strstr(at, word)); at++)
        if ((at == text || !belongs_to_word(at[-1])) && !belongs_to_word(at[length]))
            return at;
    return NULL;
}

bool pleat_spec_has_word(const char *text, const char *word)
{
    return find_word(text, text, word) != NULL;
}

char *pleat_spec_put_number(const char *text, const char *word, int32_t number)
{
    struct pleat_string out = {0};
    const char *at = text;
    for (const char *found; (found = find_word(text, at, word)); at = found + strlen(word))
        pleat_string_addf(&out, "%.*s%d", (int)(found - at), at, number);
    pleat_string_add(&out, at);
    if (out.failed)
        pleat_string_finish(&out);
    return out.text ? out.text : strdup("");
}

/* ---- paths ---- */

int pleat_spec_check_pattern(const char *what, const char *pattern, struct pleat_error *err)
{
    if (!*pattern)
        return pleat_error_set(err, PLEAT_E_INVALID, "%s: it must not be empty", what);
    for (const char *at = pattern; (at = strchr(at, '%')); at += 2)
        if (!at[1] || !strchr("jxuAa%", at[1]))
            return pleat_error_set(
                err, PLEAT_E_INVALID,
                "%s: '%.2s' in '%.200s' stands for nothing: %%j is the job's "
                "number, %%x its name, %%u its user, %%A its array's number, %%a "
                "its index in that, %%%% a %%",
                what, at, pattern);
    return 0;
}

struct path {
    char *text;
    size_t size, used;
};

static void add(struct path *path, const char *text, bool is_name)
{
    for (; *text; text++, path->used++)
        if (path->used + 1 < path->size)
            path->text[path->used] = is_name && *text == '/' ? '_' : *text;
}

int pleat_spec_path(const struct pleat_spec *spec, const char *pattern, int64_t job,
                    const char *user, char *buffer, size_t size, struct pleat_error *err)
{
    struct path path = {buffer, size, 0};
    char number[24], array[24], index[24];
    snprintf(number, sizeof(number), "%lld", (long long)job);
    snprintf(array, sizeof(array), "%lld", (long long)(spec->array.job ? spec->array.job : job));
    snprintf(index, sizeof(index), "%d", spec->array.index);
    if (*pattern != '/') {
        add(&path, spec->cwd, false);
        add(&path, "/", false);
    }
    for (const char *at = pattern; *at; at++) {
        char one[2] = {*at, 0};
        if (*at != '%' || !at[1])
            add(&path, one, false);
        else if (*++at == '%')
            add(&path, "%", false);
        else
            add(&path,
                *at == 'j'   ? number
                : *at == 'A' ? array
                : *at == 'a' ? index
                : *at == 'x' ? spec->name
                             : user,
                true);
    }
    if (path.used + 1 > size)
        return pleat_error_set(err, PLEAT_E_TOOBIG, "the path of '%.200s' is too long", pattern);
    buffer[path.used] = '\0';
    return 0;
}
