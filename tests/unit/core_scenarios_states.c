/* The table of states in docs/architecture.md is the one that the core goes by. */
#include "test.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

static enum pleat_component_state state_named(const char *name, size_t length)
{
    for (int s = 0; s < PLEAT_STATE_COUNT; s++) {
        const char *known = pleat_component_state_name((enum pleat_component_state)s);
        if (strlen(known) == length && !strncmp(known, name, length))
            return (enum pleat_component_state)s;
    }
    fail_msg("docs/architecture.md has a state '%.*s'", (int)length, name);
    return PLEAT_NEW;
}

/* "| from | to, to |" */
static void read_row(const char *row, bool drawn[PLEAT_STATE_COUNT][PLEAT_STATE_COUNT])
{
    const char *name = row + 2, *bar = strstr(name, " | ");
    assert_non_null(bar);
    enum pleat_component_state from = state_named(name, (size_t)(bar - name));
    for (name = bar + 3; *name && *name != '|';) {
        size_t length = strcspn(name, ",|");
        size_t used = length;
        while (used > 0 && name[used - 1] == ' ')
            used--;
        drawn[from][state_named(name, used)] = true;
        name += length;
        name += strspn(name, ", ");
    }
}

static void test_the_table_of_states(void **unused)
{
    (void)unused;
    static bool drawn[PLEAT_STATE_COUNT][PLEAT_STATE_COUNT];
    FILE *file = fopen(SOURCE_DIR "/docs/architecture.md", "r");
    assert_non_null(file);
    char *line = NULL;
    size_t size = 0;
    bool inside = false;
    int rows = 0;
    while (getline(&line, &size, file) > 0) {
        if (!strcmp(line, "| from | to |\n"))
            inside = true;
        else if (inside && line[0] != '|')
            inside = false;
        else if (inside && line[1] == ' ') {
            read_row(line, drawn);
            rows++;
        }
    }
    free(line);
    fclose(file);
    assert_int_equal(rows, PLEAT_DONE); /* every state that is not final has one */
    for (int from = 0; from < PLEAT_STATE_COUNT; from++)
        for (int to = 0; to < PLEAT_STATE_COUNT; to++)
            if (drawn[from][to] != pleat_transition_allowed((enum pleat_component_state)from,
                                                            (enum pleat_component_state)to))
                fail_msg("%s to %s: docs/architecture.md says %s",
                         pleat_component_state_name((enum pleat_component_state)from),
                         pleat_component_state_name((enum pleat_component_state)to),
                         drawn[from][to] ? "yes" : "no");
}

static void test_states_that_are_none(void **unused)
{
    (void)unused;
    assert_false(pleat_transition_allowed(PLEAT_STATE_COUNT, PLEAT_QUEUED));
    assert_false(pleat_transition_allowed(PLEAT_QUEUED, PLEAT_STATE_COUNT));
    assert_false(
        pleat_transition_allowed((enum pleat_component_state)77, (enum pleat_component_state)78));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_table_of_states),
        cmocka_unit_test(test_states_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
