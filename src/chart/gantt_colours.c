#include "chart/gantt_colours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The group of this name, made where there is none yet. PLEAT_GANTT_COLOURS: there is no room for
 * another one. */
static size_t group_named(struct pleat_gantt_colours *colours, const char *name)
{
    size_t length = strnlen(name, sizeof(colours->groups[0].name) - 1);
    for (size_t i = 0; i < colours->count; i++)
        if (strlen(colours->groups[i].name) == length &&
            !strncmp(colours->groups[i].name, name, length))
            return i;
    if (colours->count == PLEAT_GANTT_COLOURS)
        return PLEAT_GANTT_COLOURS;
    memcpy(colours->groups[colours->count].name, name, length);
    return colours->count++;
}

static bool group_by_name(struct pleat_gantt_colours *colours, const struct pleat_gantt *gantt)
{
    colours->by = "Colour: the job's name";
    for (size_t i = 0; i < gantt->jobs.count; i++) {
        size_t group = group_named(colours, gantt->jobs.items[i].name);
        if (group == PLEAT_GANTT_COLOURS)
            return false;
        colours->of_job[i] = group;
        colours->groups[group].jobs++;
    }
    return colours->count > 1;
}

/* Finds how many processors each job had at its start. */
static void count_first(const struct pleat_gantt *gantt, double *begins_s, int64_t *sizes)
{
    for (size_t i = 0; i < gantt->jobs.count; i++)
        begins_s[i] = (double)INFINITY;
    for (size_t i = 0; i < gantt->intervals.count; i++) {
        const struct pleat_gantt_interval *interval = &gantt->intervals.items[i];
        begins_s[interval->job] = fmin(begins_s[interval->job], interval->from_s);
    }
    for (size_t i = 0; i < gantt->intervals.count; i++) {
        const struct pleat_gantt_interval *interval = &gantt->intervals.items[i];
        if (interval->from_s <= begins_s[interval->job])
            sizes[interval->job] += interval->count;
    }
}

/* The group of a size: 1, 2, 3 to 4, 5 to 8, ...; the last group has all larger sizes. */
static size_t group_of_size(int64_t size)
{
    size_t group = 0;
    for (int64_t most = 1; most < size && group + 1 < PLEAT_GANTT_COLOURS; most *= 2)
        group++;
    return group;
}

static void name_size(size_t group, struct pleat_gantt_group *about)
{
    long long most = 1LL << group, least = group ? most / 2 + 1 : 1;
    if (group + 1 == PLEAT_GANTT_COLOURS)
        snprintf(about->name, sizeof(about->name), "%lld or more", least);
    else if (least == most)
        snprintf(about->name, sizeof(about->name), "%lld", most);
    else
        snprintf(about->name, sizeof(about->name), "%lld to %lld", least, most);
}

static int group_by_size(struct pleat_gantt_colours *colours, const struct pleat_gantt *gantt)
{
    size_t count = gantt->jobs.count;
    double *begins_s = calloc(count + 1, sizeof(*begins_s));
    int64_t *sizes = calloc(count + 1, sizeof(*sizes));
    int rc = begins_s && sizes ? 0 : PLEAT_E_NOMEM;
    memset(colours->groups, 0, sizeof(colours->groups));
    colours->by = "Colour: processors at the start";
    colours->count = PLEAT_GANTT_COLOURS;
    for (size_t g = 0; g < PLEAT_GANTT_COLOURS; g++)
        name_size(g, &colours->groups[g]);
    if (!rc)
        count_first(gantt, begins_s, sizes);
    for (size_t i = 0; !rc && i < count; i++) {
        size_t group = group_of_size(sizes[i]);
        colours->of_job[i] = group;
        colours->groups[group].jobs += sizes[i] > 0;
    }
    free(begins_s);
    free(sizes);
    return rc;
}

int pleat_gantt_colours_init(struct pleat_gantt_colours *colours, const struct pleat_gantt *gantt,
                             size_t shown)
{
    *colours = (struct pleat_gantt_colours){.grouped = shown > PLEAT_GANTT_NAMED_MAX};
    colours->of_job = calloc(gantt->jobs.count + 1, sizeof(*colours->of_job));
    if (!colours->of_job)
        return PLEAT_E_NOMEM;
    if (!colours->grouped) {
        for (size_t i = 0; i < gantt->jobs.count; i++)
            colours->of_job[i] = i % PLEAT_GANTT_COLOURS;
        return 0;
    }
    return group_by_name(colours, gantt) ? 0 : group_by_size(colours, gantt);
}

void pleat_gantt_colours_finish(struct pleat_gantt_colours *colours)
{
    free(colours->of_job);
    *colours = (struct pleat_gantt_colours){0};
}
