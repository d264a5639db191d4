/* words.c - splits a line of text as a shell does. */
#include "describe/words.h"

#include <string.h>

#include "base/array.h"

struct splitter {
    const char *at;
    struct pleat_string word;
    bool in_word;
};

static int add_word(struct splitter *s, char ***words, int *count)
{
    char **more = realloc(*words, ((size_t)*count + 2) * sizeof(**words));
    char *copy = s->word.failed ? NULL : strdup(s->word.text ? s->word.text : "");
    if (more)
        *words = more;
    if (!more || !copy) {
        free(copy);
        return PLEAT_E_NOMEM;
    }
    more[(*count)++] = copy;
    more[*count] = NULL;
    s->in_word = false;
    s->word.length = 0;
    if (s->word.text)
        s->word.text[0] = 0;
    return 0;
}

static int take_quoted(struct splitter *s, char quote, struct pleat_error *err)
{
    s->in_word = true;
    for (s->at++; *s->at && *s->at != quote; s->at++) {
        if (quote == '"' && *s->at == '\\' && s->at[1] && strchr("\"\\$`", s->at[1]))
            s->at++;
        pleat_string_add_bytes(&s->word, s->at, 1);
    }
    if (!*s->at)
        return pleat_error_set(err, PLEAT_E_INVALID, "a %c is not closed", quote);
    s->at++;
    return 0;
}

static int split(struct splitter *s, char ***words, int *count, struct pleat_error *err)
{
    int status = 0;
    while (*s->at && !status) {
        char c = *s->at;
        if (c == '\'' || c == '"') {
            status = take_quoted(s, c, err);
        } else if (strchr(" \t\r\n", c)) {
            if (s->in_word)
                status = add_word(s, words, count);
            s->at++;
        } else if (c == '#' && !s->in_word) {
            break;
        } else {
            s->at += c == '\\' && s->at[1];
            s->in_word = true;
            pleat_string_add_bytes(&s->word, s->at++, 1);
        }
    }
    if (!status && s->in_word)
        status = add_word(s, words, count);
    return status == PLEAT_E_NOMEM ? pleat_error_set(err, status, "out of memory") : status;
}

int pleat_words_split(const char *line, char ***words, int *count, struct pleat_error *err)
{
    struct splitter s = {.at = line};
    int status = split(&s, words, count, err);
    pleat_string_finish(&s.word);
    return status;
}
