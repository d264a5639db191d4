/* must.h - checks a promise that must hold for any input: ends the process if it does not, also in
 * builds without assertions. */
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
