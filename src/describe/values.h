/* values.h - reads the values of options and arguments: numbers, words, durations, sizes, signals.
 */
#ifndef PLEAT_DESCRIBE_VALUES_H
#define PLEAT_DESCRIBE_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Read whole numbers and seconds. `what` names the option or argument in *err. */
int pleat_parse_int(const char *what, const char *text, int64_t low, int64_t high, int64_t *value,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_parse_seconds(const char *what, const char *text, double low, double high, double *value,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* Reads "25" or "25%": a share of 0.25. */
int pleat_parse_percent(const char *what, const char *text, double *share,
                        struct pleat_error *err) PLEAT_MUST_CHECK;
/* Finds which of the `count` words the text is: *index. PLEAT_E_INVALID: none; *err lists the
 * words. */
int pleat_parse_word(const char *what, const char *text, const char *const *words, size_t count,
                     size_t *index, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Reads "90s", "15min" (or "15m"), "2h", "1.5d", "1h30m", and the forms of batch systems "1:30:00",
 * "2-12:00:00", "2-12" (days-hours). A duration is not negative, and at most 1e9 s. A text that
 * could mean several things is refused, with the question which is meant: a number without a unit
 * (but 0), and "1:30". */
int pleat_parse_duration(const char *what, const char *text, double *seconds,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* Reads how often a copy is saved: a duration of at least 1 ms ("10min": *seconds), or a number of
 * iterations ("200it": *iterations); the other one is 0. */
int pleat_parse_save(const char *what, const char *text, int64_t *iterations, double *seconds,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
/* The same, as PLEAT_SAVE_EVERY has it: "600.000s", "200it". */
#define PLEAT_SAVE_TEXT 32
int pleat_save_text(const char *what, const char *text, char *out, size_t size,
                    struct pleat_error *err) PLEAT_MUST_CHECK;
/* Reads "[B:]SIG[@TIME]" as sbatch does: a name ("USR1", "SIGUSR1") or a number; TIME before the
 * time limit (default: 60 s); to all processes or (B:) to the script alone. */
int pleat_parse_limit_signal(const char *what, const char *text, int *number, double *lead_s,
                             bool *script_only, struct pleat_error *err) PLEAT_MUST_CHECK;
/* "SIGUSR1", or "signal 35" for a signal without a name. */
const char *pleat_signal_name(int number, char *text, size_t size);
/* Reads "512M", "1.5G", "2T", "100K", also with B or iB behind: above 0, in KiB. A size without a
 * unit is refused, with the question which is meant. */
int pleat_parse_memory(const char *what, const char *text, int64_t *kib,
                       struct pleat_error *err) PLEAT_MUST_CHECK;
/* Reads a moment in the future, as seconds from now on: a duration above 0; or a time of day
 * "14:30" or "14:30:15", which is the next such time. */
int pleat_parse_when(const char *what, const char *text, double *seconds,
                     struct pleat_error *err) PLEAT_MUST_CHECK;
int pleat_parse_job(const char *text, int64_t *job, struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
