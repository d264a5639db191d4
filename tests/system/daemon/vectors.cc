// vectors - include/pleat.hpp in use: elements with an owner, elements in order, rows, all in
// vectors. Ten steps.
#include <cstdio>
#include <pleat.hpp>

namespace
{

const int64_t ROWS = 23;
const long ELEMENTS = 101;

struct Pair {
    long number;
    char mark;
};

int failed(const pleat_error &err)
{
    std::fprintf(stderr, "vectors: %s\n", err.text);
    return MPI_Abort(MPI_COMM_WORLD, 1);
}

} // namespace

int main(int argc, char **argv)
{
    long step = 0;
    std::vector<Pair> owned;
    std::vector<long> ordered;
    std::vector<double> field;
    pleat::items<Pair> owned_items(
        owned, [](const Pair &pair, int size) { return int(pair.number % size); });
    pleat::items<long> ordered_items(ordered);
    pleat::rows<double> rows(field, 3);
    pleat_session *session;
    pleat_error err;

    MPI_Init(&argc, &argv);
    if (pleat_session_create(&session, &err) ||
        pleat_value_register(session, "step", &step, sizeof(step), &err) ||
        owned_items.register_with(session, "owned", &err) ||
        ordered_items.register_with(session, "ordered", &err))
        return failed(err);
    if (rows.register_with(session, "owned", ROWS, nullptr) != PLEAT_E_EXISTS) // the name is taken
        return failed({0, "a name was taken twice"});
    if (rows.register_with(session, "field", ROWS, &err))
        return failed(err);
    int what = pleat_session_begin(session, &err);
    if (what < 0)
        return failed(err);
    int64_t first, count;
    if (what == PLEAT_STARTED) {
        int rank = pleat_session_rank(session), size = pleat_session_size(session);
        for (long i = rank; i < ELEMENTS; i += size)
            owned.push_back({i, 'x'});
        for (long i = 0; rank == 0 && i < ELEMENTS; i++)
            ordered.push_back(i);
        pleat_owned_block(ROWS, size, rank, &first, &count);
        for (int64_t i = 3 * first; i < 3 * (first + count); i++)
            field.push_back(double(i));
    }
    while (step < 10 && what != PLEAT_LEAVE) {
        for (double &number : field)
            number++;
        step++;
        if ((what = pleat_session_adapt(session, &err)) < 0)
            return failed(err);
    }
    if (what != PLEAT_LEAVE) {
        int rank = pleat_session_rank(session), size = pleat_session_size(session);
        long mine[4] = {0, long(owned.size()), long(ordered.size()), 0}, all[4];
        pleat_owned_block(ROWS, size, rank, &first, &count);
        for (const Pair &pair : owned)
            mine[0] += pair.mark != 'x' || pair.number % size != rank;
        for (size_t i = 1; i < ordered.size(); i++)
            mine[0] += ordered[i] != ordered[i - 1] + 1;
        mine[0] += field.size() != size_t(3 * count);
        for (size_t i = 0; i < field.size(); i++)
            mine[0] += field[i] != double(3 * first) + double(i) + 10;
        for (long number : ordered)
            mine[3] += number;
        MPI_Allreduce(mine, all, 4, MPI_LONG, MPI_SUM, pleat_session_comm(session));
        bool right = !all[0] && all[1] == ELEMENTS && all[2] == ELEMENTS &&
                     all[3] == ELEMENTS * (ELEMENTS - 1) / 2;
        if (rank == 0)
            std::printf("%s: on %d ranks\n", right ? "right" : "WRONG", size);
    }
    pleat_session_finish(session);
    MPI_Finalize();
    return 0;
}
