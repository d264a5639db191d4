#include "slurm_fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "must.h"
#include "slurm/ask.h"
#include "slurm/system.h"

unsigned long pleat_fuzz_slurm_lists;

static void check_list(const char *text)
{
    json_t *names, *name;
    struct pleat_error err = {0};
    size_t i;
    if (pleat_slurm_hostlist(text, &names, &err)) {
        must(err.code == PLEAT_E_PROTOCOL && err.text[0] && !names);
        return;
    }
    json_array_foreach(names, i, name)
    {
        const char *word = json_string_value(name);
        must(pleat_adapter_is_word(word, 255) && !strpbrk(word, "[],"));
    }
    pleat_fuzz_slurm_lists++;
    json_decref(names);
}

void pleat_fuzz_slurm(const uint8_t *data, size_t size)
{
    char value[16], *text = malloc(size + 1);
    must(text != NULL);
    memcpy(text, data, size);
    text[size] = 0;
    /* long lists are right, and only take time */
    if (size < 200)
        check_list(text);
    must(strlen(pleat_slurm_value(text, "a", value, sizeof(value))) < sizeof(value));
    must(!strchr(value, ' ') && pleat_slurm_number(text, "a", 1) >= 0);
    free(text);
}
