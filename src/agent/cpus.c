#include "agent/cpus.h"

#include <hwloc.h>
#include <stdlib.h>
#include <string.h>

void pleat_cpu_set_text(const struct pleat_cpu_set *set, struct pleat_string *text)
{
    enum { WORDS = sizeof(set->sets) / (sizeof(unsigned long)) };
    unsigned long words[WORDS];
    char *list = NULL;
    hwloc_bitmap_t bitmap = hwloc_bitmap_alloc();
    memcpy(words, set->sets, sizeof(words));
    if (bitmap && !hwloc_bitmap_from_ulongs(bitmap, WORDS, words) &&
        hwloc_bitmap_list_asprintf(&list, bitmap) >= 0)
        pleat_string_add(text, list);
    else
        text->failed = true;
    free(list);
    hwloc_bitmap_free(bitmap);
}

int pleat_cpus_named(const char *text, const struct pleat_cpu_set *allowed,
                     struct pleat_cpu_list *cpus, struct pleat_error *err)
{
    size_t before = cpus->count;
    int result = pleat_cpu_list_parse(text, cpus, err);
    for (size_t i = before; !result && i < cpus->count; i++) {
        if (pleat_cpu_set_has(allowed, cpus->items[i]))
            continue;
        struct pleat_string have = {0};
        pleat_cpu_set_text(allowed, &have);
        result = pleat_error_set(err, PLEAT_E_INVALID,
                                 "CPU %u is not there, or may not be used: of this machine's there "
                                 "are %.200s",
                                 cpus->items[i], have.text ? have.text : "none");
        pleat_string_finish(&have);
    }
    if (result)
        cpus->count = before;
    return result;
}

/* The index of a CPU among the allowed hardware threads of its core. */
static uint32_t thread_of(hwloc_obj_t pu, hwloc_obj_t core, const struct pleat_cpu_set *allowed)
{
    uint32_t number = 0;
    int cpu;
    hwloc_bitmap_foreach_begin(cpu, core->cpuset)
    {
        if ((unsigned)cpu == pu->os_index)
            return number;
        number += pleat_cpu_set_has(allowed, (uint32_t)cpu);
    }
    hwloc_bitmap_foreach_end();
    return number;
}

/* Adds each CPU that has the index `number` in its core. Returns how many CPUs have a higher index.
 */
static size_t add_threads(hwloc_topology_t topology, const struct pleat_cpu_set *allowed,
                          uint32_t number, struct pleat_cpu_list *cpus, int *result)
{
    size_t later = 0;
    hwloc_obj_t pu = NULL;
    while ((pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu))) {
        if (!pleat_cpu_set_has(allowed, pu->os_index))
            continue;
        hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu);
        uint32_t thread = core ? thread_of(pu, core, allowed) : 0;
        later += thread > number;
        if (thread == number && pleat_array_push(cpus, pu->os_index))
            *result = PLEAT_E_NOMEM;
    }
    return later;
}

/* As hwloc_topology_init, without hwloc's plugins: they look for graphics cards and the like, and
 * to load their libraries takes longer than all else here. Their place is an environment variable.
 * It is restored afterwards, since programs of jobs get the agent's environment. */
static int init_topology(hwloc_topology_t *topology)
{
    static const char where[] = "HWLOC_PLUGINS_PATH";
    const char *set = getenv(where);
    char *before = set ? strdup(set) : NULL;
    int result = (set && !before) || setenv(where, "/dev/null", 1) ? -1 : 0;
    if (!result)
        result = hwloc_topology_init(topology);
    if (before ? setenv(where, before, 1) : unsetenv(where)) {
        if (!result)
            hwloc_topology_destroy(*topology);
        result = -1;
    }
    free(before);
    return result ? PLEAT_E_NOMEM : 0;
}

/* How the CPUs are arranged: of this machine (text NULL), or as described. *known: the arrangement
 * could be found out; otherwise the topology must not be used. The caller destroys it.
 * PLEAT_E_NOMEM. */
static int open_topology(const char *text, hwloc_topology_t *topology, bool *known)
{
    if (init_topology(topology))
        return PLEAT_E_NOMEM;
    /* the kernel says which threads are of which core; asking each CPU itself takes longer */
    (void)hwloc_topology_set_components(*topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    *known = (!text || hwloc_topology_set_synthetic(*topology, text) == 0) &&
             hwloc_topology_load(*topology) == 0;
    return 0;
}

static int add_by_topology(const char *text, const struct pleat_cpu_set *allowed,
                           struct pleat_cpu_list *cpus)
{
    hwloc_topology_t topology;
    uint32_t number = 0;
    bool known;
    int result = open_topology(text, &topology, &known);
    if (result)
        return result;
    while (known && !result && add_threads(topology, allowed, number, cpus, &result))
        number++;
    hwloc_topology_destroy(topology);
    return result;
}

int pleat_cpus_in_order(const char *topology, const struct pleat_cpu_set *allowed,
                        struct pleat_cpu_list *cpus, struct pleat_error *err)
{
    struct pleat_cpu_set added = {0};
    size_t before = cpus->count;
    int result = add_by_topology(topology, allowed, cpus);
    pleat_cpu_set_add_list(&added, cpus);
    /* an allowed CPU that the topology does not show is added at the end */
    for (uint32_t cpu = 0; !result && cpu < PLEAT_CPUS_MAX; cpu++)
        if (pleat_cpu_set_has(allowed, cpu) && !pleat_cpu_set_has(&added, cpu))
            result = pleat_array_push(cpus, cpu);
    if (!result)
        return 0;
    cpus->count = before;
    return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for the list of CPUs");
}

void pleat_cpus_keep_share(struct pleat_cpu_list *cpus, uint32_t share, uint32_t shares)
{
    size_t first = 0, count = pleat_share_of(cpus->count, share, shares);
    for (uint32_t before = 0; before < share; before++)
        first += pleat_share_of(cpus->count, before, shares);
    if (count > 0)
        memmove(cpus->items, cpus->items + first, count * sizeof(*cpus->items));
    cpus->count = count;
}

/* Adds the CPUs of the set in the order of the machine, threads of a core next to each other. */
static int add_neighbours(const char *text, const struct pleat_cpu_set *set,
                          struct pleat_cpu_list *cpus)
{
    hwloc_topology_t topology;
    hwloc_obj_t pu = NULL;
    bool known;
    int result = open_topology(text, &topology, &known);
    if (result)
        return result;
    while (known && !result && (pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu)))
        if (pleat_cpu_set_has(set, pu->os_index))
            result = pleat_array_push(cpus, pu->os_index);
    hwloc_topology_destroy(topology);
    return result;
}

int pleat_cpus_share(const char *topology, uint32_t share, uint32_t shares,
                     struct pleat_cpu_set *cpus, struct pleat_error *err)
{
    struct pleat_cpu_list order = {0};
    struct pleat_cpu_set added = {0};
    int result = add_neighbours(topology, cpus, &order);
    pleat_cpu_set_add_list(&added, &order);
    for (uint32_t cpu = 0; !result && cpu < PLEAT_CPUS_MAX; cpu++)
        if (pleat_cpu_set_has(cpus, cpu) && !pleat_cpu_set_has(&added, cpu))
            result = pleat_array_push(&order, cpu);
    if (!result) {
        pleat_cpus_keep_share(&order, share, shares);
        memset(cpus, 0, sizeof(*cpus));
        pleat_cpu_set_add_list(cpus, &order);
    }
    pleat_array_finish(&order);
    return result ? pleat_error_set(err, result, "no memory for the list of CPUs") : 0;
}

int pleat_cpus_of_slots(const struct pleat_cpu_list *cpus, uint32_t first, uint32_t count,
                        struct pleat_cpu_list *out, struct pleat_error *err)
{
    if (first > cpus->count || count > cpus->count - first)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "there are no slots %u to %u: this node has %zu CPUs for slots "
                               "(see 'cpus' in the configuration of the site)",
                               first, first + count - 1, cpus->count);
    if (pleat_array_reserve(out, count ? count : 1))
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for a list of CPUs");
    for (uint32_t i = 0; i < count; i++)
        out->items[out->count++] = cpus->items[first + i];
    return 0;
}
