#include "pmi_fuzz.h"

#include <stdbool.h>
#include <string.h>

#include "must.h"
#include "pmi/server.h"

#define PROCESSES 3
#define MPICH_READS 1023 /* bytes of a line */

unsigned long pleat_fuzz_pmi_good;

struct talk {
    struct pleat_pmi *pmi;
    bool deaf[PROCESSES]; /* what it says is not heard any more */
    bool nonsense;
    unsigned releases;
};

static size_t count_lines(const struct pleat_string *answer)
{
    size_t lines = 0, begin = 0;
    for (size_t i = 0; i < answer->length; i++) {
        must(answer->text[i] != '\0');
        if (answer->text[i] != '\n')
            continue;
        must(!strncmp(answer->text + begin, "cmd=", 4));
        must(i - begin <= MPICH_READS);
        begin = i + 1;
        lines++;
    }
    must(begin == answer->length);
    return lines;
}

static size_t newlines(const char *bytes, size_t count)
{
    size_t lines = 0;
    for (size_t i = 0; i < count; i++)
        lines += bytes[i] == '\n';
    return lines;
}

static void say(struct talk *talk, uint32_t rank, const char *bytes, size_t count)
{
    while (count > 0 && !talk->deaf[rank]) {
        struct pleat_string answer = {0};
        size_t used = 0;
        enum pleat_pmi_outcome outcome =
            pleat_pmi_take(talk->pmi, rank, bytes, count, &used, &answer);
        must(used > 0 && used <= count);
        must(used == count || outcome != PLEAT_PMI_GOES_ON);
        must(outcome != PLEAT_PMI_NO_MEMORY);
        must(count_lines(&answer) <= newlines(bytes, used));
        pleat_string_finish(&answer);
        talk->releases += outcome == PLEAT_PMI_RELEASES;
        talk->deaf[rank] = outcome == PLEAT_PMI_NONSENSE;
        talk->nonsense = talk->nonsense || talk->deaf[rank];
        must((int)pleat_pmi_life(talk->pmi, rank) <= PLEAT_PMI_FINISHED);
        bytes += used;
        count -= used;
    }
}

void pleat_fuzz_pmi(const uint8_t *bytes, size_t size)
{
    struct talk talk = {.pmi = pleat_pmi_new(PROCESSES, "fuzz")};
    const char *text = (const char *)bytes;
    uint32_t rank = 0;
    must(talk.pmi != NULL);
    for (size_t at = 0; at < size;) {
        if (text[at] >= '0' && text[at] <= '9')
            rank = (uint32_t)(text[at++] - '0') % PROCESSES;
        const char *end = memchr(text + at, '\n', size - at);
        size_t count = end ? (size_t)(end - text) + 1 - at : size - at;
        say(&talk, rank, text + at, count / 2); /* it may come in pieces */
        say(&talk, rank, text + at + count / 2, count - count / 2);
        at += count;
    }
    pleat_fuzz_pmi_good += talk.releases && !talk.nonsense;
    pleat_pmi_free(talk.pmi);
}
