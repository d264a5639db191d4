/* mailbox-points.c - the application's named adaptation points. */
#include <string.h>

#include "shm/mailbox-word.h"

#define WORDS (PLEAT_MAILBOX_NAME / 8)

void pleat_mailbox_name_point(struct pleat_mailbox_rank *self, const char *name, bool resizes)
{
    struct pleat_mailbox_segment *segment = self->mailbox->segment;
    uint32_t number = atomic_load(&segment->points);
    uint64_t copy[WORDS] = {0};
    size_t length = strlen(name);
    if (number >= PLEAT_MAILBOX_POINTS)
        return;
    struct pleat_mailbox_place *place = &segment->places[number];
    memcpy(copy, name, length < sizeof(copy) ? length : sizeof(copy) - 1);
    for (size_t i = 0; i < WORDS; i++)
        atomic_store(&place->name[i], copy[i]);
    atomic_store(&place->resizes, resizes);
    atomic_store(&segment->points, number + 1);
}

static uint32_t count_points(const struct pleat_mailbox *mailbox)
{
    uint32_t count = atomic_load(&mailbox->segment->points);
    return count <= PLEAT_MAILBOX_POINTS ? count : PLEAT_MAILBOX_POINTS;
}

uint64_t pleat_mailbox_passages(const struct pleat_mailbox *mailbox)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count_points(mailbox); i++)
        sum += atomic_load(&mailbox->segment->places[i].passed);
    return sum;
}

/* The name comes from the application's memory, so it is checked. */
static void read_name(const struct pleat_mailbox_place *place, char name[PLEAT_MAILBOX_NAME])
{
    uint64_t copy[WORDS];
    for (size_t i = 0; i < WORDS; i++)
        copy[i] = atomic_load(&place->name[i]);
    memcpy(name, copy, sizeof(copy));
    name[sizeof(copy) - 1] = '\0';
    for (char *at = name; *at; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
}

uint32_t pleat_mailbox_points(const struct pleat_mailbox *mailbox,
                              struct pleat_mailbox_point points[PLEAT_MAILBOX_POINTS])
{
    const uint32_t count = count_points(mailbox);
    for (uint32_t i = 0; i < count; i++) {
        const struct pleat_mailbox_place *place = &mailbox->segment->places[i];
        uint64_t here = atomic_load(&place->here);
        read_name(place, points[i].name);
        points[i].resizes = atomic_load(&place->resizes) != 0;
        points[i].passed = atomic_load(&place->passed);
        points[i].mean_ns = here ? atomic_load(&place->ns) / here : 0;
    }
    return count;
}
