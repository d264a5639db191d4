/* nbody - a cluster of stars under its own gravity, malleable with libpleat: of the class of
 * GADGET 2.
 *
 * Forces come from a tree, of which each rank makes the whole: positions go to all ranks in each
 * step. Each rank computes the forces on its own particles, which follow one another in the tree's
 * order. The ranks' parts of that order are cut anew in each step, so that all have as much to do
 * as they had in the step before; so particles move between ranks, and ranks have different numbers
 * of them. Any number of ranks will do.
 *
 * Checked: no particle is lost or doubled, in any step; momentum and energy stay; forces are those
 * that are summed up one by one, for some particles; all ranks have about the same work. Each force
 * is summed up by one rank in the same order whatever their number, so a run that was resized has
 * the same bits as one that was not.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nbody.h"

#define STEP (1.0 / 128)
#define SAMPLES 64
/* What is allowed. Momentum is relative to the sum of its sizes, and a tree's forces have no equal
 * counterparts: those that are summed up one by one have. */
#define DRIFT_TREE 1e-3
#define DRIFT_DIRECT 1e-12
#define FORCE_TREE 1e-2
#define FORCE_DIRECT 1e-12
#define IMBALANCE 1.1 /* the most work of a rank over the mean, where there is enough of it */
#define ENOUGH 64     /* particles for each rank */

static const char usage[] =
    "usage: mpirun ... nbody [options]\n"
    "Stars under their own gravity; grows and shrinks under Pleat, and checks its result.\n"
    "  --n N            particles (default 1000)\n"
    "  --iterations N   steps (default 100)\n"
    "  --until FILE     steps until there is such a file, however many these are\n"
    "  --work MS        pretend that a step costs MS more of computing, shared by the ranks\n"
    "  --useful N       ranks beyond N take no share of that (default: all do)\n"
    "  --pause MS       sleep for MS milliseconds in every step\n"
    "  --tolerance T    relative change of energy allowed (default 1e-3)\n"
    "  --direct         sum up all forces one by one instead of with a tree\n";

/* ---- the stars at the beginning: a sphere of Plummer's, of mass 1, in equilibrium ---- */

/* A vector of this length, to anywhere. */
static void turn(double length, double a, double b, double to[3])
{
    double z = 1 - 2 * a, angle = 2 * acos(-1.0) * b;
    to[0] = length * sqrt(1 - z * z) * cos(angle);
    to[1] = length * sqrt(1 - z * z) * sin(angle);
    to[2] = length * z;
}

/* As in S. Aarseth, M. Henon, R. Wielen, Astronomy and Astrophysics 37, 1974. */
static struct particle star(long long n, long long id)
{
    struct particle p = {.id = id, .mass = 1 / (double)n, .work = 1};
    unsigned long long seed = (unsigned long long)id;
    double within = 0.001 + 0.98 * app_noise(seed, 0), q, g;
    double scale = 3 * acos(-1.0) / 16;
    double radius = 1 / sqrt(pow(within, -2.0 / 3) - 1);
    unsigned long long next = 1;
    do {
        q = app_noise(seed, next);
        g = 0.1 * app_noise(seed, next + 1);
        next += 2;
    } while (g > q * q * pow(1 - q * q, 3.5));
    turn(scale * radius, app_noise(seed, next), app_noise(seed, next + 1), p.x);
    turn(q * sqrt(2 / scale) / sqrt(sqrt(1 + radius * radius)), app_noise(seed, next + 2),
         app_noise(seed, next + 3), p.v);
    return p;
}

/* As many on each rank; the mean velocity is taken off, so that they stay where they are. */
static void fill(struct nbody *nbody)
{
    long long n = nbody->options.n, rank = pleat_session_rank(nbody->session);
    int ranks = pleat_session_size(nbody->session);
    long long first = n * rank / ranks, last = n * (rank + 1) / ranks;
    double mean[3] = {0};
    for (long long i = 0; i < n; i++)
        for (int d = 0; d < 3; d++)
            mean[d] += star(n, i).v[d] / (double)n;
    struct particle *particles = nbody_set_count(nbody, last - first);
    for (long long i = first; i < last; i++) {
        particles[i - first] = star(n, i);
        for (int d = 0; d < 3; d++)
            particles[i - first].v[d] -= mean[d];
    }
}

/* ---- a step ---- */

static void drift(struct nbody *nbody, double time)
{
    struct particle *particles = pleat_particles_data(nbody->handle);
    for (long long i = 0; i < pleat_particles_count(nbody->handle); i++)
        for (int d = 0; d < 3; d++)
            particles[i].x[d] += time * particles[i].v[d];
}

static void kick(struct nbody *nbody, double time)
{
    double theta = nbody->options.is_further ? 0 : TREE_THETA;
    struct particle *particles = pleat_particles_data(nbody->handle);
    for (long long i = 0; i < pleat_particles_count(nbody->handle); i++) {
        struct particle *p = &particles[i];
        struct tree_pull pull = tree_pull_on(&nbody->tree, (int)p->id, theta);
        for (int d = 0; d < 3; d++)
            p->v[d] += time * pull.acceleration[d];
        p->work = pull.work;
    }
}

/* Remembers the largest work of a rank over the mean. */
static void weigh(struct nbody *nbody)
{
    int ranks = pleat_session_size(nbody->session);
    const struct particle *particles = pleat_particles_data(nbody->handle);
    double mine = 0, most, all;
    for (long long i = 0; i < pleat_particles_count(nbody->handle); i++)
        mine += (double)particles[i].work;
    MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, pleat_session_comm(nbody->session));
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, pleat_session_comm(nbody->session));
    /* the first step has nothing to go by */
    if (nbody->progress.done > 1 && nbody->options.n >= (long long)ENOUGH * ranks)
        nbody->progress.imbalance = fmax(nbody->progress.imbalance, most * ranks / all);
}

static void iterate(struct nbody *nbody)
{
    drift(nbody, STEP / 2);
    nbody_look(nbody);
    nbody_migrate(nbody);
    kick(nbody, STEP);
    drift(nbody, STEP / 2);
    nbody->progress.done++;
    weigh(nbody);
    app_pretend(&nbody->options, pleat_session_size(nbody->session));
}

/* ---- checks ---- */

/* Energy and momentum of all; and remembers how far the tree's forces are off, on average over a
 * sample of particles. */
static struct totals measure(struct nbody *nbody)
{
    double theta = nbody->options.is_further ? 0 : TREE_THETA;
    long long every = nbody->options.n / SAMPLES + 1;
    const struct particle *particles = pleat_particles_data(nbody->handle);
    double mine[7] = {0}, all[7]; /* energy, momentum, momenta, squares: forces, how far off */
    nbody_look(nbody);
    for (long long i = 0; i < pleat_particles_count(nbody->handle); i++) {
        const struct particle *p = &particles[i];
        struct tree_pull pull = tree_pull_on(&nbody->tree, (int)p->id, theta), direct = pull;
        double speed2 = 0;
        if (p->id % every == 0)
            direct = tree_pull_directly(&nbody->tree, (int)p->id);
        for (int d = 0; d < 3; d++) {
            double force = direct.acceleration[d], off = pull.acceleration[d] - force;
            speed2 += p->v[d] * p->v[d];
            mine[1 + d] += p->mass * p->v[d];
            mine[5] += p->id % every == 0 ? force * force : 0;
            mine[6] += off * off;
        }
        mine[0] += p->mass * (speed2 / 2 + pull.potential / 2);
        mine[4] += p->mass * sqrt(speed2);
    }
    MPI_Allreduce(mine, all, 7, MPI_DOUBLE, MPI_SUM, pleat_session_comm(nbody->session));
    double off = all[5] > 0 ? sqrt(all[6] / all[5]) : 0;
    nbody->progress.force_off = fmax(nbody->progress.force_off, isnan(off) ? INFINITY : off);
    return (struct totals){all[0], {all[1], all[2], all[3]}, all[4]};
}

/* How far momentum is from that of the beginning, relative to the sum of its sizes. */
static double momentum_drift(const struct totals *now, const struct totals *begun)
{
    double sum = 0;
    for (int d = 0; d < 3; d++)
        sum += pow(now->momentum[d] - begun->momentum[d], 2);
    return begun->momenta > 0 ? sqrt(sum) / begun->momenta : sqrt(sum);
}

/* A number for where all particles are, and how fast, whichever ranks have them. */
static unsigned long long all_bits(const struct nbody *nbody)
{
    const struct particle *particles = pleat_particles_data(nbody->handle);
    unsigned long long bits = 0;
    for (long long i = 0; i < pleat_particles_count(nbody->handle); i++) {
        bits ^= app_bits(particles[i].x, 3, 6 * particles[i].id);
        bits ^= app_bits(particles[i].v, 3, 6 * particles[i].id + 3);
    }
    return app_bits_of_all(pleat_session_comm(nbody->session), bits);
}

/* The verdict, after the last step; 1: it is wrong. */
static int end(struct nbody *nbody, const struct app_tally *tally)
{
    const struct progress *progress = &nbody->progress;
    int direct = nbody->options.is_further;
    struct totals now = measure(nbody);
    double energy = fabs(now.energy / progress->begun.energy - 1);
    double momentum = momentum_drift(&now, &progress->begun);
    unsigned long long bits = all_bits(nbody);
    int right = energy <= nbody->options.tolerance &&
                momentum <= (direct ? DRIFT_DIRECT : DRIFT_TREE) &&
                progress->force_off <= (direct ? FORCE_DIRECT : FORCE_TREE) &&
                progress->imbalance <= IMBALANCE && app_has_done(&nbody->options, progress->done);
    int wrong = !right || app_tally_skipped(tally, progress->done);
    if (pleat_session_rank(nbody->session) == 0)
        printf("RESULT %s steps=%lld ranks=%d energy=%.2e momentum=%.2e force=%.2e imbalance=%.2f "
               "moved=%lld seconds=%.4f bits=%016llx\n",
               wrong ? "wrong" : "ok", progress->done, pleat_session_size(nbody->session), energy,
               momentum, progress->force_off, progress->imbalance, progress->moved, nbody->seconds,
               bits);
    return wrong;
}

/* ---- */

static void set_up(struct nbody *nbody)
{
    struct pleat_error err;
    long long n = nbody->options.n;
    nbody->seen = nbody_allocate(n, sizeof(*nbody->seen));
    nbody->x = nbody_allocate(n, sizeof(*nbody->x));
    nbody->mass = nbody_allocate(n, sizeof(*nbody->mass));
    nbody->work = nbody_allocate(n, sizeof(*nbody->work));
    nbody->place = nbody_allocate(n, sizeof(*nbody->place));
    if (!tree_open(&nbody->tree, (int)n))
        nbody_give_up("there is no memory for the tree");
    if (pleat_session_create(&nbody->session, &err) ||
        pleat_value_register(nbody->session, "progress", &nbody->progress, sizeof(nbody->progress),
                             &err) ||
        pleat_particles_create(nbody->session, "particles", sizeof(struct particle), &nbody->handle,
                               &err))
        app_give_up("cannot set up", &err);
}

static void tear_down(struct nbody *nbody)
{
    tree_close(&nbody->tree);
    free(nbody->seen);
    free(nbody->x);
    free(nbody->mass);
    free(nbody->work);
    free(nbody->place);
}

/* The steps that are left; what the last adaptation point returned. */
static int run(struct nbody *nbody, struct app_tally *tally, int what)
{
    struct pleat_error err;
    struct progress *progress = &nbody->progress;
    double begun = MPI_Wtime();
    while (what != PLEAT_LEAVE && app_goes_on(nbody->session, &nbody->options, progress->done)) {
        iterate(nbody);
        app_tally_add(tally);
        if (app_reports(nbody->session, &nbody->options, progress->done))
            printf("%lld of %lld steps, %d ranks\n", progress->done, nbody->options.iterations,
                   pleat_session_size(nbody->session));
        what = pleat_session_adapt(nbody->session, &err);
        if (what < 0)
            app_give_up("adaptation point", &err);
    }
    nbody->seconds = MPI_Wtime() - begun;
    return what;
}

int main(int argc, char **argv)
{
    struct nbody nbody = {.options = {.n = 1000,
                                      .iterations = 100,
                                      .tolerance = 1e-3,
                                      .n_most = 1 << 20,
                                      .further = "direct"}};
    struct app_tally tally;
    int wrong = 0;

    app_read_options(argc, argv, usage, &nbody.options);
    MPI_Init(&argc, &argv);
    set_up(&nbody);
    int what = app_begin(nbody.session);
    if (what == PLEAT_STARTED) {
        fill(&nbody);
        nbody.progress.begun = measure(&nbody);
    }
    app_tally_open(&tally, nbody.session, what);
    what = run(&nbody, &tally, what);
    if (what != PLEAT_LEAVE)
        wrong = end(&nbody, &tally);
    pleat_session_finish(nbody.session);
    tear_down(&nbody);
    MPI_Finalize();
    return wrong;
}
