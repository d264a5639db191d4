/* settings.c - the settings of both chapters, and their numbers. */
#include "experiments/virtual-malleability/virtual.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const vm_mixes[VM_MIXES] = {"w1", "w2", "w3", "w4", "w5", "w6"};
const char *const vm_families[VM_FAMILIES] = {"high", "low"};
const double vm_loads[VM_LOADS] = {0.4, 0.6, 0.8, 1.0};

const struct vm_unsaid vm_chapter5 = {.overhead = 0.1, .long_minimum = 1, .duration_s = 600};
const struct vm_unsaid vm_chapter6 = {.overhead = 0.1, .long_minimum = 8, .duration_s = 900};

static bool is_same(const struct vm_setting *a, const struct vm_setting *b)
{
    return !strcmp(a->mix, b->mix) && fabs(a->load - b->load) < 1e-9 && a->policy == b->policy &&
           fabs(a->unsaid.overhead - b->unsaid.overhead) < 1e-9 &&
           a->unsaid.long_minimum == b->unsaid.long_minimum &&
           fabs(a->unsaid.duration_s - b->unsaid.duration_s) < 1e-9 &&
           fabs(a->unsaid.resize_s - b->unsaid.resize_s) < 1e-9 &&
           a->unsaid.global_queue == b->unsaid.global_queue;
}

size_t vm_find(const struct vm_results *results, struct vm_setting setting)
{
    size_t i = 0;
    while (i < results->count && !is_same(&results->settings[i], &setting))
        i++;
    return i;
}

int vm_add(struct vm_results *results, struct vm_setting setting)
{
    if (vm_find(results, setting) < results->count)
        return 0;
    if (results->count == results->room) {
        size_t room = results->room ? 2 * results->room : 256;
        struct vm_setting *settings = realloc(results->settings, room * sizeof(*settings));
        if (!settings)
            return PLEAT_E_NOMEM;
        results->settings = settings;
        results->room = room;
    }
    results->settings[results->count++] = setting;
    return 0;
}

struct pleat_estimate vm_gain(const struct vm_results *results, struct vm_setting a,
                              struct vm_setting b, size_t metric)
{
    size_t of_a = vm_find(results, a), of_b = vm_find(results, b);
    double mean = pleat_numbers_estimate(&results->numbers, of_b, metric).mean;
    struct pleat_estimate gain = pleat_numbers_difference(&results->numbers, of_b, of_a, metric);
    gain.mean /= mean;
    gain.half /= mean;
    return gain;
}
