#include "pmi/absent.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/write.h"

enum { LINE = 4096, NAME = 257 /* hydra's names have at most 256 bytes */ };

struct absent {
    int hydra, signals;
    char line[LINE]; /* the last answer, without its end */
};

/* Is the program being ended? */
static bool is_told_to_end(const struct absent *absent)
{
    struct signalfd_siginfo signal;
    bool told = false;
    while (read(absent->signals, &signal, sizeof(signal)) == (ssize_t)sizeof(signal))
        told = told || signal.ssi_signo != SIGCHLD;
    return told;
}

/* Takes the next byte from hydra. False: there will be none. */
static bool next_byte(const struct absent *absent, char *byte)
{
    struct pollfd polled[] = {{.fd = absent->hydra, .events = POLLIN},
                              {.fd = absent->signals, .events = POLLIN}};
    for (;;) {
        ssize_t got = recv(absent->hydra, byte, 1, MSG_DONTWAIT);
        if (got == 1)
            return true;
        if (got == 0 || (errno != EAGAIN && errno != EINTR))
            return false;
        if (poll(polled, 2, -1) > 0 && polled[1].revents && is_told_to_end(absent))
            return false;
    }
}

/* Says something to hydra, and reads the line that it answers, which begins with `answer`. */
static bool ask(struct absent *absent, const char *text, const char *answer)
{
    if (pleat_write_all(absent->hydra, text, strlen(text)))
        return false;
    for (size_t length = 0; length < LINE; length++) {
        if (!next_byte(absent, absent->line + length))
            return false;
        if (absent->line[length] != '\n')
            continue;
        absent->line[length] = '\0';
        return strncmp(absent->line, answer, strlen(answer)) == 0;
    }
    return false;
}

/* Copies the value of NAME=VALUE in the last answer. */
static bool take_value(const struct absent *absent, const char *name, char *value)
{
    const char *at = strstr(absent->line, name);
    size_t length = at ? strcspn(at + strlen(name), " ") : 0;
    if (length == 0 || length >= NAME)
        return false;
    memcpy(value, at + strlen(name), length);
    value[length] = '\0';
    return true;
}

/* A number of the environment; negative: it is not there. */
static long number_of(const char *name)
{
    const char *text = getenv(name);
    return text && *text >= '0' && *text <= '9' ? strtol(text, NULL, 10) : -1;
}

bool pleat_pmi_is_missed(int hydra, int signals)
{
    struct absent absent = {.hydra = hydra, .signals = signals};
    long rank = number_of("PMI_RANK"), size = number_of("PMI_SIZE");
    char names[NAME] = "", text[NAME + 128];
    if (rank < 0 || size < 2 ||
        !ask(&absent, "cmd=init pmi_version=1 pmi_subversion=1\n", "cmd=response_to_init ") ||
        !ask(&absent, "cmd=get_my_kvsname\n", "cmd=my_kvsname ") ||
        !take_value(&absent, "kvsname=", names))
        return false;
    snprintf(text, sizeof(text), "cmd=put kvsname=%s key=pleat-absent-%ld value=yes\n", names,
             rank);
    if (!ask(&absent, text, "cmd=put_result ") ||
        !ask(&absent, "cmd=barrier_in\n", "cmd=barrier_out"))
        return false;
    snprintf(text, sizeof(text), "cmd=get kvsname=%s key=pleat-absent-%ld\n", names,
             (rank + 1) % size);
    if (!ask(&absent, text, "cmd=get_result "))
        return false;
    if (!strstr(absent.line, " rc=0 "))
        return true;
    (void)ask(&absent, "cmd=finalize\n", "cmd=finalize_ack"); /* else hydra would miss it */
    return false;
}
