/* pleat.hpp - libpleat for C++11: objects that end what they began, and errors as exceptions.
 *
 *     pleat::session session;                       // after MPI_Init
 *     long step = 0;
 *     session.value("step", step);
 *     pleat::row_array<double> u(session, "u", rows, columns, 1);
 *     if (session.begin() == PLEAT_STARTED)
 *         ...fill u...
 *     while (!session.leaving() && step < steps) {
 *         ...compute one step on session.comm(), with u.row(0) to u.row(u.count() - 1)...
 *         step++;
 *         session.adapt();
 *     }
 *                                                   // MPI_Finalize when session is gone
 *
 * What fails throws pleat::error. An exception of a function that the library calls does not pass
 * through it: the call of the session that had it called throws it. A session is itself a
 * pleat_session *, so all functions of pleat.h can be used with it.
 *
 * std::vector: vectors of the program's own follow a resize, too.
 *
 *     std::vector<Atom> atoms;
 *     pleat::items<Atom> items(atoms, [](const Atom &atom, int size) { return ...; });
 *     session.add("atoms", items);
 *
 * Elements are copied as bytes. Such an object must live as long as the session, and the vector as
 * long as the object. Between two adaptation points the vector is the program's, as any other. What
 * they cost: pleat_items_register and pleat_owned_register in pleat.h.
 */
#ifndef PLEAT_HPP
#define PLEAT_HPP

#include <algorithm>
#include <cstring>
#include <exception>
#include <functional>
#include <list>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "pleat.h"
#include "pleat-process.hpp" /* also pleat::error */

namespace pleat
{

template <class T> class items;
template <class T> class rows;

/* A session: created by the constructor, finished by the destructor, which is collective as
 * pleat_session_finish is. Where an exception ends it, it is not finished: the other ranks are
 * elsewhere, and would be waited for. Let such an exception end the program (MPI_Abort). */
class session
{
public:
    typedef std::function<int(int current, int offered, bool mandatory)> offer_function;
    /* Returns whether it could be done. */
    typedef std::function<bool(pleat_moment moment, const pleat_offer &change)> action_function;
    /* The numbers of the actions to call, of those that it gets. */
    typedef std::function<std::vector<int>(pleat_moment moment, const pleat_offer &change,
                                           std::vector<int> actions)>
        plan_function;
    /* The process grid of an array, of which it gets what the library proposes. */
    typedef std::function<std::vector<int>(const std::string &name, int size,
                                           std::vector<int> proposed)>
        grid_function;

    session()
    {
        pleat_error err;
        check(pleat_session_create(&session_, &err), err);
    }
    session(const session &) = delete;
    session &operator=(const session &) = delete;
    ~session()
    {
        if (!is_unwinding())
            finish();
    }

    operator pleat_session *() const noexcept { return session_; }

    /* ---- its life ---- */

    int begin()
    {
        pleat_error err;
        return passed(pleat_session_begin(session_, &err), err);
    }
    int adapt()
    {
        pleat_error err;
        return passed(pleat_session_adapt(session_, &err), err);
    }
    int adapt(int point)
    {
        pleat_error err;
        return passed(pleat_point_adapt(session_, point, &err), err);
    }
    /* Whether this rank was told to leave. */
    bool leaving() const noexcept { return leaving_; }
    /* Why it was not let in; empty: it is not needed. */
    const std::string &excuse() const noexcept { return excuse_; }
    /* What the destructor does, earlier. */
    void finish() noexcept
    {
        pleat_session_finish(session_);
        session_ = nullptr;
    }

    /* ---- where this rank is, what happened ---- */

    MPI_Comm comm() const noexcept { return pleat_session_comm(session_); }
    int rank() const noexcept { return pleat_session_rank(session_); }
    int size() const noexcept { return pleat_session_size(session_); }
    bool joined() const noexcept { return pleat_session_joined(session_) != 0; }
    bool resumed() const noexcept { return pleat_session_resumed(session_) != 0; }
    bool malleable() const noexcept { return pleat_session_malleable(session_) != 0; }
    bool pending() const noexcept { return pleat_session_pending(session_) != 0; }
    int last_point() const noexcept { return pleat_session_point(session_); }
    const pleat_error &failure() const noexcept { return *pleat_session_failure(session_); }
    const pleat_offer *change() const noexcept { return pleat_session_offer(session_); }

    /* ---- what it registers, before begin ---- */

    template <class T> void value(const char *name, T &value)
    {
        static_assert(std::is_trivially_copyable<T>::value, "values are copied as bytes");
        pleat_error err;
        check(pleat_value_register(session_, name, &value, sizeof(T), &err), err);
    }
    template <class T> void add(const char *name, items<T> &items)
    {
        pleat_error err;
        items.session_ = this;
        check(items.register_with(session_, name, &err), err);
    }
    template <class T> void add(const char *name, rows<T> &rows, int64_t count)
    {
        pleat_error err;
        check(rows.register_with(session_, name, count, &err), err);
    }
    int point(const char *name, pleat_point_use use = PLEAT_POINT_RESIZE)
    {
        pleat_error err;
        int point = 0;
        check(pleat_point_register(session_, name, use, &point, &err), err);
        return point;
    }
    void announce()
    {
        pleat_error err;
        check(pleat_session_announce(session_, &err), err);
    }
    void action(const char *name, action_function function)
    {
        pleat_error err;
        actions_.push_back({this, std::move(function)});
        const int code = pleat_action_register(session_, name, act, &actions_.back(), &err);
        if (code)
            actions_.pop_back();
        check(code, err);
    }
    void on_plan(plan_function function)
    {
        plan_ = std::move(function);
        pleat_session_on_plan(session_, plan_ ? plan : nullptr, this);
    }
    void on_offer(offer_function function)
    {
        offer_ = std::move(function);
        pleat_session_on_offer(session_, offer_ ? offer : nullptr, this);
    }
    void on_grid(grid_function function)
    {
        grid_ = std::move(function);
        pleat_session_on_grid(session_, grid_ ? grid : nullptr, this);
    }

    /* ---- what it can use, wants, and expects ---- */

    void limit(int most)
    {
        pleat_error err;
        check(pleat_session_limit(session_, most, &err), err);
    }
    void limits(int least, int most, const char *sizes = "any")
    {
        pleat_error err;
        check(pleat_session_limits(session_, least, most, sizes, &err), err);
    }
    void limits_if(std::function<bool(int ranks)> accepts)
    {
        pleat_error err;
        asking asked = {this, std::move(accepts)};
        passed(pleat_session_limits_if(session_, suits, &asked, &err), err);
    }
    void ask(int more, bool mandatory = false)
    {
        pleat_error err;
        check(pleat_session_ask(session_, more, mandatory, &err), err);
    }
    void ask_within(int more, double seconds)
    {
        pleat_error err;
        check(pleat_session_ask_within(session_, more, seconds, &err), err);
    }
    void give_back(int fewer)
    {
        pleat_error err;
        check(pleat_session_give_back(session_, fewer, &err), err);
    }
    pleat_asked asked(std::string *why = nullptr) const
    {
        pleat_error err;
        const int state = pleat_session_asked(session_, &err);
        if (why)
            *why = err.text;
        return static_cast<pleat_asked>(state);
    }
    void expect(double seconds, int64_t iterations = -1, int64_t bytes = -1)
    {
        pleat_error err;
        check(pleat_session_expect(session_, seconds, iterations, bytes, &err), err);
    }
    /* The process grid on which it computes from now on; empty: that of its arrays. */
    void computes_on(const std::vector<int> &processes)
    {
        pleat_error err;
        check(pleat_session_grid(session_, static_cast<int>(processes.size()), processes.data(),
                                 &err),
              err);
    }

    /* For functions that the library calls: runs the program's `call`, keeps what it throws for
     * the next of begin, adapt and the like to throw, and returns `otherwise` then. */
    template <class Result, class Call> Result guard(Result otherwise, Call call) noexcept
    {
        try {
            return call();
        } catch (...) {
            if (!thrown_)
                thrown_ = std::current_exception();
            return otherwise;
        }
    }
    /* Throws what was kept, or what *err says. */
    int passed(int outcome, const pleat_error &err)
    {
        if (outcome == PLEAT_LEAVE) {
            leaving_ = true;
            excuse_ = err.code ? err.text : "";
        }
        if (thrown_) {
            std::exception_ptr thrown;
            std::swap(thrown, thrown_);
            std::rethrow_exception(thrown);
        }
        return check(outcome, err);
    }

private:
    static bool is_unwinding() noexcept
    {
#if defined(__cpp_lib_uncaught_exceptions)
        return std::uncaught_exceptions() > 0;
#else
        return std::uncaught_exception();
#endif
    }

    struct own_action {
        session *owner;
        action_function call;
    };
    struct asking {
        session *owner;
        std::function<bool(int)> accepts;
    };

    static int act(pleat_session *, pleat_moment moment, const pleat_offer *change, void *arg)
    {
        own_action &action = *static_cast<own_action *>(arg);
        return action.owner->guard(1, [&] { return action.call(moment, *change) ? 0 : 1; });
    }
    static int plan(pleat_moment moment, const pleat_offer *change, int *actions, int count,
                    void *arg)
    {
        session &self = *static_cast<session *>(arg);
        return self.guard(-1, [&] {
            const std::vector<int> chosen =
                self.plan_(moment, *change, std::vector<int>(actions, actions + count));
            if (chosen.size() > size_t(count))
                return -1;
            std::copy(chosen.begin(), chosen.end(), actions);
            return int(chosen.size());
        });
    }
    static int offer(int current, int offered, int mandatory, void *arg)
    {
        session &self = *static_cast<session *>(arg);
        return self.guard(current, [&] { return self.offer_(current, offered, mandatory != 0); });
    }
    static void grid(const char *name, int size, int dims, int *grid, void *arg)
    {
        session &self = *static_cast<session *>(arg);
        const bool known = self.guard(false, [&] {
            const std::vector<int> chosen =
                self.grid_(name, size, std::vector<int>(grid, grid + dims));
            if (chosen.size() != size_t(dims))
                return false;
            std::copy(chosen.begin(), chosen.end(), grid);
            return true;
        });
        if (!known)
            grid[0] = -1; /* none: the size is refused */
    }
    static int suits(int ranks, void *arg)
    {
        asking &asked = *static_cast<asking *>(arg);
        return asked.owner->guard(0, [&] { return asked.accepts(ranks) ? 1 : 0; });
    }

    pleat_session *session_ = nullptr;
    bool leaving_ = false;
    std::string excuse_;
    std::exception_ptr thrown_;
    std::list<own_action> actions_; /* the library has their addresses */
    plan_function plan_;
    offer_function offer_;
    grid_function grid_;
};

/* A vector of which each rank has as many elements as it likes (pleat_items_register). */
template <class T> class items
{
    static_assert(std::is_trivially_copyable<T>::value, "elements are copied as bytes");
    static_assert(!std::is_same<T, bool>::value, "std::vector<bool> has no elements in memory");

public:
    /* The rank of an element when there are `size` ranks, each time the same. Without one, elements
     * keep their order, and the ranks get equal numbers. */
    typedef std::function<int(const T &element, int size)> owner_function;

    explicit items(std::vector<T> &vector, owner_function owner = owner_function())
        : now_(vector), owner_(std::move(owner))
    {
    }
    items(const items &) = delete;
    items &operator=(const items &) = delete;

    int register_with(pleat_session *session, const char *name, pleat_error *err)
    {
        pleat_items_ops ops = pleat_items_ops();
        ops.count = [](void *arg) { return int64_t(of(arg).now_.size()); };
        ops.pack = [](int64_t item, void *to, void *arg) {
            std::memcpy(to, &of(arg).now_[size_t(item)], sizeof(T));
        };
        ops.open = [](int64_t count, int64_t, void *arg) {
            try {
                of(arg).coming_.resize(size_t(count));
            } catch (const std::exception &) {
                return 1;
            }
            return 0;
        };
        ops.unpack = [](int64_t item, const void *from, int64_t, void *arg) {
            std::memcpy(static_cast<void *>(&of(arg).coming_[size_t(item)]), from, sizeof(T));
        };
        ops.close = [](int taken, void *arg) {
            if (taken)
                of(arg).now_.swap(of(arg).coming_);
            std::vector<T>().swap(of(arg).coming_);
        };
        if (owner_)
            ops.owner = [](int64_t item, int size, void *arg) { return of(arg).rank_of(item, size); };
        return pleat_items_register(session, name, &ops, int64_t(sizeof(T)), this, err);
    }

private:
    friend class session;

    static items &of(void *arg) { return *static_cast<items *>(arg); }

    int rank_of(int64_t item, int size)
    {
        const auto call = [&] { return owner_(now_[size_t(item)], size); };
        return session_ ? session_->guard(-1, call) : call();
    }

    std::vector<T> &now_;
    std::vector<T> coming_;
    owner_function owner_;
    session *session_ = nullptr; /* which throws what owner_ throws; NULL: it must not throw */
};

/* A vector with this rank's rows, `elements` in each, one row after the other
 * (pleat_owned_register). After a resize it has the new rows. */
template <class T> class rows
{
    static_assert(std::is_trivially_copyable<T>::value, "elements are copied as bytes");
    static_assert(!std::is_same<T, bool>::value, "std::vector<bool> has no elements in memory");

public:
    rows(std::vector<T> &vector, size_t elements) : now_(vector), elements_(elements) {}
    rows(const rows &) = delete;
    rows &operator=(const rows &) = delete;

    /* `count`: of the rows of all ranks. */
    int register_with(pleat_session *session, const char *name, int64_t count, pleat_error *err)
    {
        pleat_owned_ops ops = pleat_owned_ops();
        ops.data = [](void *arg) -> const void * { return of(arg).now_.data(); };
        ops.open = [](int64_t mine, void *arg) -> void * {
            std::vector<T> &coming = of(arg).coming_;
            try {
                coming.reserve(size_t(mine) * of(arg).elements_ + 1); /* NULL would be a refusal */
                coming.resize(size_t(mine) * of(arg).elements_);
            } catch (const std::exception &) {
                return nullptr;
            }
            return coming.data();
        };
        ops.close = [](int taken, void *arg) {
            if (taken)
                of(arg).now_.swap(of(arg).coming_);
            std::vector<T>().swap(of(arg).coming_);
        };
        return pleat_owned_register(session, name, count, elements_ * sizeof(T), &ops, this, err);
    }

private:
    static rows &of(void *arg) { return *static_cast<rows *>(arg); }

    std::vector<T> &now_;
    std::vector<T> coming_;
    size_t elements_;
};

/* "Not now": while such an object lives the program is not resized (pleat_section_begin). It begins
 * between pleat_session_begin and the end of the session; otherwise it does nothing. */
class section
{
public:
    explicit section(pleat_session *session)
        : session_(pleat_section_begin(session, nullptr) == 0 ? session : nullptr)
    {
    }
    section(const section &) = delete;
    section &operator=(const section &) = delete;
    ~section()
    {
        if (session_ && pleat_section_end(session_, nullptr) != 0)
            session_ = nullptr; /* the session is over */
    }

private:
    pleat_session *session_;
};

/* Beside pleat::processes: communicators that grow with added processes (pleat_process_mpi_prepare
 * and so on). `comm` is replaced. */
inline void prepare_mpi(const processes &all)
{
    pleat_error err;
    check(pleat_process_mpi_prepare(all, &err), err);
}
inline void join(processes &all, MPI_Comm &comm, int32_t process, int timeout_ms = -1)
{
    pleat_error err;
    check(pleat_process_mpi_join(all, &comm, process, timeout_ms, &err), err);
}
inline void leave(MPI_Comm &comm, bool leaves)
{
    pleat_error err;
    check(pleat_process_mpi_leave(&comm, leaves ? 1 : 0, &err), err);
}

} // namespace pleat

#include "pleat-data.hpp"

#endif
