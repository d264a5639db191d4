#include "batch_fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "describe/batch.h"
#include "must.h"

unsigned long pleat_fuzz_batch_good;

static int count_lines(const char *text, size_t size)
{
    int lines = 1;
    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    return lines;
}

static void check(const struct pleat_batch *batch, int lines, size_t size)
{
    int line = 1;
    size_t length = 0;
    must(batch->words.count <= PLEAT_BATCH_WORDS_MAX);
    for (size_t i = 0; i < batch->words.count; i++) {
        must(batch->words.items[i].text && batch->words.items[i].line >= line);
        line = batch->words.items[i].line;
        length += strlen(batch->words.items[i].text);
    }
    must(line <= lines && length <= size);
    must(batch->late == 0 || (batch->late > line && batch->late <= lines));
    must(batch->directives >= 0 && batch->directives <= lines);
    must(batch->words.count == 0 || batch->directives > 0);
}

void pleat_fuzz_batch(const uint8_t *bytes, size_t size)
{
    struct pleat_batch batch;
    struct pleat_error err = {0};
    /* a copy of its own, without an end, so that reading beyond it is seen */
    char *text = calloc(size ? size : 1, 1);
    must(text);
    if (size)
        memcpy(text, bytes, size);
    int status = pleat_batch_read("job.sh", text, size, &batch, &err);
    if (status) {
        must(err.code == status && !strncmp(err.text, "job.sh:", 7));
        must(batch.words.count == 0);
    } else {
        check(&batch, count_lines(text, size), size);
        pleat_fuzz_batch_good += batch.words.count > 0;
    }
    pleat_batch_finish(&batch);
    free(text);
}
