/* Particles: items of one size in an array of the library's, as many as the program likes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/items.h"
#include "app/session.h"

struct pleat_particles {
    struct pleat_items items;
    struct pleat_home home; /* one column */
    size_t bytes;           /* of a particle */
    int64_t count;
    int64_t coming_count;
    pleat_particle_owner owner;
    void *owner_arg;
};

static unsigned char *data_of(const struct pleat_particles *particles)
{
    return particles->home.now.column[0].at;
}

static int64_t count_of(void *arg)
{
    return ((struct pleat_particles *)arg)->count;
}

static void pack(int64_t item, void *to, void *arg)
{
    const struct pleat_particles *particles = arg;
    memcpy(to, data_of(particles) + (size_t)item * particles->bytes, particles->bytes);
}

static int open_coming(int64_t count, int64_t bytes, void *arg)
{
    struct pleat_particles *particles = arg;
    const size_t columns[PLEAT_HOME_COLUMNS] = {(size_t)bytes};
    particles->coming_count = count;
    return pleat_home_open(&particles->home, columns) ? 0 : -1;
}

static void unpack(int64_t item, const void *from, int64_t bytes, void *arg)
{
    struct pleat_particles *particles = arg;
    memcpy(particles->home.coming.column[0].at + (size_t)item * particles->bytes, from,
           (size_t)bytes);
}

static void close_coming(int taken, void *arg)
{
    struct pleat_particles *particles = arg;
    pleat_home_close(&particles->home, taken);
    if (taken)
        particles->count = particles->coming_count;
}

static void leave(void *arg)
{
    struct pleat_particles *particles = arg;
    pleat_home_leave(&particles->home);
    if (particles->home.now.place.fd >= 0)
        particles->count = 0;
}

static int adopt(const struct pleat_home_piece *pieces, size_t count, void *arg,
                 struct pleat_error *err)
{
    struct pleat_particles *particles = arg;
    struct pleat_home *home = &particles->home;
    uint64_t all = 0;
    uint64_t done = 0;
    int code = 0;
    for (size_t i = 0; i < count; i++)
        all += (uint64_t)pieces[i].count;
    if (open_coming((int64_t)all, (int64_t)(all * particles->bytes), particles) ||
        !pleat_home_fill(home))
        code = pleat_error_set(err, PLEAT_E_NOMEM, "no memory for %" PRIu64 " items of '%s'", all,
                               home->name);
    for (size_t i = 0; i < count && !code; i++) {
        const uint64_t bytes = (uint64_t)pieces[i].count * particles->bytes;
        struct pleat_home_view view;
        code = pleat_home_view(home, &pieces[i].from, 0,
                               (uint64_t)pieces[i].first * particles->bytes, bytes, &view, err);
        if (!code && bytes)
            memcpy(home->coming.column[0].at + done, view.at, (size_t)bytes);
        done += bytes;
        pleat_home_view_end(home, &view);
    }
    return code;
}

static int needs(const struct pleat_home_piece *pieces, size_t count, int step, void *arg,
                 struct pleat_stretches *list, struct pleat_error *err)
{
    const struct pleat_particles *particles = arg;
    int code = 0;
    (void)err;
    for (size_t i = 0; i < count && !code && step == 0; i++) {
        const uint64_t at = pleat_home_offset(&particles->home, &pieces[i].from, 0) +
                            (uint64_t)pieces[i].first * particles->bytes;
        code = pleat_stretches_add(list, at, at + (uint64_t)pieces[i].count * particles->bytes);
    }
    return code;
}

static const struct pleat_home_ops home_ops = {.adopt = adopt, .needs = needs, .leave = leave};

static int owner_of(int64_t item, int size, void *arg)
{
    const struct pleat_particles *particles = arg;
    return particles->owner(data_of(particles) + (size_t)item * particles->bytes, size,
                            particles->owner_arg);
}

static const struct pleat_items_ops ops = {
    .count = count_of, .pack = pack, .open = open_coming, .unpack = unpack, .close = close_coming};

static void destroy(struct pleat_items *items)
{
    struct pleat_particles *particles = (struct pleat_particles *)(void *)items;
    pleat_home_finish(&particles->home);
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
    int code = pleat_home_init(&particles->home, session, 1, err);
    pleat_items_live(&particles->items, &particles->home, &home_ops);
    if (!code)
        code = pleat_items_add(session, &particles->items, name, &ops, (int64_t)particle_bytes,
                               particles, destroy, err);
    if (code) {
        destroy(&particles->items);
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
    struct pleat_home_column *column = &particles->home.now.column[0];
    const size_t bytes = (size_t)count * particles->bytes;
    if (bytes > column->bytes) {
        const size_t ample = column->bytes + column->bytes / 2;
        if (!pleat_home_resize(&particles->home, 0, bytes < ample ? ample : bytes))
            return pleat_error_set(err, PLEAT_E_NOMEM, "no memory for %lld particles of '%s'",
                                   (long long)count, particles->items.object.name);
    }
    if (count > particles->count)
        memset(column->at + (size_t)particles->count * particles->bytes, 0,
               (size_t)(count - particles->count) * particles->bytes);
    particles->count = count;
    return 0;
}

void *pleat_particles_data(const struct pleat_particles *particles)
{
    return data_of(particles);
}

int64_t pleat_particles_count(const struct pleat_particles *particles)
{
    return particles->count;
}
