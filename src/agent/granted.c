#include "agent/granted.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/contention.h"
#include "agent/cpus.h"
#include "base/clock.h"

/* A CPU counts as busy that others used for more than this part of the time, in per cent. */
#define BUSY 30
/* What was read longer ago says little about now. */
#define OLD_US (2 * PLEAT_US_PER_S)

/* ---- which are chosen ---- */

int pleat_granted_pick(const struct pleat_cpu_list *order, const bool *busy, uint32_t count,
                       bool (*take)(void *arg, uint32_t cpu), void *arg,
                       struct pleat_cpu_list *cpus, struct pleat_error *err)
{
    enum { IDLE, BUSY_ONES, TAKEN, ROUNDS };
    bool *chosen = calloc(order->count + 1, sizeof(*chosen));
    if (!chosen || pleat_array_reserve(cpus, count)) {
        free(chosen);
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for the list of CPUs");
    }
    uint32_t left = count;
    for (int round = IDLE; round < ROUNDS; round++)
        for (size_t i = 0; i < order->count && left > 0; i++) {
            if (chosen[i] || (round != TAKEN &&
                              (busy[i] != (round == BUSY_ONES) || !take(arg, order->items[i]))))
                continue;
            chosen[i] = true;
            left--;
        }
    for (size_t i = 0; i < order->count; i++)
        if (chosen[i])
            cpus->items[cpus->count++] = order->items[i];
    free(chosen);
    return 0;
}

/* ---- what others have chosen ---- */

/* An abstract socket of this name is there as long as its agent lives, leaves no file, and is seen
 * by agents of all users of the host. Nobody listens on it. */
static int keep(uint32_t cpu)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int length = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "pleat-cpu-%u", cpu);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&address, size)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static bool take(void *arg, uint32_t cpu)
{
    struct pleat_granted *granted = arg;
    int fd = keep(cpu);
    if (fd >= 0)
        granted->kept[granted->kept_count++] = fd;
    return fd >= 0;
}

/* ---- which are busy ---- */

static void note_busy(struct pleat_granted *granted, const char *proc)
{
    if (!granted->busy_us)
        granted->busy_us = calloc(PLEAT_CPUS_MAX, sizeof(*granted->busy_us));
    granted->since_us = pleat_clock_monotonic_us();
    if (granted->busy_us && pleat_contention_read(proc, granted->busy_us, PLEAT_CPUS_MAX, NULL)) {
        free(granted->busy_us);
        granted->busy_us = NULL;
    }
}

/* Writes which CPUs of `order` were busy since they were noted. Where that is not known, none is.
 */
static void see_busy(const struct pleat_granted *granted, const char *proc,
                     const struct pleat_cpu_list *order, bool *busy)
{
    int64_t *now_us = granted->busy_us ? calloc(PLEAT_CPUS_MAX, sizeof(*now_us)) : NULL;
    int64_t elapsed_us = pleat_clock_monotonic_us() - granted->since_us;
    if (now_us && elapsed_us < PLEAT_GRANTED_LOOK_US) /* the kernel counts in ticks of 10 ms */
        usleep((useconds_t)(PLEAT_GRANTED_LOOK_US - elapsed_us));
    elapsed_us = pleat_clock_monotonic_us() - granted->since_us;
    if (now_us && !pleat_contention_read(proc, now_us, PLEAT_CPUS_MAX, NULL))
        for (size_t i = 0; i < order->count; i++) {
            uint32_t cpu = order->items[i];
            busy[i] = (now_us[cpu] - granted->busy_us[cpu]) * 100 > elapsed_us * BUSY;
        }
    free(now_us);
}

/* ---- granted ---- */

int pleat_granted_begin(struct pleat_granted *granted, uint32_t count, const char *proc,
                        const struct pleat_cpu_set *allowed, struct pleat_cpu_list *cpus,
                        struct pleat_error *err)
{
    granted->count = count;
    granted->open = pleat_cpu_set_count(allowed) > count;
    if (granted->open) {
        note_busy(granted, proc);
        return 0;
    }
    int result = pleat_cpus_in_order(NULL, allowed, cpus, err);
    size_t own = cpus->count;
    if (!result && own && pleat_array_reserve(cpus, count))
        result = pleat_error_set(err, PLEAT_E_NOMEM, "no memory for the list of CPUs");
    for (size_t i = own; !result && own && i < count; i++)
        cpus->items[cpus->count++] = cpus->items[i - own];
    return result;
}

int pleat_granted_choose(struct pleat_granted *granted, const char *proc,
                         const struct pleat_cpu_set *allowed, struct pleat_cpu_list *cpus,
                         struct pleat_error *err)
{
    struct pleat_cpu_list order = {0};
    if (!granted->open)
        return 0;
    int result = pleat_cpus_in_order(NULL, allowed, &order, err);
    bool *busy = calloc(order.count + 1, sizeof(*busy));
    if (!granted->kept)
        granted->kept = calloc(granted->count, sizeof(*granted->kept));
    if (!result && (!busy || !granted->kept)) {
        pleat_error_set(err, PLEAT_E_NOMEM, "no memory to choose CPUs");
        result = PLEAT_E_NOMEM;
    }
    if (!result) {
        if (pleat_clock_monotonic_us() - granted->since_us > OLD_US)
            note_busy(granted, proc);
        see_busy(granted, proc, &order, busy);
        result = pleat_granted_pick(&order, busy, granted->count, take, granted, cpus, err);
    }
    free(busy);
    pleat_array_finish(&order);
    if (result)
        return result;
    free(granted->busy_us);
    granted->busy_us = NULL;
    granted->open = false;
    granted->chosen = true;
    return 0;
}

void pleat_granted_finish(struct pleat_granted *granted)
{
    for (size_t i = 0; i < granted->kept_count; i++)
        close(granted->kept[i]);
    free(granted->kept);
    free(granted->busy_us);
    *granted = (struct pleat_granted){0};
}
