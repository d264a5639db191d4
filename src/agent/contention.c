#include "agent/contention.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

/* In per cent of a processor. A foreign process that computes gets half of the CPU beside a process
 * of the run that does. Daemons, and errors from counting in ticks, make less than a fifth. */
#define MUCH 20
#define LITTLE 10
/* Looks in a row that must agree. Few are needed to mark a processor, since from the arrival of a
 * foreign process on every yield waits for it. More are needed to take the mark away. */
#define AGREE_COME 2
#define AGREE_GO 5

bool pleat_contention_look(struct pleat_contention *contention, int64_t elapsed_us, int64_t busy_us,
                           int64_t own_us)
{
    if (elapsed_us <= 0)
        return false;
    int64_t share = (busy_us - own_us) * 100 / elapsed_us;
    bool opposite = contention->contended ? share < LITTLE : share > MUCH;
    contention->against = opposite ? (uint8_t)(contention->against + 1) : 0;
    if (contention->against < (contention->contended ? AGREE_GO : AGREE_COME))
        return false;
    contention->contended = !contention->contended;
    contention->against = 0;
    return true;
}

/* One line of /proc/stat, proc(5): "cpuN user nice system idle iowait irq softirq steal ...".
 * Stolen time counts as idle: no process of this machine used it. */
static void read_line(const char *line, int64_t tick_us, int64_t *busy_us, uint32_t count)
{
    uint32_t cpu;
    int64_t user, nice, system, irq, softirq;
    if (isdigit((unsigned char)line[3]) && /* "cpu" without a number is the sum of all */
        sscanf(line,
               "cpu%" SCNu32 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %*d %*d %" SCNd64 " %" SCNd64,
               &cpu, &user, &nice, &system, &irq, &softirq) == 6 &&
        cpu < count)
        busy_us[cpu] = (user + nice + system + irq + softirq) * tick_us;
}

int pleat_contention_read(const char *proc, int64_t *busy_us, uint32_t count,
                          struct pleat_error *err)
{
    char path[256];
    char line[512];
    snprintf(path, sizeof(path), "%s/stat", proc);
    FILE *file = fopen(path, "re");
    if (!file)
        return pleat_error_sys(err, errno, "cannot read %s", path);
    int64_t tick_us = PLEAT_US_PER_S / sysconf(_SC_CLK_TCK);
    memset(busy_us, 0, count * sizeof(*busy_us));
    /* the lines of CPUs come first; the line of interrupts behind them is long */
    while (fgets(line, sizeof(line), file) && strncmp(line, "cpu", 3) == 0)
        read_line(line, tick_us, busy_us, count);
    fclose(file);
    return 0;
}
