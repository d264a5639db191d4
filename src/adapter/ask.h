/* ask.h - asks a command of a batch system, and reads what it says. */
#ifndef PLEAT_ADAPTER_ASK_H
#define PLEAT_ADAPTER_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* What commands say when they fail, and the code that it means (operations.h). */
struct pleat_adapter_saying {
    const char *part; /* of what was said; NULL: no more rows */
    int code;
};

/* Runs it (pleat_adapter_program); *said: what it wrote, which the caller frees. If it fails, the
 * error has its own words, and the code of the first saying that is in them, else
 * PLEAT_E_SYSTEM. */
int pleat_adapter_ask(const char *const *argv, const char *input,
                      const struct pleat_adapter_saying *sayings, char **said,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

/* Digits only, at most 2^53. */
bool pleat_adapter_is_number(const char *text, int64_t *number);

#endif
