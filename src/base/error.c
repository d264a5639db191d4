#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int pleat_error_set(struct pleat_error *err, int code, const char *fmt, ...)
{
    if (err) {
        va_list args;
        va_start(args, fmt);
        err->code = code;
        vsnprintf(err->text, sizeof(err->text), fmt, args);
        va_end(args);
    }
    return code;
}

int pleat_error_sys(struct pleat_error *err, int errno_value, const char *fmt, ...)
{
    if (err) {
        va_list args;
        va_start(args, fmt);
        err->code = PLEAT_E_SYSTEM;
        int used = vsnprintf(err->text, sizeof(err->text), fmt, args);
        va_end(args);
        if (used >= 0 && (size_t)used < sizeof(err->text))
            snprintf(err->text + used, sizeof(err->text) - (size_t)used, ": %s",
                     strerror(errno_value));
    }
    return PLEAT_E_SYSTEM;
}

int pleat_error_prefix(struct pleat_error *err, int code, const char *fmt, ...)
{
    if (!err)
        return code;
    char old[PLEAT_ERROR_TEXT_SIZE];
    memcpy(old, err->text, sizeof(old));
    va_list args;
    va_start(args, fmt);
    int used = vsnprintf(err->text, sizeof(err->text), fmt, args);
    va_end(args);
    if (used >= 0 && (size_t)used < sizeof(err->text))
        snprintf(err->text + used, sizeof(err->text) - (size_t)used, ": %.*s",
                 (int)(sizeof(err->text) - (size_t)used), old);
    return code;
}

const char *pleat_error_name(int code)
{
    switch (code) {
    case 0:
        return "ok";
    case PLEAT_E_INVALID:
        return "invalid";
    case PLEAT_E_NOMEM:
        return "out of memory";
    case PLEAT_E_SYSTEM:
        return "system";
    case PLEAT_E_NOTFOUND:
        return "not found";
    case PLEAT_E_EXISTS:
        return "exists";
    case PLEAT_E_STATE:
        return "state";
    case PLEAT_E_UNSUPPORTED:
        return "unsupported";
    case PLEAT_E_TOOBIG:
        return "too big";
    case PLEAT_E_PROTOCOL:
        return "protocol";
    case PLEAT_E_PERMISSION:
        return "permission";
    case PLEAT_E_TIMEOUT:
        return "timeout";
    case PLEAT_E_CLOSED:
        return "closed";
    case PLEAT_E_CORRUPT:
        return "corrupt";
    case PLEAT_E_BUSY:
        return "busy";
    case PLEAT_E_MPI:
        return "mpi";
    default:
        return "unknown";
    }
}
