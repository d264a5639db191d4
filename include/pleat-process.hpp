/* pleat-process.hpp - libpleat-process for C++11: an object that ends what it began, and errors as
 * exceptions. It needs no MPI.
 *
 *     pleat::processes all;                       // a process that was prepared waits here
 *     if (all.begun() == PLEAT_PROCESS_STARTED) {
 *         auto other = all.add();                 // never waits for a processor
 *         all.send(other.process, 1, data.data(), data.size());
 *     }
 *     pleat::message got;
 *     while (!all.leaving() && all.receive(got))  // from any process, of any type
 *         ...got.from, got.type, got.bytes...
 *
 * What fails throws pleat::error. Such an object is itself a pleat_processes *, so all functions of
 * pleat-process.h, which say what these do, can be used with it.
 */
#ifndef PLEAT_PROCESS_HPP
#define PLEAT_PROCESS_HPP

#include <stdexcept>
#include <string>
#include <vector>

#include "pleat-process.h"

namespace pleat
{

/* What a function of Pleat's libraries has failed with. */
class error : public std::runtime_error
{
  public:
    error(int code, const char *text) : std::runtime_error(text), code_(code)
    {
    }
    int code() const noexcept
    {
        return code_;
    } /* of enum pleat_error_code */

  private:
    int code_;
};

/* Returns what a function has returned, or throws what *err says. */
inline int check(int outcome, const pleat_error &err)
{
    if (outcome < 0)
        throw error(outcome, err.text);
    return outcome;
}

struct message {
    int32_t from, type;
    std::vector<char> bytes;
};

/* A process that was asked for: it was prepared, or it will come. */
struct added {
    int32_t process;
    bool ready;
};

class processes
{
  public:
    explicit processes(const pleat_process_settings *settings = nullptr)
    {
        pleat_error err;
        begun_ = check(pleat_processes_begin(&all_, settings, &err), err);
    }
    processes(const processes &) = delete;
    processes &operator=(const processes &) = delete;
    /* Waits as pleat_processes_finish does; what that could not do only finish() says. */
    ~processes()
    {
        pleat_processes_finish(all_, nullptr);
    }

    operator pleat_processes *() const noexcept
    {
        return all_;
    }
    int begun() const noexcept
    {
        return begun_;
    } /* enum pleat_process_begin */

    /* Nothing else can be called afterwards. */
    void finish()
    {
        pleat_error err;
        pleat_processes *all = all_;
        all_ = nullptr;
        check(pleat_processes_finish(all, &err), err);
    }

    int32_t self() const noexcept
    {
        return pleat_process_self(all_);
    }
    int32_t parent() const noexcept
    {
        return pleat_process_parent(all_);
    }
    int32_t maximum() const noexcept
    {
        return pleat_process_maximum(all_);
    }
    std::vector<int32_t> list() const
    {
        return listed([this](int32_t *to, int room) { return pleat_process_list(all_, to, room); });
    }
    pleat_process_info about(int32_t process) const
    {
        pleat_error err;
        pleat_process_info info;
        check(pleat_process_about(all_, process, &info, &err), err);
        return info;
    }

    added add(const pleat_process_wish *wish = nullptr)
    {
        pleat_error err;
        int32_t process;
        int how = check(pleat_process_add(all_, wish, &process, &err), err);
        return added{process, how == PLEAT_PROCESS_ADDED_READY};
    }
    /* Another program, with its arguments. */
    added add(const std::vector<std::string> &argv)
    {
        std::vector<const char *> texts;
        for (const std::string &text : argv)
            texts.push_back(text.c_str());
        texts.push_back(nullptr);
        pleat_process_wish wish = pleat_process_wish();
        wish.argv = texts.data();
        return add(&wish);
    }
    void cancel(int32_t process)
    {
        pleat_error err;
        check(pleat_process_cancel(all_, process, &err), err);
    }
    void stop(int32_t process)
    {
        pleat_error err;
        check(pleat_process_stop(all_, process, &err), err);
    }
    void iteration(int64_t number)
    {
        pleat_process_iteration(all_, number);
    }
    void returning(int count)
    {
        pleat_error err;
        check(pleat_process_returning(all_, count, &err), err);
    }

    /* False: there is none. */
    bool notice(pleat_process_news &to)
    {
        return pleat_process_notice(all_, &to) == 1;
    }
    bool leaving()
    {
        return pleat_process_leaving(all_) != 0;
    }
    int descriptor()
    {
        pleat_error err;
        return check(pleat_process_descriptor(all_, &err), err);
    }

    /* False: the window is full, nothing was sent. */
    bool send(int32_t to, int32_t type, const void *bytes, size_t count, int timeout_ms = -1)
    {
        pleat_error err;
        return check(pleat_process_send(all_, to, type, bytes, count, timeout_ms, &err), err) ==
               PLEAT_PROCESS_DONE;
    }
    /* False: there is no such message. Of `to` what was there is replaced. */
    bool receive(message &to, int32_t from = PLEAT_PROCESS_ANY, int32_t type = PLEAT_PROCESS_TYPE,
                 int timeout_ms = -1)
    {
        pleat_error err;
        pleat_process_message found;
        if (check(pleat_process_probe(all_, from, type, &found, timeout_ms, &err), err) !=
            PLEAT_PROCESS_DONE)
            return false;
        to.bytes.resize(found.bytes);
        check(pleat_process_receive(all_, found.from, found.type, to.bytes.data(), found.bytes,
                                    &found, 0, &err),
              err);
        to.from = found.from;
        to.type = found.type;
        return true;
    }

    void join(const std::string &group)
    {
        pleat_error err;
        check(pleat_process_group_join(all_, group.c_str(), &err), err);
    }
    void leave(const std::string &group)
    {
        pleat_error err;
        check(pleat_process_group_leave(all_, group.c_str(), &err), err);
    }
    std::vector<int32_t> members(const std::string &group) const
    {
        return listed([this, &group](int32_t *to, int room) {
            return pleat_process_group_list(all_, group.c_str(), to, room);
        });
    }
    /* The groups that a process is in. */
    std::vector<std::string> groups(int32_t process) const
    {
        std::vector<std::string> names;
        char name[64];
        while (pleat_process_group_name(all_, process, static_cast<int>(names.size()), name,
                                        sizeof(name)) > static_cast<int>(names.size()))
            names.push_back(name);
        return names;
    }
    /* To how many it was sent; -1: not to all, as a window is full. */
    int tell(const std::string &group, int32_t type, const void *bytes, size_t count,
             int timeout_ms = -1)
    {
        pleat_error err;
        int sent = 0;
        int outcome = check(pleat_process_group_send(all_, group.c_str(), type, bytes, count,
                                                     timeout_ms, &sent, &err),
                            err);
        return outcome == PLEAT_PROCESS_DONE ? sent : -1;
    }

  private:
    template <class Ask> static std::vector<int32_t> listed(Ask ask)
    {
        std::vector<int32_t> found(64);
        for (;;) {
            int count = ask(found.data(), static_cast<int>(found.size()));
            bool all = static_cast<size_t>(count) <= found.size();
            found.resize(static_cast<size_t>(count));
            if (all)
                return found;
        }
    }

    pleat_processes *all_ = nullptr;
    int begun_ = 0;
};

} // namespace pleat
#endif
