#include "forces.h"

namespace
{

// Atoms sorted into square cells that are at least as wide as the potential reaches.
class Cells
{
  public:
    Cells(const Domain &domain, const std::vector<Atom> &atoms)
    {
        for (int d = 0; d < 2; d++) {
            count_[d] = int(domain.width(d) / CUTOFF) + 2;
            width_[d] = domain.width(d) / (count_[d] - 2);
            low_[d] = domain.low(d) - width_[d];
        }
        cells_.resize(count_[0] * count_[1]);
        for (const Atom &a : atoms)
            cells_[at(a.x, 0) * count_[1] + at(a.x, 1)].push_back(&a);
    }

    // Calls f with every atom in the cell of a place and in those around it.
    template <class F> void around(const double x[2], F f) const
    {
        for (int i = at(x, 0) - 1; i <= at(x, 0) + 1; i++)
            for (int j = at(x, 1) - 1; j <= at(x, 1) + 1; j++)
                if (i >= 0 && i < count_[0] && j >= 0 && j < count_[1])
                    for (const Atom *a : cells_[i * count_[1] + j])
                        f(*a);
    }

  private:
    int at(const double x[2], int d) const
    {
        int i = int((x[d] - low_[d]) / width_[d]);
        return i < 0 ? 0 : i < count_[d] ? i : count_[d] - 1;
    }

    int count_[2];
    double low_[2], width_[2];
    std::vector<std::vector<const Atom *>> cells_;
};

} // namespace

double forces(const Domain &domain, std::vector<Atom> &atoms)
{
    std::vector<Atom> all(atoms), ghosts = domain.ghosts(atoms);
    all.insert(all.end(), ghosts.begin(), ghosts.end());
    const Cells cells(domain, all);
    const double c6 = 1 / (CUTOFF * CUTOFF * CUTOFF * CUTOFF * CUTOFF * CUTOFF);
    const double shift = 4 * (c6 * c6 - c6); // so that the potential ends with 0
    double potential = 0;
    for (Atom &a : atoms) {
        a.f[0] = a.f[1] = 0;
        cells.around(a.x, [&](const Atom &b) {
            double r[2] = {a.x[0] - b.x[0], a.x[1] - b.x[1]};
            double square = r[0] * r[0] + r[1] * r[1];
            if (a.id == b.id || square >= CUTOFF * CUTOFF)
                return;
            double s6 = 1 / (square * square * square);
            potential += (4 * (s6 * s6 - s6) - shift) / 2; // the other half is b's
            for (int d = 0; d < 2; d++)
                a.f[d] += 24 * (2 * s6 * s6 - s6) / square * r[d];
        });
    }
    return potential;
}
