/* values.h - what options and arguments say: numbers, words, durations, sizes, signals. */
#ifndef PLEAT_DESCRIBE_VALUES_H
#define PLEAT_DESCRIBE_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Whole numbers and seconds as users write them; `what` names the option or argument in *err. */
int pleat_parse_int(const char *what, const char *text, int64_t low, int64_t high, int64_t *value,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_parse_seconds(const char *what, const char *text, double low, double high, double *value,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* "25" or "25%": a share of 0.25. */
int pleat_parse_percent(const char *what, const char *text, double *share,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* Which of the `count` words the text is: *index. PLEAT_E_INVALID: none; *err names them all. */
int pleat_parse_word(const char *what, const char *text, const char *const *words, size_t count,
                     size_t *index, struct pleat_error *err) PLEAT_MUST_CHECK;
/* "90s", "15min" (or "15m"), "2h", "1.5d", "1h30m", and as batch systems have it "1:30:00",
 * "2-12:00:00", "2-12" (days-hours): not negative, each at most 1e9 s. What could mean several
 * things is refused with the question which: a number without a unit (but 0), and "1:30". */
int pleat_parse_duration(const char *what, const char *text, double *seconds,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* "[B:]SIG[@TIME]", as sbatch has it: a name ("USR1", "SIGUSR1") or a number, TIME before the time
 * limit (default: 60 s), to all processes or (B:) to the script alone. */
int pleat_parse_limit_signal(const char *what, const char *text, int *number, double *lead_s,
                             bool *script_only, struct pleat_error *err) PLEAT_MUST_CHECK;
/* "SIGUSR1", or "signal 35" where it has no name. */
const char *pleat_signal_name(int number, char *text, size_t size);
/* "512M", "1.5G", "2T", "100K", also with B or iB behind it: above 0, in KiB. What has no unit is
 * refused with the question which. */
int pleat_parse_memory(const char *what, const char *text, int64_t *kib,
                       struct pleat_error *err) PLEAT_MUST_CHECK;
/* A moment to come, as seconds from now on: a duration above 0, or a time of the day, "14:30" or
 * "14:30:15", which is the next such one. */
int pleat_parse_when(const char *what, const char *text, double *seconds,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_parse_job(const char *text, int64_t *job, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
