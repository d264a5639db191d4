#include "wire/address.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_part_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '.' || c == '-' || c == '_';
}

/* Numbers of IPv6, also with a zone: fe80::1%eth0. */
static bool is_part_of_number(char c)
{
    return is_part_of_name(c) || c == ':' || c == '%';
}

int pleat_address_check_host(const char *text, struct pleat_error *err)
{
    size_t length = strlen(text);
    bool number = strchr(text, ':') != NULL;
    bool good = length > 0 && *text != '-';
    for (size_t i = 0; good && i < length; i++)
        good = number ? is_part_of_number(text[i]) : is_part_of_name(text[i]);
    if (length > PLEAT_ADDRESS_HOST_MAX)
        return pleat_error_set(err, PLEAT_E_TOOBIG, "the name of a host has at most %d bytes",
                               PLEAT_ADDRESS_HOST_MAX);
    if (!good)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "'%.60s' is no host: write its name or its number", text);
    return 0;
}

static int take_port(const char *text, uint16_t *port, struct pleat_error *err)
{
    char *end = NULL;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (errno || end == text || *end || !isdigit((unsigned char)*text) || value < 1 ||
        value > UINT16_MAX)
        return pleat_error_set(err, PLEAT_E_INVALID, "'%.20s' is no port: they are from 1 to %d",
                               text, UINT16_MAX);
    *port = (uint16_t)value;
    return 0;
}

static int take_host(const char *text, size_t length, struct pleat_address *address,
                     struct pleat_error *err)
{
    if (length > PLEAT_ADDRESS_HOST_MAX)
        return pleat_error_set(err, PLEAT_E_TOOBIG, "the name of a host has at most %d bytes",
                               PLEAT_ADDRESS_HOST_MAX);
    memcpy(address->host, text, length);
    address->host[length] = '\0';
    return pleat_address_check_host(address->host, err);
}

int pleat_address_parse(const char *text, struct pleat_address *address, struct pleat_error *err)
{
    memset(address, 0, sizeof(*address));
    if (*text == '/') {
        address->kind = PLEAT_ADDRESS_UNIX;
        if (strlen(text) >= sizeof(address->path))
            return pleat_error_set(err, PLEAT_E_TOOBIG,
                                   "the path of a socket has at most %zu bytes",
                                   sizeof(address->path) - 1);
        memcpy(address->path, text, strlen(text) + 1);
        return 0;
    }
    address->kind = PLEAT_ADDRESS_TCP;
    const char *colon = strrchr(text, ':');
    bool brackets = *text == '[' && colon && colon > text + 1 && colon[-1] == ']';
    if (!colon || (!brackets && memchr(text, ':', (size_t)(colon - text))))
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "'%.60s' is no address: write /a/path, host:port or [number]:port",
                               text);
    const char *host = brackets ? text + 1 : text;
    size_t length = (size_t)(colon - host) - (brackets ? 1 : 0);
    int status = take_host(host, length, address, err);
    return status ? status : take_port(colon + 1, &address->port, err);
}

void pleat_address_text(const struct pleat_address *address, struct pleat_string *out)
{
    if (address->kind == PLEAT_ADDRESS_UNIX)
        pleat_string_add(out, address->path);
    else if (strchr(address->host, ':'))
        pleat_string_addf(out, "[%s]:%u", address->host, (unsigned)address->port);
    else
        pleat_string_addf(out, "%s:%u", address->host, (unsigned)address->port);
}
