// fluid [SIDE [STEPS]] - SIDE x SIDE atoms in a periodic box, which start on a lattice and move by
// the forces between them (velocity Verlet). Their number, their momentum and their energy are
// conserved.
#include <cmath>
#include <cstdio>
#include <cstdlib>

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

} // namespace

int main(int argc, char **argv)
{
    int side = argc > 1 ? std::atoi(argv[1]) : 64;
    long steps = argc > 2 ? std::atol(argv[2]) : 1000;
    std::vector<Atom> atoms;
    bool right;

    MPI_Init(&argc, &argv);
    {
        Domain domain(MPI_COMM_WORLD, side * SPACING, CUTOFF);
        make(domain, side, atoms);
        double potential = forces(domain, atoms);
        const Sums first = sums(domain, atoms, potential);
        for (long k = 0; k < steps; k++)
            potential = step(domain, atoms);
        right = report(domain, first, sums(domain, atoms, potential));
    }
    MPI_Finalize();
    return right ? 0 : 1;
}
