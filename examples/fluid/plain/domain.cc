#include "domain.h"

#include <algorithm>
#include <cstdio>

Domain::Domain(MPI_Comm world, double edge, double reach) : edge_(edge), reach_(reach)
{
    int size, rank, periods[2] = {1, 1};
    MPI_Comm_size(world, &size);
    dims_[0] = dims_[1] = 0;
    MPI_Dims_create(size, 2, dims_);
    MPI_Cart_create(world, 2, dims_, periods, 0, &comm_);
    MPI_Comm_rank(comm_, &rank);
    MPI_Cart_coords(comm_, rank, 2, place_);
    if (width(0) < reach || width(1) < reach) {
        std::fprintf(stderr, "fluid: the box is too small for %d processes\n", size);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

Domain::~Domain()
{
    MPI_Comm_free(&comm_);
}

bool Domain::owns(const double x[2]) const
{
    for (int d = 0; d < 2; d++)
        if (std::min(int(x[d] / width(d)), dims_[d] - 1) != place_[d])
            return false;
    return true;
}

// Sends atoms to the neighbour in this direction, and returns those that come from the other one.
// What passes an edge of the box comes out at the opposite one.
std::vector<Atom> Domain::shift(const std::vector<Atom> &out, int d, int step) const
{
    int from, to, coming, going = int(out.size() * sizeof(Atom));
    MPI_Cart_shift(comm_, d, step, &from, &to);
    MPI_Sendrecv(&going, 1, MPI_INT, to, 0, &coming, 1, MPI_INT, from, 0, comm_, MPI_STATUS_IGNORE);
    std::vector<Atom> in(coming / sizeof(Atom));
    MPI_Sendrecv(out.data(), going, MPI_BYTE, to, 1, in.data(), coming, MPI_BYTE, from, 1, comm_,
                 MPI_STATUS_IGNORE);
    return in;
}

void Domain::migrate(std::vector<Atom> &atoms) const
{
    for (int d = 0; d < 2; d++)
        for (int step = -1; step <= 1; step += 2) {
            auto leaves = [&](const Atom &a) {
                return step < 0 ? a.x[d] < low(d) : a.x[d] >= low(d) + width(d);
            };
            auto first = std::stable_partition(atoms.begin(), atoms.end(),
                                               [&](const Atom &a) { return !leaves(a); });
            std::vector<Atom> out(first, atoms.end());
            atoms.erase(first, atoms.end());
            for (Atom &a : out) {
                if (a.x[d] < 0)
                    a.x[d] += edge_;
                else if (a.x[d] >= edge_)
                    a.x[d] -= edge_;
            }
            std::vector<Atom> in = shift(out, d, step);
            atoms.insert(atoms.end(), in.begin(), in.end());
        }
}

std::vector<Atom> Domain::ghosts(const std::vector<Atom> &atoms) const
{
    std::vector<Atom> all(atoms);
    for (int d = 0; d < 2; d++) {
        std::vector<Atom> came;
        for (int step = -1; step <= 1; step += 2) {
            std::vector<Atom> out;
            for (Atom a : all) {
                if (step < 0 ? a.x[d] >= low(d) + reach_ : a.x[d] < low(d) + width(d) - reach_)
                    continue;
                if (step < 0 && place_[d] == 0)
                    a.x[d] += edge_;
                if (step > 0 && place_[d] == dims_[d] - 1)
                    a.x[d] -= edge_;
                out.push_back(a);
            }
            std::vector<Atom> in = shift(out, d, step);
            came.insert(came.end(), in.begin(), in.end());
        }
        all.insert(all.end(), came.begin(), came.end());
    }
    return std::vector<Atom>(all.begin() + long(atoms.size()), all.end());
}
