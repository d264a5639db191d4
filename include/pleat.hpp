/* pleat.hpp - std::vector with libpleat (C++11): vectors of the program's own that follow a resize.
 *
 *     std::vector<Atom> atoms;
 *     pleat::items<Atom> items(atoms, [](const Atom &atom, int size) { return ...; });
 *     items.register_with(session, "atoms", &err);
 *
 * Elements are copied as bytes. Such an object must live as long as the session, and the vector as
 * long as the object. Between two adaptation points the vector is the program's, as any other. What
 * they cost: pleat_items_register and pleat_owned_register in pleat.h.
 */
#ifndef PLEAT_HPP
#define PLEAT_HPP

#include <cstring>
#include <exception>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "pleat.h"

namespace pleat
{

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
            ops.owner = [](int64_t item, int size, void *arg) {
                return of(arg).owner_(of(arg).now_[size_t(item)], size);
            };
        return pleat_items_register(session, name, &ops, int64_t(sizeof(T)), this, err);
    }

private:
    static items &of(void *arg) { return *static_cast<items *>(arg); }

    std::vector<T> &now_;
    std::vector<T> coming_;
    owner_function owner_;
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

} // namespace pleat

#endif
