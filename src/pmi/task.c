#include "pmi/task.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cpus.h"

/* Replaces the list by the CPUs of the set, in ascending order. */
static int list_of(const struct pleat_cpu_set *set, struct pleat_cpu_list *list)
{
    list->count = 0;
    for (uint32_t cpu = 0; cpu < PLEAT_CPUS_MAX; cpu++)
        if (pleat_cpu_set_has(set, cpu) && pleat_array_push(list, cpu))
            return PLEAT_E_NOMEM;
    return 0;
}

int pleat_pmi_bind_task(uint32_t task, uint32_t each)
{
    struct pleat_cpu_list list = {0};
    struct pleat_cpu_set allowed, listed = {0}, own = {0};
    const char *text = getenv(PLEAT_CPUS_ENV);
    if (!text || pleat_cpu_set_get(0, &allowed) || pleat_cpu_list_parse(text, &list, NULL))
        return 0;
    pleat_cpu_set_add_list(&listed, &list);
    int code = pleat_cpu_set_equal(&listed, &allowed) ? 0 : list_of(&allowed, &list);
    pleat_cpu_set_add_task(&own, &list, task, each);
    pleat_array_finish(&list);
    return code || pleat_cpu_set_count(&own) == 0 ? 0 : pleat_cpu_set_tell(0, &own);
}

int pleat_pmi_take_terminal(const char *name)
{
    pid_t self = getpid();
    const char *path = *name == '/' ? name : getenv(name);
    if (!path)
        return ENOENT;
    /* mpirun makes its processes leaders of groups, and a leader cannot begin a session */
    if (getsid(0) != self && getpgrp() == self && setpgid(0, getpgid(getppid())))
        return errno;
    if (getsid(0) != self && setsid() < 0)
        return errno;
    int fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int code = 0;
    if (ioctl(fd, TIOCSCTTY, 0))
        code = errno;
    for (int i = 0; !code && i <= STDERR_FILENO; i++)
        if (dup2(fd, i) < 0)
            code = errno;
    close(fd);
    return code;
}
