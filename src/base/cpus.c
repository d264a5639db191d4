#include "base/cpus.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

/* ---- lists ---- */

/* Reads a number at *at. False: there is none, or it is too large for a CPU. */
static bool read_cpu(const char **at, uint32_t *cpu)
{
    if (!isdigit((unsigned char)**at))
        return false;
    uint32_t value = 0;
    for (; isdigit((unsigned char)**at); ++*at) {
        value = value * 10 + (uint32_t)(**at - '0');
        if (value >= PLEAT_CPUS_MAX)
            return false;
    }
    *cpu = value;
    return true;
}

static void skip_blanks(const char **at)
{
    while (**at == ' ' || **at == '\t')
        ++*at;
}

/* Reads "8" or "0-3", and appends the CPUs. */
static int parse_range(const char **at, struct pleat_cpu_list *list, const char *text,
                       struct pleat_error *err)
{
    uint32_t first = 0, last = 0;
    skip_blanks(at);
    if (!read_cpu(at, &first))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "'%.80s' is no list of CPUs: numbers below %d and ranges of them, "
                               "such as 0-3,8",
                               text, PLEAT_CPUS_MAX);
    last = first;
    if (**at == '-') {
        ++*at;
        if (!read_cpu(at, &last) || last < first)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "'%.80s': a range of CPUs goes from a number to one that is "
                                   "not lower, and below %d",
                                   text, PLEAT_CPUS_MAX);
    }
    skip_blanks(at);
    if (list->count + last - first >= PLEAT_CPU_LIST_MAX)
        return pleat_error_set(err, PLEAT_E_TOOBIG, "'%.80s': more than %u CPUs", text,
                               PLEAT_CPU_LIST_MAX);
    for (uint32_t cpu = first; cpu <= last; cpu++)
        if (pleat_array_push(list, cpu))
            return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for a list of CPUs");
    return 0;
}

int pleat_cpu_list_parse(const char *text, struct pleat_cpu_list *list, struct pleat_error *err)
{
    size_t before = list->count;
    const char *at = text;
    int result;
    while ((result = parse_range(&at, list, text, err)) == 0 && *at == ',')
        at++;
    if (!result && *at)
        result = pleat_error_set(err, PLEAT_E_INVALID,
                                 "'%.80s' is no list of CPUs: '%.20s' is not understood", text, at);
    if (result)
        list->count = before;
    return result;
}

void pleat_cpu_list_text(const struct pleat_cpu_list *list, struct pleat_string *text)
{
    for (size_t i = 0; i < list->count;) {
        size_t next = i + 1;
        uint32_t first = list->items[i];
        while (next < list->count && list->items[next] == list->items[next - 1] + 1)
            next++;
        pleat_string_addf(text, next == i + 1 ? "%s%u" : "%s%u-%u", text->length ? "," : "", first,
                          list->items[next - 1]);
        i = next;
    }
}

int pleat_cpu_list_copy(const struct pleat_cpu_list *from, struct pleat_cpu_list *to)
{
    if (from->count > to->capacity && pleat_array_reserve(to, from->count - to->count))
        return PLEAT_E_NOMEM;
    if (from->count)
        memcpy(to->items, from->items, from->count * sizeof(*to->items));
    to->count = from->count;
    return 0;
}

/* ---- sets ---- */

void pleat_cpu_set_add(struct pleat_cpu_set *set, uint32_t cpu)
{
    if (cpu < PLEAT_CPUS_MAX)
        CPU_SET_S(cpu, sizeof(set->sets), set->sets);
}

void pleat_cpu_set_add_list(struct pleat_cpu_set *set, const struct pleat_cpu_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        pleat_cpu_set_add(set, list->items[i]);
}

void pleat_cpu_set_add_task(struct pleat_cpu_set *set, const struct pleat_cpu_list *list,
                            uint32_t task, uint32_t each)
{
    for (uint32_t i = 0; i < each && i < list->count; i++)
        pleat_cpu_set_add(set, list->items[((uint64_t)task * each + i) % list->count]);
}

bool pleat_cpu_set_has(const struct pleat_cpu_set *set, uint32_t cpu)
{
    return cpu < PLEAT_CPUS_MAX && CPU_ISSET_S(cpu, sizeof(set->sets), set->sets);
}

uint32_t pleat_cpu_set_count(const struct pleat_cpu_set *set)
{
    return (uint32_t)CPU_COUNT_S(sizeof(set->sets), set->sets);
}

bool pleat_cpu_set_equal(const struct pleat_cpu_set *a, const struct pleat_cpu_set *b)
{
    return CPU_EQUAL_S(sizeof(a->sets), a->sets, b->sets);
}

struct pleat_cpu_set pleat_cpu_set_both(const struct pleat_cpu_set *a,
                                        const struct pleat_cpu_set *b)
{
    struct pleat_cpu_set both;
    CPU_AND_S(sizeof(both.sets), both.sets, a->sets, b->sets);
    return both;
}

int pleat_cpu_set_get(pid_t tid, struct pleat_cpu_set *set)
{
    memset(set, 0, sizeof(*set));
    return sched_getaffinity(tid, sizeof(set->sets), set->sets) ? errno : 0;
}

int pleat_cpu_set_tell(pid_t tid, const struct pleat_cpu_set *set)
{
    return sched_setaffinity(tid, sizeof(set->sets), set->sets) ? errno : 0;
}
