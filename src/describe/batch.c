#include "describe/batch.h"

#include <stdbool.h>
#include <string.h>

#include "describe/words.h"

static const char mark[] = "#PLEAT";
#define MARK_LENGTH (sizeof(mark) - 1)

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static bool is_directive(const char *line, size_t length)
{
    return length >= MARK_LENGTH && !memcmp(line, mark, MARK_LENGTH) &&
           (length == MARK_LENGTH || is_space(line[MARK_LENGTH]));
}

static bool is_blank_or_comment(const char *line, size_t length)
{
    size_t at = 0;
    while (at < length && is_space(line[at]))
        at++;
    return at == length || line[at] == '#';
}

/* Moves the words of a line to *batch. Words for which there is no room are freed. */
static int take_words(struct pleat_batch *batch, char **words, int count, int line,
                      struct pleat_error *err)
{
    int status = 0;
    for (int i = 0; i < count; i++) {
        struct pleat_batch_word word = {line, words[i]};
        if (!status && batch->words.count >= PLEAT_BATCH_WORDS_MAX)
            status = pleat_error_set(err, PLEAT_E_TOOBIG, "more than %d words of options",
                                     PLEAT_BATCH_WORDS_MAX);
        if (!status && pleat_array_push(&batch->words, word))
            status = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
        if (status)
            free(words[i]);
    }
    free(words);
    return status;
}

static int read_directive(struct pleat_batch *batch, const char *line, size_t length, int number,
                          const char *name, struct pleat_error *err)
{
    struct pleat_string text = {0};
    char **words = NULL;
    int count = 0, status;
    batch->directives++;
    pleat_string_add_bytes(&text, line + MARK_LENGTH, length - MARK_LENGTH);
    if (text.failed)
        status = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
    else if (memchr(line, '\0', length))
        status = pleat_error_set(err, PLEAT_E_INVALID, "a NUL byte in the text");
    else
        status = pleat_words_split(text.text ? text.text : "", &words, &count, err);
    pleat_string_finish(&text);
    int taken = take_words(batch, words, count, number, status ? NULL : err);
    status = status ? status : taken;
    if (status)
        pleat_error_prefix(err, status, "%s:%d", name, number);
    return status;
}

int pleat_batch_read(const char *name, const char *text, size_t size, struct pleat_batch *batch,
                     struct pleat_error *err)
{
    bool head = true;
    int status = 0, number = 0;
    memset(batch, 0, sizeof(*batch));
    for (size_t at = 0; !status && at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t length = end ? (size_t)(end - text) - at : size - at;
        number++;
        head = head && is_blank_or_comment(text + at, length);
        if (is_directive(text + at, length)) {
            if (head)
                status = read_directive(batch, text + at, length, number, name, err);
            else if (!batch->late)
                batch->late = number;
        }
        at += length + 1;
    }
    if (status)
        pleat_batch_finish(batch);
    return status;
}

void pleat_batch_finish(struct pleat_batch *batch)
{
    for (size_t i = 0; i < batch->words.count; i++)
        free(batch->words.items[i].text);
    pleat_array_finish(&batch->words);
    memset(batch, 0, sizeof(*batch));
}
