#include "fold/real.h"

#include <dlfcn.h>
#include <stddef.h>

static const char *const names[FOLD_CALLS] = {
#define CALL(name, ...) [FOLD_##name] = "PMPI_" #name,
#define OWN(name, ...) [FOLD_##name] = "PMPI_" #name,
#include "fold/calls.def"
#undef CALL
#undef OWN
};

void *_Atomic fold_reals[FOLD_CALLS][2];
struct fold_mpi fold_mpi;

/* Looks into one library: an MPI that was loaded for one module only (as Python does) is not among
 * the libraries searched after this one. */
static void *find_in(const char *library, const char *name)
{
    void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle)
        return NULL;
    void *found = dlsym(handle, name);
    (void)dlclose(handle); /* the program still has it loaded */
    return found;
}

static void *find_from(void *begin, const char *name)
{
    static const char *const libraries[] = {"libmpi.so.40", "libmpich.so.12", "libmpi.so.12",
                                            "libucp.so.0", "libopen-pal.so.40"};
    void *found = dlsym(begin, name);
    for (size_t i = 0; !found && i < sizeof(libraries) / sizeof(libraries[0]); i++)
        found = find_in(libraries[i], name);
    return found;
}

void *fold_real_symbol(const char *name)
{
    return find_from(RTLD_NEXT, name);
}

void *fold_real_object(const char *name)
{
    return find_from(RTLD_DEFAULT, name);
}

void *fold_real_find(enum fold_call call, bool profiling)
{
    void *found = fold_real_symbol(names[call] + (profiling ? 0 : 1));
    atomic_store_explicit(&fold_reals[call][profiling], found, memory_order_relaxed);
    return found;
}
