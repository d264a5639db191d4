// fluid [SIDE [STEPS]] - SIDE x SIDE atoms in a periodic box, which start on a lattice and move by
// the forces between them (velocity Verlet). Their number, their momentum and their energy are
// conserved.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <pleat.hpp>

#include "domain.h"
#include "forces.h"

namespace
{

const double SPACING = 1.2, STEP = 0.002;

struct Sums {
    double atoms, momentum[2], energy, spread;
};

void make(const Domain &domain, int side, std::vector<Atom> &atoms)
{
    for (long id = 0; id < long(side) * side; id++) {
        Atom a = {id, {(id / side + 0.5) * SPACING, (id % side + 0.5) * SPACING}, {0, 0}, {0, 0}};
        a.v[0] = std::sin(2 * M_PI * (id % side) / side);
        a.v[1] = std::cos(2 * M_PI * (id / side * 3 + 0.5) / side);
        if (domain.owns(a.x))
            atoms.push_back(a);
    }
}

// Returns the potential energy.
double step(const Domain &domain, std::vector<Atom> &atoms)
{
    for (Atom &a : atoms)
        for (int d = 0; d < 2; d++) {
            a.v[d] += STEP / 2 * a.f[d];
            a.x[d] += STEP * a.v[d];
        }
    domain.migrate(atoms);
    double potential = forces(domain, atoms);
    for (Atom &a : atoms)
        for (int d = 0; d < 2; d++)
            a.v[d] += STEP / 2 * a.f[d];
    return potential;
}

Sums sums(const Domain &domain, const std::vector<Atom> &atoms, double potential)
{
    Sums mine = {double(atoms.size()), {0, 0}, potential, 0}, all;
    for (const Atom &a : atoms) {
        for (int d = 0; d < 2; d++) {
            mine.momentum[d] += a.v[d];
            mine.energy += a.v[d] * a.v[d] / 2;
        }
        mine.spread += a.x[0] * std::cos(double(a.id)) + a.x[1] * std::sin(double(a.id));
    }
    MPI_Allreduce(&mine, &all, 5, MPI_DOUBLE, MPI_SUM, domain.comm());
    return all;
}

bool report(const Domain &domain, const Sums &first, const Sums &last)
{
    int rank, size;
    bool right = last.atoms == first.atoms &&
                 std::fabs(last.momentum[0] - first.momentum[0]) < 1e-8 &&
                 std::fabs(last.momentum[1] - first.momentum[1]) < 1e-8 &&
                 std::fabs(last.energy - first.energy) < 1e-3 * std::fabs(first.energy);
    MPI_Comm_rank(domain.comm(), &rank);
    MPI_Comm_size(domain.comm(), &size);
    if (rank == 0)
        std::printf("%s: %.0f atoms, energy %.6f, spread %.6f on %d ranks\n",
                    right ? "right" : "WRONG", last.atoms, last.energy, last.spread, size);
    return right;
}

int fits(int processes, void *edge)
{
    return Domain::fits(processes, *static_cast<double *>(edge), CUTOFF);
}

int fail(const pleat_error &err)
{
    std::fprintf(stderr, "fluid: %s\n", err.text);
    return MPI_Abort(MPI_COMM_WORLD, 1);
}

} // namespace

int main(int argc, char **argv)
{
    int side = argc > 1 ? std::atoi(argv[1]) : 64;
    long steps = argc > 2 ? std::atol(argv[2]) : 1000, k = 0;
    double edge = side * SPACING, potential = 0;
    std::vector<Atom> atoms;
    Sums first = Sums();
    bool right = true;
    pleat_session *session;
    pleat_error err;
    pleat::items<Atom> items(
        atoms, [edge](const Atom &a, int size) { return Domain::owner(a.x, size, edge); });

    MPI_Init(&argc, &argv);
    if (pleat_session_create(&session, &err) ||
        pleat_value_register(session, "k", &k, sizeof(k), &err) ||
        pleat_value_register(session, "first", &first, sizeof(first), &err) ||
        items.register_with(session, "atoms", &err) ||
        pleat_session_limits_if(session, fits, &edge, &err))
        return fail(err);
    int what = pleat_session_begin(session, &err);
    if (what < 0)
        return fail(err);
    std::unique_ptr<Domain> domain;
    if (what != PLEAT_LEAVE)
        domain.reset(new Domain(pleat_session_comm(session), edge, CUTOFF));
    if (what == PLEAT_STARTED) {
        make(*domain, side, atoms);
        potential = forces(*domain, atoms);
        first = sums(*domain, atoms, potential);
    }
    // the potential energy is not kept: no resize comes between the last step and the report
    while (k < steps && what != PLEAT_LEAVE) {
        potential = step(*domain, atoms);
        if (++k == steps)
            break;
        if ((what = pleat_session_adapt(session, &err)) < 0)
            return fail(err);
        if (what != PLEAT_SAME)
            domain.reset();
        if (what == PLEAT_GREW || what == PLEAT_SHRANK)
            domain.reset(new Domain(pleat_session_comm(session), edge, CUTOFF));
    }
    if (what != PLEAT_LEAVE)
        right = report(*domain, first, sums(*domain, atoms, potential));
    domain.reset();
    pleat_session_finish(session);
    MPI_Finalize();
    return right ? 0 : 1;
}
