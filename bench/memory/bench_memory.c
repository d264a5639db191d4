/* bench_memory [options] - what the memory of rows costs where it is mapped, and how a kernel
 * counts it.
 *
 * The calls are those that libpleat makes for rows in a file (src/app/memory.h): address space is
 * reserved for the whole array, a block of it is mapped from the file and written, and a resize
 * maps it again. They are made with a file that has ordinary pages, and with one that has huge
 * pages, on file systems of this process alone, in turn.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "app/memory.h"
#include "base/clock.h"
#include "options.h"
#include "report.h"

static const char usage[] =
    "usage: bench_memory [options]\n"
    "Maps the memory of rows with ordinary and with huge pages, and says how the kernel counts "
    "it.\n"
    "Huge pages: only where a file system may be mounted (root).\n"
    "  --repeats N    measurements of each value (default 7, at most 50)\n"
    "  --bytes N      of the rows (default 1073741824)\n"
    "  --json         rows as JSON: name, value, unit, baseline, ratio, goal, met\n";

#define MIB (1024.0 * 1024.0)
#define PLACE "/tmp" /* where the file systems are mounted, which nobody else sees */

enum kind { ORDINARY, HUGE_PAGES, KINDS };
static const char *const mounts[KINDS] = {"huge=never", "huge=always"};
enum { WRITE, AGAIN, COPY, FREE, STEPS };
static const char *const step_names[STEPS] = {"write", "map_again", "read", "free"};
static const char *const step_texts[STEPS] = {"written for the first time", "mapped again",
                                              "read then", "given back"};
enum { RESERVED, MAPPED, WRITTEN, PRIVATE, COUNTS };
static const char *const count_names[COUNTS] = {"reserved", "mapped", "written", "private"};
static const char *const count_texts[COUNTS] = {"address space is reserved", "the file is mapped",
                                                "the file is written",
                                                "as much private memory is made usable"};

static struct bench_series times_ms[KINDS][STEPS], counted_mib[COUNTS], huge_mib[KINDS];
static size_t bytes = (size_t)1 << 30;
static int repeats = 7, kinds = 1;
static long nodes[64]; /* pages by node, of the last run */

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "bench_memory: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double number_in(const char *path, const char *key)
{
    char line[256];
    double value = 0;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file))
        if (!strncmp(line, key, strlen(key)))
            value += strtod(line + strlen(key), NULL);
    if (file)
        fclose(file);
    return value;
}

/* Memory that a strict kernel (vm.overcommit_memory=2) counts as promised; other kernels count it,
 * too. */
static double committed_mib(void)
{
    return number_in("/proc/meminfo", "Committed_AS:") / 1024;
}

static bool mount_own(enum kind kind)
{
    char options[64];
    snprintf(options, sizeof(options), "%s,size=%zu", mounts[kind], 2 * bytes);
    return mount("none", PLACE, "tmpfs", 0, options) == 0;
}

static int new_file(void)
{
    int fd = kinds == 1 ? memfd_create("rows", MFD_CLOEXEC)
                        : open(PLACE, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)bytes))
        give_up("a file in memory");
    return fd;
}

static double ms_since(int64_t *start)
{
    int64_t now = pleat_clock_monotonic_ns(), before = *start;
    *start = now;
    return (double)(now - before) / 1e6;
}

static unsigned long sum(const unsigned char *at)
{
    unsigned long total = 0;
    for (size_t i = 0; i < bytes; i += 64)
        total += at[i];
    return total;
}

static void where(const unsigned char *base)
{
    enum { MOST = 4096 };
    void *pages[MOST];
    int status[MOST];
    size_t step = bytes / MOST > pleat_page_bytes() ? bytes / MOST : pleat_page_bytes();
    unsigned long count = 0;
    for (size_t at = 0; at < bytes && count < MOST; at += step)
        pages[count++] = (void *)(base + at);
    memset(nodes, 0, sizeof(nodes));
    if (syscall(SYS_move_pages, 0, count, pages, NULL, status, 0))
        return;
    for (unsigned long i = 0; i < count; i++)
        if (status[i] >= 0 && status[i] < 64)
            nodes[status[i]]++;
}

static void run_file(enum kind kind)
{
    struct pleat_memory memory;
    const struct pleat_span all = {0, bytes};
    struct pleat_error err;
    volatile unsigned long total;
    int fd = new_file();
    int64_t clock = pleat_clock_monotonic_ns();
    if (pleat_memory_reserve(&memory, bytes, &err))
        give_up("address space");
    pleat_memory_share(&memory, fd, 0);
    if (pleat_memory_move(&memory, all, all, &err))
        give_up("mapping");
    memset(memory.base, 1, bytes);
    bench_add(&times_ms[kind][WRITE], ms_since(&clock));
    bench_add(&huge_mib[kind], number_in("/proc/self/smaps", "ShmemPmdMapped:") / 1024);
    where(memory.base);
    pleat_memory_release(&memory);
    if (pleat_memory_reserve(&memory, bytes, &err))
        give_up("address space");
    pleat_memory_share(&memory, fd, 0);
    (void)ms_since(&clock);
    if (pleat_memory_prepare(&memory, all, &err) || pleat_memory_move(&memory, all, all, &err))
        give_up("mapping again");
    bench_add(&times_ms[kind][AGAIN], ms_since(&clock));
    total = sum(memory.base);
    bench_add(&times_ms[kind][COPY], ms_since(&clock));
    pleat_memory_release(&memory);
    close(fd);
    bench_add(&times_ms[kind][FREE], ms_since(&clock));
    (void)total;
}

static void count_up(double *before, int what)
{
    double now = committed_mib();
    bench_add(&counted_mib[what], now > *before ? now - *before : 0);
    *before = now;
}

/* Private memory without MAP_NORESERVE, to which a strict kernel pays no attention. */
static void run_counts(void)
{
    int fd = memfd_create("rows", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)bytes))
        give_up("a file in memory");
    double before = committed_mib();
    unsigned char *base = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        give_up("address space");
    count_up(&before, RESERVED);
    if (mmap(base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
        give_up("mapping");
    count_up(&before, MAPPED);
    memset(base, 1, bytes);
    count_up(&before, WRITTEN);
    munmap(base, bytes);
    close(fd);
    before = committed_mib();
    base = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED || mprotect(base, bytes, PROT_READ | PROT_WRITE))
        give_up("private memory");
    count_up(&before, PRIVATE);
    munmap(base, bytes);
}

static void run_kind(enum kind kind)
{
    bool mounted = kinds > 1 && mount_own(kind);
    if (kinds > 1 && !mounted)
        give_up("mounting a file system");
    run_file(kind);
    if (mounted && umount2(PLACE, MNT_DETACH))
        give_up("unmounting it");
}

static void print_text(void)
{
    printf("%.0f MiB of rows; milliseconds: median [min .. max]\n%-28s%-32s%s\n",
           (double)bytes / MIB, "", "ordinary pages",
           kinds > 1 ? "huge pages" : "(huge pages: not as this user)");
    for (int s = 0; s < STEPS; s++) {
        printf("%-28s", step_texts[s]);
        for (int k = 0; k < kinds; k++)
            printf("%8.1f [%7.1f .. %8.1f]    ", bench_median(&times_ms[k][s]),
                   bench_quantile(&times_ms[k][s], 0), bench_quantile(&times_ms[k][s], 1));
        printf("\n");
    }
    printf("%-28s", "mapped by huge pages, MiB");
    for (int k = 0; k < kinds; k++)
        printf("%8.0f%24s", bench_median(&huge_mib[k]), "");
    printf("\n\nMiB more that the kernel counts as promised (Committed_AS)\n");
    for (int c = 0; c < COUNTS; c++)
        printf("%-40s%8.0f [%6.0f .. %6.0f]\n", count_texts[c], bench_median(&counted_mib[c]),
               bench_quantile(&counted_mib[c], 0), bench_quantile(&counted_mib[c], 1));
    printf("\npages looked at (move_pages), by NUMA node:");
    for (int n = 0; n < 64; n++)
        if (nodes[n])
            printf(" %ld on node %d", nodes[n], n);
    printf("\n");
}

static void print_json(void)
{
    struct bench_row rows[STEPS * KINDS + COUNTS];
    size_t count = 0;
    for (int s = 0; s < STEPS; s++) {
        double plain = bench_median(&times_ms[ORDINARY][s]);
        rows[count] = (struct bench_row){.value = plain, .unit = "ms"};
        snprintf(rows[count++].name, sizeof(rows->name), "memory_%s", step_names[s]);
        if (kinds == 1)
            continue;
        rows[count] = (struct bench_row){
            .value = bench_median(&times_ms[HUGE_PAGES][s]), .unit = "ms", .baseline = plain};
        snprintf(rows[count++].name, sizeof(rows->name), "memory_%s_huge", step_names[s]);
    }
    for (int c = 0; c < COUNTS; c++) {
        rows[count] = (struct bench_row){.value = bench_median(&counted_mib[c]), .unit = "MiB"};
        snprintf(rows[count++].name, sizeof(rows->name), "memory_counted_%s", count_names[c]);
    }
    bench_print_json(rows, count);
}

int main(int argc, char **argv)
{
    double size = (double)bytes;
    bool json = false;
    const struct bench_option options[] = {
        {.name = "repeats", .number = &repeats, .least = 1, .most = 50},
        {.name = "bytes", .real = &size, .from = 1 << 20, .to = 1LL << 36},
        {.name = "json", .flag = &json}};
    bench_options(argc, argv, usage, options, sizeof(options) / sizeof(*options));
    bytes = (size_t)size;
    /* mounted where nobody else sees it, and gone with this process */
    if (unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
        kinds = KINDS;
    for (int r = 0; r < repeats; r++) {
        for (int k = 0; k < kinds; k++)
            run_kind((enum kind)k);
        run_counts();
    }
    json ? print_json() : print_text();
    return 0;
}
