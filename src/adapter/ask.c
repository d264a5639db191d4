#include "adapter/ask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "adapter/program.h"

static int code_of(const struct pleat_adapter_saying *sayings, const char *text)
{
    for (; sayings->part; sayings++)
        if (strstr(text, sayings->part))
            return sayings->code;
    return PLEAT_E_SYSTEM;
}

int pleat_adapter_ask(const char *const *argv, const char *input,
                      const struct pleat_adapter_saying *sayings, char **said,
                      struct pleat_error *err)
{
    struct pleat_adapter_said got;
    int failure = pleat_adapter_program(argv, input, &got, err);
    if (failure)
        return failure;
    if (got.code != 0) {
        const char *text = got.errors[0] ? got.errors : got.output;
        bool named = !strncmp(text, argv[0], strlen(argv[0]));
        failure = pleat_error_set(err, code_of(sayings, text), "%s%s%.*s", named ? "" : argv[0],
                                  named ? "" : ": ", (int)strcspn(text, "\n"), text);
        free(got.output);
        free(got.errors);
        return failure;
    }
    free(got.errors);
    *said = got.output;
    return 0;
}

bool pleat_adapter_is_number(const char *text, int64_t *number)
{
    char *end = NULL;
    errno = 0;
    long long value = *text >= '0' && *text <= '9' ? strtoll(text, &end, 10) : -1;
    if (!end || *end || errno || value < 0 || value > INT64_C(9007199254740992))
        return false;
    *number = value;
    return true;
}
