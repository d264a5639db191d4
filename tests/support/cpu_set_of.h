/* cpu_set_of.h - a set of CPUs as it is written, for tests of the agent. After <cmocka.h>. */
#ifndef PLEAT_TESTS_SUPPORT_CPU_SET_OF_H
#define PLEAT_TESTS_SUPPORT_CPU_SET_OF_H

#include "agent/cpus.h"

static inline struct pleat_cpu_set set_of(const char *text)
{
    struct pleat_cpu_list list = {0};
    struct pleat_cpu_set set = {0};
    assert_int_equal(pleat_cpu_list_parse(text, &list, NULL), 0);
    pleat_cpu_set_add_list(&set, &list);
    pleat_array_finish(&list);
    return set;
}

#endif
