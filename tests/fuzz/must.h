/* must.h - what a fuzz function promises of whatever it is given: ends the process where it is not
 * so, also in builds without assertions. */
#ifndef PLEAT_TESTS_FUZZ_MUST_H
#define PLEAT_TESTS_FUZZ_MUST_H

#include <stdio.h>
#include <stdlib.h>

#define must(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
