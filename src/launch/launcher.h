/* launcher.h - what a launcher is, and how it writes its command. Private to src/launch. */
#ifndef PLEAT_LAUNCH_LAUNCHER_H
#define PLEAT_LAUNCH_LAUNCHER_H

#include "base/array.h"
#include "launch/launch.h"

/* A list of owned strings under construction. After a failure to allocate, `failed` is set and
 * further calls do nothing, so one check at the end is enough. */
struct pleat_launch_list {
    char **items;
    size_t count;
    size_t capacity;
    bool failed;
};

void pleat_launch_add(struct pleat_launch_list *list, const char *text);
void pleat_launch_addf(struct pleat_launch_list *list, const char *fmt, ...) PLEAT_PRINTF(2, 3);
void pleat_launch_unset(struct pleat_launch_list *env, const char *name);
/* Sets NAME=value in an environment, replacing what is there. */
void pleat_launch_set(struct pleat_launch_list *env, const char *name, const char *value);
/* The value of NAME in an environment ending with NULL, or NULL. env may be NULL. */
const char *pleat_launch_env(const char *const *env, const char *name);
/* True when all processes run where the command is executed. */
bool pleat_launch_is_local(const struct pleat_launch_request *request);
/* Adds "host:slots,host:slots"; hosts were checked by pleat_launch_compose. */
void pleat_launch_add_hosts(struct pleat_launch_list *argv,
                            const struct pleat_launch_request *request);

/* Adds `prefix` and a value of LD_PRELOAD: the libraries (each NULL: none), then what the user
 * preloads. */
void pleat_launch_add_preload(struct pleat_launch_list *list,
                              const struct pleat_launch_request *request, const char *prefix,
                              const char *first, const char *second);

struct pleat_launcher {
    const char *name;
    bool spawns; /* its programs can start more processes while they run */
    bool yields; /* its processes give way by themselves when they wait */
    /* True for a variable that a surrounding launcher of this kind leaves to its processes and
     * that would confuse this one; NULL: none. `name` is "NAME=value". */
    bool (*inherited)(const char *name);
    /* Adds what comes before the program, and the environment. */
    int (*compose)(const struct pleat_launch_request *request, struct pleat_launch_list *argv,
                   struct pleat_launch_list *env, struct pleat_error *err);
};

extern const struct pleat_launcher pleat_launcher_none;
extern const struct pleat_launcher pleat_launcher_openmpi;
extern const struct pleat_launcher pleat_launcher_mpich;

/* Both MPI launchers take ":" for "and now the next program" and read options up to the program. */
int pleat_launch_check_program(const char *launcher, const struct pleat_launch_request *request,
                               struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
