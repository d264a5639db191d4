// The state of an atom.
#ifndef ATOM_H
#define ATOM_H

struct Atom {
    long id;
    double x[2], v[2], f[2]; // place, speed, force
};

#endif
