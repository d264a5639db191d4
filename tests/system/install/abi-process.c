/* The binary interface of libpleat-process.so.0. What is here does not change without a new SONAME;
 * what is new is added. Compiling it is the test. */
#include <pleat-process.h>
#include <stddef.h>

typedef struct pleat_processes processes;
typedef struct pleat_error error;
typedef struct pleat_process_message message;

#define IS(function, type)                                                                         \
    _Static_assert(__builtin_types_compatible_p(__typeof__(&(function)), type), #function)

IS(pleat_processes_begin, int (*)(processes **, const struct pleat_process_settings *, error *));
IS(pleat_processes_finish, int (*)(processes *, error *));
IS(pleat_process_self, int32_t (*)(const processes *));
IS(pleat_process_parent, int32_t (*)(const processes *));
IS(pleat_process_maximum, int32_t (*)(const processes *));
IS(pleat_process_list, int (*)(const processes *, int32_t *, int));
IS(pleat_process_about, int (*)(const processes *, int32_t, struct pleat_process_info *, error *));
IS(pleat_process_add, int (*)(processes *, const struct pleat_process_wish *, int32_t *, error *));
IS(pleat_process_cancel, int (*)(processes *, int32_t, error *));
IS(pleat_process_stop, int (*)(processes *, int32_t, error *));
IS(pleat_process_iteration, void (*)(processes *, int64_t));
IS(pleat_process_returning, int (*)(processes *, int, error *));
IS(pleat_process_notice, int (*)(processes *, struct pleat_process_news *));
IS(pleat_process_leaving, int (*)(processes *));
IS(pleat_process_descriptor, int (*)(processes *, error *));
IS(pleat_process_send, int (*)(processes *, int32_t, int32_t, const void *, size_t, int, error *));
IS(pleat_process_receive,
   int (*)(processes *, int32_t, int32_t, void *, size_t, message *, int, error *));
IS(pleat_process_probe, int (*)(processes *, int32_t, int32_t, message *, int, error *));
IS(pleat_process_group_join, int (*)(processes *, const char *, error *));
IS(pleat_process_group_leave, int (*)(processes *, const char *, error *));
IS(pleat_process_group_name, int (*)(const processes *, int32_t, int, char *, size_t));
IS(pleat_process_group_list, int (*)(const processes *, const char *, int32_t *, int));
IS(pleat_process_group_send,
   int (*)(processes *, const char *, int32_t, const void *, size_t, int, int *, error *));

_Static_assert(offsetof(struct pleat_process_settings, answer_ms) == 2 * sizeof(size_t) + 4, "");
_Static_assert(sizeof(struct pleat_process_info) == 24, "");
_Static_assert(offsetof(struct pleat_process_news, lost) == 24, "");
_Static_assert(offsetof(message, bytes) == 8, "");
_Static_assert(offsetof(struct pleat_process_wish, priority) == 3 * sizeof(void *), "");
_Static_assert(PLEAT_PROCESS_LEAVE == 3 && PLEAT_PROCESS_GONE == 3 && PLEAT_PROCESS_UNSAID == 6,
               "");
_Static_assert(sizeof(PLEAT_PROCESS_ANY_SITE) == 2, "");
_Static_assert(PLEAT_PROCESS_NOTHING == 2 && PLEAT_PROCESS_ADDED_LATER == 2, "");
