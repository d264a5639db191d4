/* why_text.h - why a job waits, has its size, has ended: the daemon's facts (docs/protocol.md,
 * "Why") in sentences. */
#ifndef PLEAT_CLI_JOBS_WHY_TEXT_H
#define PLEAT_CLI_JOBS_WHY_TEXT_H

#include <jansson.h>

#include "base/array.h"

/* Appends why a job waits, why it has its size, or how it ended, as the end of a sentence that
 * begins with the job. */
void pleat_why_add_headline(const json_t *why, struct pleat_string *out);
/* Appends one decision about the job: "grown 2 -> 6 by egs: ...". */
void pleat_why_add_decision(const json_t *why, const json_t *decision, struct pleat_string *out);
/* For a waiting job: append what is free at a site and who has its processors; a job in `kept_for`.
 */
void pleat_why_add_site(const json_t *waiting, const json_t *site, struct pleat_string *out);
void pleat_why_add_holder(const json_t *holder, struct pleat_string *out);
/* Appends the reason of the headline in a few words: "4 of 6 free". waiting: has the members that a
 * frame of `pleat top` has. */
void pleat_why_add_short(const json_t *waiting, double now_s, struct pleat_string *out);

/* For a job that asks for processes itself, of which `buffer` is a member of `size`: append how
 * large its buffer is, and what that follows from; why requests wait; to whom processors of it
 * went. */
void pleat_why_add_buffer(const json_t *buffer, struct pleat_string *out);
void pleat_why_add_requests(const json_t *buffer, struct pleat_string *out);
void pleat_why_add_reclaimed(const json_t *buffer, struct pleat_string *out);

/* Appends what a policy that goes by a learned curve says of a job's size: `spot` of `size`. */
void pleat_why_add_spot(const json_t *spot, struct pleat_string *out);

#endif
