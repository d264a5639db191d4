/* nbody.h - the particles of nbody, and how they get to their ranks. */
#ifndef PLEAT_APPS_NBODY_H
#define PLEAT_APPS_NBODY_H

#include <stddef.h>

#include "common.h"
#include "tree.h"

struct particle {
    long long id;
    double x[3], v[3], mass;
    long long work; /* in the last step */
};

/* What all ranks know of each particle in a step. */
struct seen {
    long long id, work;
    double x[3], mass;
};

struct totals {
    double energy, momentum[3], momenta; /* momenta: the sum of their sizes */
};

/* What is carried along besides the particles. */
struct progress {
    long long done, moved;       /* moved: changes of rank, but for those of resizes */
    struct totals begun;         /* at the beginning */
    double imbalance, force_off; /* the largest ones so far */
};

struct nbody {
    struct app_options options;
    struct pleat_session *session;
    struct pleat_particles *handle;
    struct progress progress;
    double seconds; /* of the steps of this process */
    struct tree tree;
    struct seen *seen; /* n, in any order */
    double (*x)[3];    /* n, by id */
    double *mass;      /* likewise */
    long long *work;
    int *place; /* of each particle in the tree's order */
};

/* Zeroed memory; ends all ranks if there is none. */
void *nbody_allocate(long long count, size_t bytes);
_Noreturn void nbody_give_up(const char *why);
/* Changes the number of this rank's particles; returns them. */
struct particle *nbody_set_count(struct nbody *nbody, long long count);

/* All ranks get what is to be known of all particles, and make the tree. Gives up unless every
 * particle is there, once. */
void nbody_look(struct nbody *nbody);
/* After nbody_look: each rank gets its part of the tree's order, with as much work as the others'
 * as it was in the step before. */
void nbody_migrate(struct nbody *nbody);

#endif
