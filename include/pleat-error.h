/* pleat-error.h - how Pleat's functions report failure.
 *
 * Convention (all of Pleat): a function returns 0 on success, a negative code from this list on
 * failure, and a named positive value for an outcome that is not an error ("refused", "nothing to
 * do"). A trailing `struct pleat_error *`, where there is one, may be NULL; on failure it is filled
 * with the code and one sentence that says what happened, to what, and what to do next. A function
 * that fails has no side effect, unless its comment says so.
 */
#ifndef PLEAT_ERROR_H
#define PLEAT_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

enum pleat_error_code {
    PLEAT_E_INVALID = -1,     /* an argument or an input is wrong; the text says which */
    PLEAT_E_NOMEM = -2,       /* out of memory */
    PLEAT_E_SYSTEM = -3,      /* a system call failed; the text has its errno */
    PLEAT_E_NOTFOUND = -4,    /* no such job, site, file, policy, ... */
    PLEAT_E_EXISTS = -5,      /* what is to be made exists already */
    PLEAT_E_STATE = -6,       /* not possible in the present state */
    PLEAT_E_UNSUPPORTED = -7, /* this site, runner or build cannot do it ("cannot", not "failed") */
    PLEAT_E_TOOBIG = -8,      /* exceeds a stated limit */
    PLEAT_E_PROTOCOL = -9,    /* a peer sent what the protocol does not allow */
    PLEAT_E_PERMISSION = -10, /* not allowed for this user */
    PLEAT_E_TIMEOUT = -11,    /* not done in time */
    PLEAT_E_CLOSED = -12,     /* the other side is gone */
    PLEAT_E_CORRUPT = -13,    /* stored data fail their check */
    PLEAT_E_BUSY = -14,       /* in use elsewhere (a lock, a resize under way); try again */
    PLEAT_E_MPI = -15         /* an MPI call failed; the text has MPI's own words */
};

#define PLEAT_ERROR_TEXT_SIZE 480

struct pleat_error {
    int code; /* 0 or one of enum pleat_error_code */
    char text[PLEAT_ERROR_TEXT_SIZE];
};

#if defined(__GNUC__)
#define PLEAT_MUST_CHECK __attribute__((warn_unused_result))
#define PLEAT_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define PLEAT_MUST_CHECK
#define PLEAT_PRINTF(fmt, args)
#endif

#ifdef __cplusplus
}
#endif
#endif
