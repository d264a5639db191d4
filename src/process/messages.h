/* messages.h - sending, for groups too. With the lock. */
#ifndef PLEAT_PROCESS_MESSAGES_H
#define PLEAT_PROCESS_MESSAGES_H

#include "process/processes.h"

/* Whether it can be sent to anybody. Without the lock. */
int pleat_messages_check(const struct pleat_processes *all, int32_t type, const void *bytes,
                         size_t count, struct pleat_error *err) PLEAT_MUST_CHECK;
/* As pleat_process_send, of what was checked, until that time. */
int pleat_messages_send(struct pleat_processes *all, int32_t to, int32_t type, const void *bytes,
                        size_t count, int64_t until, struct pleat_error *err) PLEAT_MUST_CHECK;
/* PLEAT_E_NOTFOUND, with its text. */
int pleat_messages_unknown(const struct pleat_processes *all, int32_t process,
                           struct pleat_error *err);

#endif
