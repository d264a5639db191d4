/* ask.h - asks a command of Slurm, and reads what it says. */
#ifndef PLEAT_SLURM_ASK_H
#define PLEAT_SLURM_ASK_H

#include "adapter/ask.h"

/* As pleat_adapter_ask, with what Slurm's commands say. */
int pleat_slurm_ask(const char *const *argv, const char *input, char **said,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_slurm_no_memory(struct pleat_error *err);

/* Of a line "Key=value Key=value ...", as scontrol -o writes it: the first value of this key, "" if
 * there is none, cut off at `size`; or as a number, else the fallback. */
const char *pleat_slurm_value(const char *line, const char *key, char *value, size_t size);
int64_t pleat_slurm_number(const char *line, const char *key, int64_t fallback);
/* Or as minutes, of a time like "2-03:04:05", "03:04:05" or "04:05"; -1: it is none, as
 * "UNLIMITED". */
int64_t pleat_slurm_minutes(const char *line, const char *key);

#endif
