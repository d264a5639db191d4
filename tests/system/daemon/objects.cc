// objects FILE - include/pleat.hpp and pleat-data.hpp in use: a session as an object, data of each
// kind, functions of the program that are called, exceptions. Until there is a file FILE.
#include <cstdio>
#include <cstdlib>
#include <pleat.hpp>
#include <unistd.h>

namespace
{

const int64_t ROWS = 23, WIDE = 17, HIGH = 11;
const long ELEMENTS = 101;

struct Pair {
    long number, steps;
};

void require(bool condition, const char *what)
{
    if (!condition)
        throw std::runtime_error(what);
}

// What this throws is a pleat::error with that code.
template <class Call> void fails(int code, Call call)
{
    try {
        call();
    } catch (const pleat::error &error) {
        require(error.code() == code && *error.what(), "another error");
        return;
    }
    throw std::runtime_error("no error");
}

struct Stop {
};

// What this throws is the program's own.
template <class Call> void stops(Call call)
{
    try {
        call();
    } catch (const Stop &) {
        return;
    }
    throw std::runtime_error("an exception of a function that was called is lost");
}

struct Program {
    pleat::session session;
    long step = 0, before = 0;
    int after = 0;
    bool throws = false; // in on_grid
    std::vector<Pair> pairs;
    std::vector<double> field;
    pleat::items<Pair> pair_items{
        pairs, [](const Pair &pair, int size) { return int(pair.number % size); }};
    pleat::rows<double> field_rows{field, 2};
    pleat::row_array<long> numbers;
    pleat::array<float> plane;
    pleat::array<long> matrix, same;
    pleat::particles<Pair> particles;
    pleat::csr<int, double> sparse;
    int point;

    Program()
        : numbers(session, "numbers", ROWS, 3, 1),
          plane((names_grids(), session), "plane",
                {pleat::block(WIDE, 1, 1), pleat::block(HIGH, 0, 0, true)}),
          matrix(session, "matrix", pleat::shape_of({{1, 0, WIDE, HIGH, 3, 2, 0, 0, WIDE}}, 8)),
          same(session, "same", {pleat::cyclic(WIDE), pleat::cyclic(HIGH, 4)}, true, &matrix),
          particles(session, "particles",
                    [](const Pair &pair, int size) { return int(pair.number % size); }),
          sparse(session, "sparse", ROWS), point(session.point("loop"))
    {
        session.value("step", step);
        session.value("before", before);
        session.add("pairs", pair_items);
        session.add("field", field_rows, ROWS);
        acts();
        session.limits_if([](int ranks) { return ranks != 4; });
        session.limits(1, 5);
        session.limit(0);
        session.announce();
    }

    // Before the first array that has a grid of its own.
    void names_grids()
    {
        session.on_grid([this](const std::string &name, int size, std::vector<int> proposed) {
            if (throws)
                throw Stop();
            return name == "plane" ? std::vector<int>{size, 1} : proposed;
        });
    }

    void acts()
    {
        session.action("second", [this](pleat_moment moment, const pleat_offer &change) {
            if (moment == PLEAT_BEFORE)
                before++; // moves along
            after += moment == PLEAT_AFTER;
            return change.to >= 1;
        });
        session.action("never", [](pleat_moment, const pleat_offer &) { return false; });
        session.on_plan([](pleat_moment, const pleat_offer &, std::vector<int> actions) {
            actions.pop_back();
            return actions;
        });
        session.on_offer([](int, int offered, bool) { return offered; });
    }

    void refuses()
    {
        fails(PLEAT_E_EXISTS, [this] { session.value("step", after); });
        fails(PLEAT_E_INVALID, [this] { session.limits(3, 2); });
        fails(PLEAT_E_EXISTS, [this] { session.action("second", nullptr); });
        fails(PLEAT_E_INVALID, [this] { session.point(""); });
        fails(PLEAT_E_STATE, [this] { session.ask(1); });
        fails(PLEAT_E_STATE, [] { pleat::session second; });
        fails(PLEAT_E_STATE, [this] { plane.comm(); });
        fails(PLEAT_E_INVALID, [this] { pleat::row_array<long> none(session, "none", 0); });
        fails(PLEAT_E_INVALID, [this] {
            pleat::array<int> none(session, "none", pleat::shape_of({{1, 0, 4, 4, 2, 2, 0, 0, 4}}, 8));
        });
        fails(PLEAT_E_UNSUPPORTED, [] { pleat::shape_of({{1, 0, 4, 4, 2, 2, 1, 0, 4}}, 8); });
        stops([this] { session.limits_if([](int) -> bool { throw Stop(); }); });
        session.limits(1, 5);
        throws = true;
        stops([this] { plane.grid(2); });
        throws = false;
        require(plane.grid(5) == std::vector<int>({5, 1}), "a grid");
        require(pleat::element_bytes(MPI_DOUBLE) == sizeof(double), "bytes of an element");
    }

    void fill()
    {
        const int rank = session.rank(), size = session.size();
        for (int64_t i = 0; i < numbers.count(); i++)
            for (int j = 0; j < 3; j++)
                numbers.row(i)[j] = long(numbers.first() + i);
        each([](long number, float &a, long &b, long &c) {
            a = float(number);
            b = c = number;
        });
        for (long i = rank; i < ELEMENTS; i += size)
            pairs.push_back({i, 0});
        particles.resize(int64_t(pairs.size()));
        std::copy(pairs.begin(), pairs.end(), particles.begin());
        int64_t first, count;
        pleat_owned_block(ROWS, size, rank, &first, &count);
        for (int64_t i = 2 * first; i < 2 * (first + count); i++)
            field.push_back(double(i / 2));
        std::vector<int64_t> lengths;
        for (int64_t i = 0; i < sparse.count(); i++)
            lengths.push_back((sparse.first() + i) % 3);
        sparse.set_lengths(lengths);
        for (int64_t i = 0; i < sparse.count(); i++)
            for (int64_t k = sparse.start()[i]; k < sparse.start()[i + 1]; k++) {
                sparse.field<0>()[k] = int(k - sparse.start()[i]);
                sparse.field<1>()[k] = double(sparse.first() + i);
            }
        fails(PLEAT_E_INVALID, [this] { sparse.set_lengths({}); });
    }

    // Calls it with each local element of an array, which has that number in the whole array.
    template <class T, class Call>
    void elements(const pleat::array<T> &array, int low, bool column_major, Call call)
    {
        for (int64_t i = 0; i < array.count(0); i++)
            for (int64_t j = 0; j < array.count(1); j++)
                call(long(array.global(0, i) * HIGH + array.global(1, j)),
                     array.data()[column_major ? i + j * array.extent(0)
                                               : (i + low) * array.extent(1) + j]);
    }
    template <class Call> void each(Call call)
    {
        float f = 0;
        long l = 0, m = 0;
        elements(plane, 1, false, [&](long number, float &e) { call(number, e, l, m); });
        elements(matrix, 0, true, [&](long number, long &e) { call(number, f, e, m); });
        elements(same, 0, true, [&](long number, long &e) { call(number, f, l, e); });
    }

    void compute()
    {
        for (long &number : numbers)
            number++;
        elements(plane, 1, false, [](long, float &e) { e++; });
        elements(matrix, 0, true, [](long, long &e) { e++; });
        elements(same, 0, true, [](long, long &e) { e++; });
        for (Pair &pair : pairs)
            pair.steps++;
        for (Pair &particle : particles)
            particle.steps++;
        for (double &number : field)
            number++;
        for (int64_t k = 0; k < sparse.start()[sparse.count()]; k++)
            sparse.field<1>()[k]++;
        step++;
    }

    void verify()
    {
        const int rank = session.rank(), size = session.size();
        for (int64_t i = 0; i < 3 * numbers.count(); i++)
            require(numbers.data()[i] == numbers.first() + i / 3 + step, "rows");
        elements(plane, 1, false, [this](long n, float &e) { require(e == float(n + step), "plane"); });
        elements(matrix, 0, true, [this](long n, long &e) { require(e == n + step, "matrix"); });
        elements(same, 0, true, [this](long n, long &e) { require(e == n + step, "same"); });
        require(plane.processes(0) == size && plane.coordinate(0) == rank, "a grid");
        require(matrix.processes(0) == same.processes(0), "the same grid");
        long mine[2] = {long(pairs.size()), long(particles.count())}, all[2];
        for (const Pair &pair : pairs)
            require(pair.number % size == rank && pair.steps == step, "items");
        for (const Pair &pair : particles)
            require(pair.number % size == rank && pair.steps == step, "particles");
        int64_t first, count;
        pleat_owned_block(ROWS, size, rank, &first, &count);
        require(field.size() == size_t(2 * count), "rows of its own");
        for (size_t i = 0; i < field.size(); i++)
            require(field[i] == double(first + int64_t(i / 2) + step), "rows of its own");
        for (int64_t i = 0; i < sparse.count(); i++)
            for (int64_t k = sparse.start()[i]; k < sparse.start()[i + 1]; k++)
                require(sparse.field<0>()[k] == k - sparse.start()[i] &&
                            sparse.field<1>()[k] == double(sparse.first() + i + step),
                        "a sparse matrix");
        MPI_Allreduce(mine, all, 2, MPI_LONG, MPI_SUM, session.comm());
        require(all[0] == ELEMENTS && all[1] == ELEMENTS, "how many there are");
        MPI_Comm comm = plane.comm();
        int dims = 0;
        require(comm == MPI_COMM_NULL || (MPI_Cartdim_get(comm, &dims) == 0 && dims == 2), "comm");
        require(matrix.coordinate(0) < 0 || matrix.descriptor(0)[4] == 3, "a descriptor");
    }

    void run(const char *until)
    {
        refuses();
        const int begun = session.begin();
        if (begun == PLEAT_STARTED)
            fill();
        if (begun == PLEAT_JOINED)
            require(after == 1 && session.last_point() == point && session.change(), "an action");
        while (!session.leaving()) {
            verify();
            int over = session.rank() == 0 && access(until, F_OK) == 0;
            MPI_Bcast(&over, 1, MPI_INT, 0, session.comm());
            if (over)
                break;
            compute();
            usleep(2000);
            MPI_Barrier(session.comm());
            if (step % 10 == 0) { // before the point at which others join: they pass as many as these
                pleat::section section(session);
                require(session.adapt() == PLEAT_SAME, "a change in a section");
            }
            const bool pending = session.pending();
            require(session.adapt(point) == PLEAT_SAME || pending, "a change that was not announced");
        }
        if (!session.leaving() && session.rank() == 0) {
            std::string why;
            session.ask(0);
            require(session.asked(&why) == PLEAT_ASKED_NOTHING && why.empty(), "asked");
            session.expect(-1, 10);
            session.computes_on({1, session.size()});
            std::printf("RESULT ok steps=%ld changes=%ld ranks=%d\n", step, before, session.size());
        }
    }
};

} // namespace

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    try {
        Program program;
        program.run(argv[argc - 1]);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "objects: %s\n", error.what());
        return MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
