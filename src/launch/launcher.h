/* launcher.h - the interface of MPI launchers, and helpers to write a command. Private to
 * src/launch.
 */
#ifndef PLEAT_LAUNCH_LAUNCHER_H
#define PLEAT_LAUNCH_LAUNCHER_H

#include "base/array.h"
#include "launch/launch.h"

/* A list of owned strings. After a failure to allocate, `failed` is set and further calls do
 * nothing, so that one check at the end is enough. */
struct pleat_launch_list {
    char **items;
    size_t count;
    size_t capacity;
    bool failed;
};

void pleat_launch_add(struct pleat_launch_list *list, const char *text);
void pleat_launch_addf(struct pleat_launch_list *list, const char *fmt, ...) PLEAT_PRINTF(2, 3);
void pleat_launch_unset(struct pleat_launch_list *env, const char *name);
/* Sets NAME=value in an environment, in the place of an earlier value. */
void pleat_launch_set(struct pleat_launch_list *env, const char *name, const char *value);
/* The value of a variable in an environment (NULL at the end, or NULL), borrowed; NULL: not set. */
const char *pleat_launch_env(const char *const *env, const char *name);
/* Whether all processes run on the node where the command is executed. */
bool pleat_launch_is_local(const struct pleat_launch_request *request);
/* Whether they all run on its machine. */
bool pleat_launch_is_on_one_machine(const struct pleat_launch_request *request);
/* Adds "host:slots,host:slots". pleat_launch_compose has checked the hosts. */
void pleat_launch_add_hosts(struct pleat_launch_list *argv,
                            const struct pleat_launch_request *request);

/* Adds `prefix` followed by a value of LD_PRELOAD: the two libraries (NULL: none), then the user's.
 */
void pleat_launch_add_preload(struct pleat_launch_list *list,
                              const struct pleat_launch_request *request, const char *prefix,
                              const char *first, const char *second);

/* Has the library preloaded into what is executed. */
void pleat_launch_preload(const struct pleat_launch_request *request, const char *library,
                          struct pleat_launch_list *env);
/* Has libpleat-loopback preloaded into what is executed, and UCX do without TCP. */
void pleat_launch_stay_on_loopback(const struct pleat_launch_request *request,
                                   struct pleat_launch_list *env);

struct pleat_launcher {
    const char *name;
    bool spawns; /* programs can spawn processes while they run */
    bool yields; /* waiting processes yield the processor */
    /* Whether an outer launcher of this kind sets the variable for its processes, in which case it
     * would confuse this launcher. NULL: no variable does. `name` is "NAME=value". */
    bool (*inherited)(const char *name);
    /* Adds to argv what comes before the program, and to env what the launcher needs. */
    int (*compose)(const struct pleat_launch_request *request, struct pleat_launch_list *argv,
                   struct pleat_launch_list *env, struct pleat_error *err);
};

extern const struct pleat_launcher pleat_launcher_none;
extern const struct pleat_launcher pleat_launcher_openmpi;
extern const struct pleat_launcher pleat_launcher_mpich;

/* Refuses what both MPI launchers would misread: a program that looks like an option, and an
 * argument ":", which separates programs. */
int pleat_launch_check_program(const char *launcher, const struct pleat_launch_request *request,
                               struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
