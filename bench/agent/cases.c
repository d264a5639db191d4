#include "agent/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct {
    const char *name;
    size_t bytes;
    int count;
    bool stream; /* all in a row, and an answer to the last; else one there, one back */
} cases[] = {{"latency_8", 8, 4000, false},
             {"latency_65536", 65536, 1000, false},
             {"bandwidth_1024", 1024, 40000, true},
             {"bandwidth_1048576", 1048576, 200, true}};

enum { LARGEST = 1048576, WARM = 100 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void there_and_back(const struct wire *wire, bool first, char *bytes, size_t size, int count)
{
    for (int i = 0; i < count; i++) {
        if (first) {
            wire->send(bytes, size);
            wire->receive(bytes, size);
        } else {
            wire->receive(bytes, size);
            wire->send(bytes, size);
        }
    }
}

static void in_a_row(const struct wire *wire, bool first, char *bytes, size_t size, int count)
{
    for (int i = 0; i < count; i++) {
        if (first)
            wire->send(bytes, size);
        else
            wire->receive(bytes, size);
    }
    if (first)
        wire->receive(bytes, 1);
    else
        wire->send(bytes, 1);
}

void cases_run(const struct wire *wire, bool first, int percent)
{
    char *bytes = calloc(1, LARGEST);
    if (!bytes)
        exit(1);
    there_and_back(wire, first, bytes, 8, WARM);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        int count = cases[i].count * percent / 100 + 1;
        double begin = now();
        (cases[i].stream ? in_a_row : there_and_back)(wire, first, bytes, cases[i].bytes, count);
        double took = now() - begin;
        if (first)
            printf("%s %.4f\n", cases[i].name,
                   cases[i].stream ? (double)cases[i].bytes * count / took * 1e-6
                                   : took / count / 2 * 1e6);
    }
    fflush(stdout);
    free(bytes);
}
