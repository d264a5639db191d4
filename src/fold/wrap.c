/* wrap.c - the wrappers, made from calls.def: each MPI call twice, as MPI_X and as PMPI_X, since
 * the Fortran bindings of one MPI call the former and those of the other MPI the latter. The calls
 * that begin and end MPI are in life.c and session-mpich.c.
 *
 * Calls by MPI itself, or by a profiling tool in between, are not told again (fold_enter).
 */
#include <string.h>

#include "fold/calls.h"
#include "fold/hint.h"
#include "fold/peer.h"
#include "fold/real.h"
#include "fold/request.h"

/* Handles passed by value, of any MPI: on 64-bit systems an int and a pointer take the same room in
 * registers and on the stack. */
typedef uintptr_t Comm, Type, Request, Win, File, Info, Op, Group;

#define COMM(n) ((MPI_Comm)(a##n))

#define BEFORE_CALLS() fold_call();
#define AFTER_CALLS()

#define BEFORE_SENDS(to, comm)                                                                     \
    fold_call();                                                                                   \
    bool told = fold_send_begins(COMM(comm), a##to);
#define AFTER_SENDS(to, comm)                                                                      \
    if (!code && !told)                                                                            \
        fold_sent(COMM(comm), a##to);
#define BEFORE_STARTS_SEND(to, comm) fold_call();
#define AFTER_STARTS_SEND(to, comm)                                                                \
    if (!code)                                                                                     \
        fold_sent(COMM(comm), a##to);

#define BEFORE_RECEIVES(from, comm, status)                                                        \
    fold_call();                                                                                   \
    turn_receiving(fold_peer(COMM(comm), a##from, false));
#define AFTER_RECEIVES(from, comm, status)                                                         \
    if (!code)                                                                                     \
        fold_received(COMM(comm), a##from, a##status);
#define BEFORE_STARTS_RECEIVE(from, comm, request) fold_call();
#define AFTER_STARTS_RECEIVE(from, comm, request)                                                  \
    if (!code)                                                                                     \
        fold_request_add(*a##request, FOLD_RECEIVES, COMM(comm), a##from);

#define BEFORE_EXCHANGES(to, from, comm, status)                                                   \
    BEFORE_SENDS(to, comm)                                                                         \
    turn_receiving(fold_peer(COMM(comm), a##from, false));
#define AFTER_EXCHANGES(to, from, comm, status)                                                    \
    AFTER_SENDS(to, comm)                                                                          \
    AFTER_RECEIVES(from, comm, status)

#define BEFORE_PROBES(from, comm) BEFORE_RECEIVES(from, comm, none)
#define AFTER_PROBES(from, comm)
#define BEFORE_RECEIVES_MATCHED() fold_call();
#define AFTER_RECEIVES_MATCHED()                                                                   \
    if (!code)                                                                                     \
        turn_received(TURN_ANYBODY);
#define BEFORE_STARTS_MATCHED(request) fold_call();
#define AFTER_STARTS_MATCHED(request)                                                              \
    if (!code)                                                                                     \
        fold_request_add_matched(*a##request);

#define BEFORE_PREPARES_SEND(to, comm, request) fold_call();
#define AFTER_PREPARES_SEND(to, comm, request)                                                     \
    if (!code)                                                                                     \
        fold_request_add(*a##request, FOLD_PREPARED_SEND, COMM(comm), a##to);
#define BEFORE_PREPARES_RECEIVE(from, comm, request) fold_call();
#define AFTER_PREPARES_RECEIVE(from, comm, request)                                                \
    if (!code)                                                                                     \
        fold_request_add(*a##request, FOLD_PREPARED_RECEIVE, COMM(comm), a##from);
#define BEFORE_STARTS(request) fold_call();
#define AFTER_STARTS(request)                                                                      \
    if (!code)                                                                                     \
        fold_request_start(*a##request);
#define BEFORE_STARTS_ALL(count, requests) fold_call();
#define AFTER_STARTS_ALL(count, requests)                                                          \
    for (int i = 0; !code && i < a##count; i++)                                                    \
        fold_request_start(a##requests[i]);
#define BEFORE_FREES_REQUEST(request)                                                              \
    fold_call();                                                                                   \
    if (a##request)                                                                                \
        fold_request_forget(*a##request);
#define AFTER_FREES_REQUEST(request)
#define BEFORE_CANCELS(request)                                                                    \
    fold_call();                                                                                   \
    if (a##request)                                                                                \
        fold_request_cancel(*a##request);
#define AFTER_CANCELS(request)

#define WAIT_BEGINS(count, requests)                                                               \
    fold_call();                                                                                   \
    fold_requests_begin(count, requests, true);
#define BEFORE_WAITS(request) WAIT_BEGINS(1, a##request)
#define AFTER_WAITS(request)                                                                       \
    if (!code)                                                                                     \
        fold_requests_done_all();
#define BEFORE_WAITS_ALL(count, requests) WAIT_BEGINS(a##count, a##requests)
#define AFTER_WAITS_ALL(count, requests) AFTER_WAITS(requests)
#define BEFORE_WAITS_ANY(count, requests, index) WAIT_BEGINS(a##count, a##requests)
#define AFTER_WAITS_ANY(count, requests, index)                                                    \
    if (!code)                                                                                     \
        fold_request_done(*a##index);
#define BEFORE_WAITS_SOME(count, requests, done, indices) WAIT_BEGINS(a##count, a##requests)
#define AFTER_WAITS_SOME(count, requests, done, indices)                                           \
    if (!code)                                                                                     \
        fold_requests_done_some(*a##done, a##indices);

#define TEST_BEGINS(count, requests)                                                               \
    fold_test_begins();                                                                            \
    fold_requests_begin(count, requests, false);
#define BEFORE_TESTS(flag) fold_test_begins();
#define AFTER_TESTS(flag) fold_test_ends(code || *a##flag);
#define BEFORE_TESTS_ONE(request, flag) TEST_BEGINS(1, a##request)
#define AFTER_TESTS_ONE(request, flag)                                                             \
    if (!code && *a##flag)                                                                         \
        fold_requests_done_all();                                                                  \
    fold_test_ends(code || *a##flag);
#define BEFORE_TESTS_ALL(count, requests, flag) TEST_BEGINS(a##count, a##requests)
#define AFTER_TESTS_ALL(count, requests, flag) AFTER_TESTS_ONE(requests, flag)
#define BEFORE_TESTS_ANY(count, requests, index, flag) TEST_BEGINS(a##count, a##requests)
#define AFTER_TESTS_ANY(count, requests, index, flag)                                              \
    if (!code && *a##flag)                                                                         \
        fold_request_done(*a##index);                                                              \
    fold_test_ends(code || *a##flag);
#define BEFORE_TESTS_SOME(count, requests, done, indices) TEST_BEGINS(a##count, a##requests)
#define AFTER_TESTS_SOME(count, requests, done, indices)                                           \
    if (!code)                                                                                     \
        fold_requests_done_some(*a##done, a##indices);                                             \
    fold_test_ends(code || *a##done);

/* What such a call sends and waits for inside is not known. So at its begin and at its end any
 * other process may have got something to do. */
#define BEFORE_MEETS()                                                                             \
    fold_call();                                                                                   \
    turn_activity();
#define AFTER_MEETS() turn_activity();
#define BEFORE_STARTS_MEETING() fold_call();
#define AFTER_STARTS_MEETING() turn_activity();
#define BEFORE_REACHES() fold_call();
#define AFTER_REACHES() turn_activity();

/* Whether the meaning is one of TESTS...(); evaluated by the compiler. */
static inline bool is_look(const char *meaning)
{
    return !strncmp(meaning, "TESTS", sizeof("TESTS") - 1);
}

#define OWN(...)
#define CALL(name, n, meaning, ...)                                                                \
    typedef int name##_call(PARAMETERS_##n(__VA_ARGS__));                                          \
    FOLD_EXPORT name##_call fold_MPI_##name __asm__("MPI_" #name);                                 \
    FOLD_EXPORT name##_call fold_PMPI_##name __asm__("PMPI_" #name);                               \
    static inline __attribute__((always_inline)) int call_##name(bool profiling,                   \
                                                                 PARAMETERS_##n(__VA_ARGS__))      \
    {                                                                                              \
        name##_call *real = (name##_call *)fold_real(FOLD_##name, profiling);                      \
        if (__builtin_expect(!real, 0))                                                            \
            return MPI_ERR_INTERN;                                                                 \
        enum fold_entered entered = fold_enter(is_look(#meaning));                                 \
        if (__builtin_expect(entered != FOLD_TOLD, 1)) {                                           \
            int untold = real(ARGUMENTS_##n);                                                      \
            fold_leave_untold(entered);                                                            \
            return untold;                                                                         \
        }                                                                                          \
        BEFORE_##meaning int code = real(ARGUMENTS_##n);                                           \
        AFTER_##meaning fold_leave();                                                              \
        return code;                                                                               \
    }                                                                                              \
    int fold_MPI_##name(PARAMETERS_##n(__VA_ARGS__))                                               \
    {                                                                                              \
        return call_##name(false, ARGUMENTS_##n);                                                  \
    }                                                                                              \
    int fold_PMPI_##name(PARAMETERS_##n(__VA_ARGS__))                                              \
    {                                                                                              \
        return call_##name(true, ARGUMENTS_##n);                                                   \
    }
#include "fold/calls.def"
