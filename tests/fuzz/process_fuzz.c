#include "process_fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "must.h"
#include "pleat-process.h"
#include "process/head.h"
#include "process/told.h"

unsigned long pleat_fuzz_process_read;

static void check_process(const struct pleat_told_process *about)
{
    must(about->process >= 0 && about->parent >= -1);
    must(about->state >= 0 && about->state <= PLEAT_PROCESS_GONE);
    must(about->reason >= 0 && about->reason <= PLEAT_PROCESS_UNSAID);
    must(about->code >= -1 && about->code <= 255 && about->signal >= 0 && about->signal <= 127);
    must(!about->address || strlen(about->address) <= PLEAT_TOLD_ADDRESS);
    for (size_t i = 0; i < json_array_size(about->groups); i++)
        must(json_string_value(json_array_get(about->groups, i)));
}

static void read_line(const char *text, size_t size)
{
    struct pleat_told_line told;
    struct pleat_error err = {0};
    int rc = pleat_told_read(text, size, &told, &err);
    if (rc) {
        must(rc == PLEAT_E_PROTOCOL && err.code == rc && err.text[0] && !told.line);
        return;
    }
    pleat_fuzz_process_read++;
    must(told.process >= 0 && told.parent >= -1 && told.number >= 0 && told.maximum >= 0);
    must(told.what != PLEAT_TOLD_REFUSED || told.text);
    if (told.what == PLEAT_TOLD_PROCESS)
        check_process(&told.about);
    struct pleat_told_process about;
    size_t place = 0;
    while (pleat_told_at(&told, place, &about)) {
        check_process(&about);
        place++;
    }
    must(place == json_array_size(told.processes));
    pleat_told_finish(&told);
}

static void read_head(const unsigned char *bytes, size_t size)
{
    struct pleat_head head;
    unsigned char again[PLEAT_HEAD_BYTES];
    if (pleat_head_read(bytes, size, &head))
        return;
    pleat_fuzz_process_read++;
    must(head.from >= 0 && head.taken <= head.received);
    must(head.kind == PLEAT_HEAD_DATA || size == PLEAT_HEAD_BYTES);
    pleat_head_write(&head, again);
    must(memcmp(again, bytes, PLEAT_HEAD_BYTES) == 0);
}

void pleat_fuzz_process(const uint8_t *bytes, size_t size)
{
    /* a copy of its own, so that reading beyond it is seen */
    char *text = malloc(size + 1);
    must(text);
    if (size)
        memcpy(text, bytes, size);
    read_head((const unsigned char *)text, size);
    read_line(text, size);
    free(text);
}
