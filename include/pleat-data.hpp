/* pleat-data.hpp - the part of pleat.hpp, which includes it, about data in the library's memory: rows, arrays over process
 * grids, particles, sparse matrices. What a rank has of them, and where, changes at a resize.
 */
#ifndef PLEAT_DATA_HPP
#define PLEAT_DATA_HPP

#include <array>
#include <initializer_list>
#include <tuple>

#include "pleat.hpp"

namespace pleat
{

/* Rows in contiguous blocks, `elements` in each (pleat_rows_create). */
template <class T> class row_array
{
    static_assert(std::is_trivially_copyable<T>::value, "elements are moved as bytes");

public:
    row_array(session &session, const char *name, int64_t rows, size_t elements = 1, int halo = 0)
        : elements_(elements)
    {
        pleat_error err;
        check(pleat_rows_create(session, name, rows, elements * sizeof(T), halo, &handle_, &err),
              err);
    }
    int64_t first() const noexcept { return pleat_rows_first(handle_); }
    int64_t count() const noexcept { return pleat_rows_count(handle_); }
    T *data() const noexcept { return static_cast<T *>(pleat_rows_data(handle_)); }
    /* A local row, or one of the halo: -halo to count() + halo - 1. */
    T *row(int64_t local) const noexcept { return data() + local * int64_t(elements_); }
    T *begin() const noexcept { return data(); }
    T *end() const noexcept { return row(count()); }

private:
    pleat_rows *handle_ = nullptr;
    size_t elements_;
};

/* How a dimension of an array is distributed. */
inline pleat_dimension block(int64_t extent, int halo_low = 0, int halo_high = 0,
                             bool periodic = false)
{
    return {extent, PLEAT_BLOCK, 0, halo_low, halo_high, periodic};
}
inline pleat_dimension cyclic(int64_t extent, int64_t block = 1)
{
    return {extent, PLEAT_BLOCK_CYCLIC, block, 0, 0, 0};
}
inline pleat_dimension collapsed(int64_t extent)
{
    return {extent, PLEAT_COLLAPSED, 0, 0, 0, 0};
}

/* An array over a grid of processes (pleat_array_create). */
template <class T> class array
{
    static_assert(std::is_trivially_copyable<T>::value, "elements are moved as bytes");

public:
    array(session &session, const char *name, std::initializer_list<pleat_dimension> dimensions,
          bool column_major = false, const array<T> *same_grid_as = nullptr)
    {
        pleat_array_shape shape = pleat_array_shape();
        if (dimensions.size() > PLEAT_ARRAY_DIMS)
            throw error(PLEAT_E_INVALID, "an array has at most 4 dimensions");
        std::copy(dimensions.begin(), dimensions.end(), shape.dim);
        shape.dims = int(dimensions.size());
        shape.element_bytes = sizeof(T);
        shape.column_major = column_major;
        shape.same_grid_as = same_grid_as ? same_grid_as->handle_ : nullptr;
        create(session, name, shape);
    }
    array(session &session, const char *name, const pleat_array_shape &shape)
    {
        if (shape.element_bytes != sizeof(T))
            throw error(PLEAT_E_INVALID, "an array's elements have another size than their type");
        create(session, name, shape);
    }

    pleat_array *handle() const noexcept { return handle_; }
    /* The local array with its halos; nullptr: this rank has no element. */
    T *data() const noexcept { return static_cast<T *>(pleat_array_data(handle_)); }
    int64_t count(int d) const noexcept { return pleat_array_count(handle_, d); }
    int64_t extent(int d) const noexcept { return pleat_array_extent(handle_, d); }
    int64_t global(int d, int64_t local) const noexcept
    {
        return pleat_array_global(handle_, d, local);
    }
    int processes(int d) const noexcept { return pleat_array_processes(handle_, d); }
    int coordinate(int d) const noexcept { return pleat_array_coordinate(handle_, d); }
    std::vector<int> grid(int size) const
    {
        pleat_error err;
        std::vector<int> grid(PLEAT_ARRAY_DIMS);
        const int code = pleat_array_grid(handle_, size, grid.data(), &err);
        session_->passed(code, err);
        grid.resize(size_t(dims_));
        return grid;
    }
    MPI_Comm comm() const
    {
        pleat_error err;
        MPI_Comm comm = MPI_COMM_NULL;
        check(pleat_array_comm(handle_, &comm, &err), err);
        return comm;
    }
    int context() const
    {
        pleat_error err;
        int context = -1;
        check(pleat_array_context(handle_, &context, &err), err);
        return context;
    }
    std::array<int, 9> descriptor(int context) const
    {
        pleat_error err;
        std::array<int, 9> descriptor;
        check(pleat_array_descriptor(handle_, context, descriptor.data(), &err), err);
        return descriptor;
    }

private:
    void create(session &session, const char *name, const pleat_array_shape &shape)
    {
        pleat_error err;
        session_ = &session;
        dims_ = shape.dims;
        session.passed(pleat_array_create(session, name, &shape, &handle_, &err), err);
    }

    session *session_ = nullptr;
    pleat_array *handle_ = nullptr;
    int dims_ = 0;
};

/* The shape of an array for the matrix of a descriptor of ScaLAPACK. */
inline pleat_array_shape shape_of(const std::array<int, 9> &descriptor, size_t element_bytes)
{
    pleat_error err;
    pleat_array_shape shape = pleat_array_shape();
    check(pleat_array_shape_of(descriptor.data(), element_bytes, &shape, &err), err);
    return shape;
}

/* The size of an element of an MPI datatype in an array. */
inline size_t element_bytes(MPI_Datatype type)
{
    pleat_error err;
    size_t bytes = 0;
    check(pleat_element_bytes(type, &bytes, &err), err);
    return bytes;
}

/* Elements of one size, of which each rank has any number (pleat_particles_create). */
template <class T> class particles
{
    static_assert(std::is_trivially_copyable<T>::value, "elements are moved as bytes");

public:
    typedef std::function<int(const T &particle, int size)> owner_function;

    particles(session &session, const char *name, owner_function owner = owner_function())
        : session_(&session), owner_(std::move(owner))
    {
        pleat_error err;
        check(pleat_particles_create(session, name, sizeof(T), &handle_, &err), err);
        if (owner_)
            pleat_particles_on_owner(handle_, rank_of, this);
    }
    particles(const particles &) = delete;
    particles &operator=(const particles &) = delete;

    int64_t count() const noexcept { return pleat_particles_count(handle_); }
    T *data() const noexcept { return static_cast<T *>(pleat_particles_data(handle_)); }
    T *begin() const noexcept { return data(); }
    T *end() const noexcept { return data() + count(); }
    T &operator[](int64_t i) const noexcept { return data()[i]; }
    /* The first ones stay, new ones are zero. */
    void resize(int64_t count)
    {
        pleat_error err;
        check(pleat_particles_set_count(handle_, count, &err), err);
    }

private:
    static int rank_of(const void *particle, int size, void *arg)
    {
        particles &self = *static_cast<particles *>(arg);
        return self.session_->guard(
            -1, [&] { return self.owner_(*static_cast<const T *>(particle), size); });
    }

    session *session_;
    pleat_particles *handle_ = nullptr;
    owner_function owner_;
};

/* A sparse matrix in compressed rows (pleat_csr_create), whose entries have these fields. */
template <class... Fields> class csr
{
public:
    csr(session &session, const char *name, int64_t rows)
    {
        const size_t bytes[] = {sizeof(Fields)...};
        pleat_error err;
        check(pleat_csr_create(session, name, rows, bytes, int(sizeof...(Fields)), &handle_, &err),
              err);
    }
    int64_t first() const noexcept { return pleat_csr_first(handle_); }
    int64_t count() const noexcept { return pleat_csr_count(handle_); }
    /* Where the entries of each local row begin: count() + 1 numbers. */
    const int64_t *start() const noexcept { return pleat_csr_start(handle_); }
    template <int Field>
    typename std::tuple_element<Field, std::tuple<Fields...>>::type *field() const noexcept
    {
        typedef typename std::tuple_element<Field, std::tuple<Fields...>>::type type;
        return static_cast<type *>(pleat_csr_field(handle_, Field));
    }
    /* Gives the local rows their numbers of entries, which are zero then. */
    void set_lengths(const std::vector<int64_t> &lengths)
    {
        pleat_error err;
        if (int64_t(lengths.size()) != count())
            throw error(PLEAT_E_INVALID, "a sparse matrix has as many lengths as local rows");
        check(pleat_csr_set_lengths(handle_, lengths.data(), &err), err);
    }

private:
    pleat_csr *handle_ = nullptr;
};

} // namespace pleat

#endif
