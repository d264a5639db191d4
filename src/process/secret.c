#include "process/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#define DIGITS 64

static int open_secret(struct pleat_error *err)
{
    const char *number = getenv("PLEAT_PROCESS_SECRET_FD");
    if (number) {
        char *end;
        errno = 0;
        long fd = strtol(number, &end, 10);
        if (errno || end == number || *end || fd < 0 || fd > 1 << 30)
            return pleat_error_set(err, PLEAT_E_INVALID,
                                   "PLEAT_PROCESS_SECRET_FD is '%.40s', which is no descriptor: "
                                   "start the program by 'pleat run --evolving'",
                                   number);
        return (int)fd;
    }
    const char *path = getenv("PLEAT_PROCESS_SECRET");
    if (!path)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "this process of a run has got no secret: neither "
                               "PLEAT_PROCESS_SECRET_FD nor PLEAT_PROCESS_SECRET is set; start the "
                               "program by 'pleat run --evolving'");
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    return fd >= 0 ? fd : pleat_error_sys(err, errno, "cannot open the run's secret %.300s", path);
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The 32 bytes that the digits stand for. */
static int decode(const char *digits, ssize_t count, unsigned char *key)
{
    if (count < DIGITS || (count > DIGITS && digits[DIGITS] != '\n'))
        return PLEAT_E_INVALID;
    for (size_t i = 0; i < DIGITS / 2; i++) {
        int high = digit(digits[2 * i]), low = digit(digits[2 * i + 1]);
        if (high < 0 || low < 0)
            return PLEAT_E_INVALID;
        key[i] = (unsigned char)(high << 4 | low);
    }
    return 0;
}

static ssize_t read_all(int fd, char *to, size_t room)
{
    size_t used = 0;
    while (used < room) {
        ssize_t got = read(fd, to + used, room - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        used += (size_t)got;
    }
    return (ssize_t)used;
}

int pleat_secret_keys(char secret[41], char public[41], struct pleat_error *err)
{
    char digits[DIGITS + 1];
    unsigned char key[DIGITS / 2];
    if (!zmq_has("curve"))
        return pleat_error_set(err, PLEAT_E_UNSUPPORTED,
                               "this system's libzmq was built without CURVE, by which processes "
                               "are kept apart from those of others: install one that has it");
    int fd = open_secret(err);
    if (fd < 0)
        return fd;
    ssize_t count = read_all(fd, digits, sizeof(digits));
    int failed = errno;
    close(fd);
    int rc = 0;
    if (count < 0)
        rc = pleat_error_sys(err, failed, "cannot read the run's secret");
    else if (decode(digits, count, key) || !zmq_z85_encode(secret, key, sizeof(key)) ||
             zmq_curve_public(public, secret))
        rc = pleat_error_set(err, PLEAT_E_INVALID,
                             "the run's secret is not 64 hexadecimal digits: start the program by "
                             "'pleat run --evolving'");
    explicit_bzero(digits, sizeof(digits));
    explicit_bzero(key, sizeof(key));
    return rc;
}
