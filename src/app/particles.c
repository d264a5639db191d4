/* Particles: items of one size in an array of the library's, as many as the program likes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/items.h"
#include "app/session.h"

struct pleat_particles {
    struct pleat_items items;
    size_t bytes; /* of a particle */
    unsigned char *data;
    int64_t count, room; /* particles; room: that fit into data */
    unsigned char *coming;
    int64_t coming_count;
    pleat_particle_owner owner;
    void *owner_arg;
};

static int64_t count_of(void *arg)
{
    return ((struct pleat_particles *)arg)->count;
}

static void pack(int64_t item, void *to, void *arg)
{
    const struct pleat_particles *particles = arg;
    memcpy(to, particles->data + (size_t)item * particles->bytes, particles->bytes);
}

static int open_coming(int64_t count, int64_t bytes, void *arg)
{
    struct pleat_particles *particles = arg;
    particles->coming = malloc(bytes ? (size_t)bytes : 1);
    particles->coming_count = count;
    return particles->coming ? 0 : -1;
}

static void unpack(int64_t item, const void *from, int64_t bytes, void *arg)
{
    struct pleat_particles *particles = arg;
    memcpy(particles->coming + (size_t)item * particles->bytes, from, (size_t)bytes);
}

static void close_coming(int taken, void *arg)
{
    struct pleat_particles *particles = arg;
    free(taken ? particles->data : particles->coming);
    if (taken) {
        particles->data = particles->coming;
        particles->count = particles->room = particles->coming_count;
    }
    particles->coming = NULL;
}

static int owner_of(int64_t item, int size, void *arg)
{
    const struct pleat_particles *particles = arg;
    return particles->owner(particles->data + (size_t)item * particles->bytes, size,
                            particles->owner_arg);
}

static const struct pleat_items_ops ops = {
    .count = count_of, .pack = pack, .open = open_coming, .unpack = unpack, .close = close_coming};

static void destroy(struct pleat_items *items)
{
    struct pleat_particles *particles = (struct pleat_particles *)(void *)items;
    free(particles->data);
    free(particles->coming);
    free(particles);
}

int pleat_particles_create(struct pleat_session *session, const char *name, size_t particle_bytes,
                           struct pleat_particles **handle, struct pleat_error *err)
{
    if (!particle_bytes || particle_bytes > INT32_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID, "'%s': a particle has 1 to %d bytes",
                               name ? name : "", INT32_MAX);
    struct pleat_particles *particles = calloc(1, sizeof(*particles));
    if (!particles)
        return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for '%s'", name ? name : "");
    particles->bytes = particle_bytes;
    snprintf(particles->items.text, sizeof(particles->items.text), "particles of %zu bytes",
             particle_bytes);
    int code = pleat_items_add(session, &particles->items, name, &ops, (int64_t)particle_bytes,
                               particles, destroy, err);
    if (code) {
        free(particles);
        return code;
    }
    *handle = particles;
    return 0;
}

void pleat_particles_on_owner(struct pleat_particles *particles, pleat_particle_owner owner,
                              void *arg)
{
    particles->owner = owner;
    particles->owner_arg = arg;
    particles->items.ops.owner = owner ? owner_of : NULL;
}

int pleat_particles_set_count(struct pleat_particles *particles, int64_t count,
                              struct pleat_error *err)
{
    if (count < 0 || (uint64_t)count > SIZE_MAX / 2 / particles->bytes)
        return pleat_error_set(err, PLEAT_E_INVALID, "'%s': there cannot be %lld particles",
                               particles->items.object.name, (long long)count);
    if (count > particles->room) {
        int64_t room = count < particles->room + particles->room / 2
                           ? particles->room + particles->room / 2
                           : count;
        unsigned char *data = realloc(particles->data, (size_t)room * particles->bytes);
        if (!data)
            return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for %lld particles of '%s'",
                                   (long long)count, particles->items.object.name);
        particles->data = data;
        particles->room = room;
    }
    if (count > particles->count)
        memset(particles->data + (size_t)particles->count * particles->bytes, 0,
               (size_t)(count - particles->count) * particles->bytes);
    particles->count = count;
    return 0;
}

void *pleat_particles_data(const struct pleat_particles *particles)
{
    return particles->data;
}

int64_t pleat_particles_count(const struct pleat_particles *particles)
{
    return particles->count;
}
