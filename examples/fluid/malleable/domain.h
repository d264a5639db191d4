// The part of the box that a process has, and the exchange of atoms with its neighbours.
#ifndef DOMAIN_H
#define DOMAIN_H

#include <mpi.h>
#include <vector>

#include "atom.h"

class Domain
{
  public:
    // A square periodic box with this edge; atoms within `reach` of a domain are its ghosts.
    Domain(MPI_Comm world, double edge, double reach);
    ~Domain();
    Domain(const Domain &) = delete;
    Domain &operator=(const Domain &) = delete;

    // Whether this number of processes can have domains, and to which one a place belongs.
    static bool fits(int processes, double edge, double reach);
    static int owner(const double x[2], int processes, double edge);

    MPI_Comm comm() const
    {
        return comm_;
    }
    double low(int d) const
    {
        return width(d) * place_[d];
    }
    double width(int d) const
    {
        return edge_ / dims_[d];
    }
    double reach() const
    {
        return reach_;
    }

    bool owns(const double x[2]) const;
    // Sends atoms that have left the domain to its neighbours. None may have gone further.
    void migrate(std::vector<Atom> &atoms) const;
    // The atoms around the domain, also those that come from the other side of the box.
    std::vector<Atom> ghosts(const std::vector<Atom> &atoms) const;

  private:
    std::vector<Atom> shift(const std::vector<Atom> &out, int d, int step) const;

    MPI_Comm comm_;
    double edge_, reach_;
    int dims_[2], place_[2];
};

#endif
