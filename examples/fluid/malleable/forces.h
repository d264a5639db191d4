// The Lennard-Jones potential, cut off, with cell lists.
#ifndef FORCES_H
#define FORCES_H

#include "domain.h"

const double CUTOFF = 2.5;

// Sets the forces on the atoms of a domain. Returns their share of the potential energy.
double forces(const Domain &domain, std::vector<Atom> &atoms);

#endif
