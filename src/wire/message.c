#include "wire/message.h"

#include <string.h>

#include "base/utf8.h"

/* ---- text that may not be UTF-8 ---- */

json_t *pleat_json_text(const char *text)
{
    size_t size = strlen(text);
    char *clean = malloc(size + 1);
    if (!clean)
        return NULL;
    memcpy(clean, text, size + 1);
    for (size_t at = 0; at < size;) {
        size_t length = pleat_utf8_length(clean + at, size - at);
        if (length == 0)
            clean[at] = '?';
        at += length ? length : 1;
    }
    json_t *string = json_string(clean);
    free(clean);
    return string;
}

/* ---- writing ---- */

static int append_dump(const char *bytes, size_t count, void *out)
{
    struct pleat_string *string = out;
    pleat_string_add_bytes(string, bytes, count);
    return string->failed;
}

static int take_back(struct pleat_string *out, size_t length, int code)
{
    out->length = length;
    out->failed = 0;
    if (out->text)
        out->text[length] = '\0';
    return code;
}

/* Appends the line of `object` (stolen; NULL means out of memory) and the attachment; or nothing,
 * on failure. */
static int append_line(struct pleat_string *out, json_t *object, const char *bytes, size_t count)
{
    if (out->failed || !object) {
        json_decref(object);
        return PLEAT_E_NOMEM;
    }
    size_t before = out->length;
    int dumped = json_dump_callback(object, append_dump, out, JSON_COMPACT);
    json_decref(object);
    if (dumped)
        return take_back(out, before, out->failed ? PLEAT_E_NOMEM : PLEAT_E_INVALID);
    pleat_string_add_bytes(out, "\n", 1);
    if (out->length - before > PLEAT_WIRE_LINE_MAX)
        return take_back(out, before, PLEAT_E_TOOBIG);
    if (count > 0)
        pleat_string_add_bytes(out, bytes, count);
    return out->failed ? take_back(out, before, PLEAT_E_NOMEM) : 0;
}

/* {"id":id, key: value}, without "id" if id < 0. value is stolen. NULL: out of memory. */
static json_t *envelope(int64_t id, const char *key, json_t *value)
{
    json_t *object = json_object();
    if (!object) {
        json_decref(value);
        return NULL;
    }
    int failed = id >= 0 && json_object_set_new(object, "id", json_integer(id));
    failed = json_object_set_new(object, key, value) || failed;
    if (failed) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static int write_call(struct pleat_string *out, int64_t id, const char *method, json_t *params,
                      const char *bytes, size_t count)
{
    if (count > PLEAT_WIRE_BYTES_MAX) {
        json_decref(params);
        return PLEAT_E_TOOBIG;
    }
    if (params && !json_is_object(params)) {
        json_decref(params);
        return PLEAT_E_INVALID;
    }
    json_t *name = json_string(method);
    if (!name || !method[0]) {
        json_decref(name);
        json_decref(params);
        return PLEAT_E_INVALID;
    }
    json_t *object = envelope(id, "method", name);
    if (!params)
        params = json_object();
    if (!object) {
        json_decref(params);
        return PLEAT_E_NOMEM;
    }
    if (json_object_set_new(object, "params", params) ||
        (bytes && json_object_set_new(object, "bytes", json_integer((json_int_t)count)))) {
        json_decref(object);
        return PLEAT_E_NOMEM;
    }
    return append_line(out, object, bytes, count);
}

int pleat_write_request(struct pleat_string *out, int64_t id, const char *method, json_t *params)
{
    return pleat_write_request_bytes(out, id, method, params, NULL, 0);
}

int pleat_write_request_bytes(struct pleat_string *out, int64_t id, const char *method,
                              json_t *params, const char *bytes, size_t count)
{
    if (id < 1) {
        json_decref(params);
        return PLEAT_E_INVALID;
    }
    return write_call(out, id, method, params, bytes, count);
}

int pleat_write_notification(struct pleat_string *out, const char *method, json_t *params)
{
    return write_call(out, -1, method, params, NULL, 0);
}

int pleat_write_notification_bytes(struct pleat_string *out, const char *method, json_t *params,
                                   const char *bytes, size_t count)
{
    return write_call(out, -1, method, params, bytes, count);
}

int pleat_write_result(struct pleat_string *out, int64_t id, json_t *result)
{
    if (id < 1) {
        json_decref(result);
        return PLEAT_E_INVALID;
    }
    return append_line(out, envelope(id, "result", result ? result : json_object()), NULL, 0);
}

int pleat_write_result_bytes(struct pleat_string *out, int64_t id, json_t *result,
                             const char *bytes, size_t count)
{
    if (id < 1 || count > PLEAT_WIRE_BYTES_MAX) {
        json_decref(result);
        return id < 1 ? PLEAT_E_INVALID : PLEAT_E_TOOBIG;
    }
    json_t *object = envelope(id, "result", result ? result : json_object());
    if (object && json_object_set_new(object, "bytes", json_integer((json_int_t)count))) {
        json_decref(object);
        object = NULL;
    }
    return append_line(out, object, bytes, count);
}

int pleat_write_failure(struct pleat_string *out, int64_t id, const struct pleat_error *error)
{
    if (id < 0 || error->code >= 0)
        return PLEAT_E_INVALID;
    json_t *body = json_object();
    if (!body || json_object_set_new(body, "code", json_integer(error->code)) ||
        json_object_set_new(body, "name", json_string(pleat_error_name(error->code))) ||
        json_object_set_new(body, "text", pleat_json_text(error->text))) {
        json_decref(body);
        return PLEAT_E_NOMEM;
    }
    return append_line(out, envelope(id, "error", body), NULL, 0);
}

/* ---- hello ---- */

int pleat_write_hello(struct pleat_string *out, const char *role, json_t *extra)
{
    if (extra && !json_is_object(extra)) {
        json_decref(extra);
        return PLEAT_E_INVALID;
    }
    json_t *params = json_object();
    /* the hello's own members are set last, so that `extra` cannot replace them */
    int failed = !params || (extra && json_object_update(params, extra));
    failed = failed || json_object_set_new(params, "protocol", json_integer(PLEAT_WIRE_PROTOCOL)) ||
             json_object_set_new(params, "version", json_string(PLEAT_VERSION)) ||
             json_object_set_new(params, "role", json_string(role));
    json_decref(extra);
    if (failed) {
        json_decref(params);
        return PLEAT_E_NOMEM;
    }
    return pleat_write_notification(out, "hello", params);
}

int pleat_read_hello(const struct pleat_message *message, const char **role,
                     struct pleat_error *err)
{
    if (message->kind == PLEAT_FAILURE) {
        if (err)
            *err = message->error;
        return message->error.code;
    }
    if (message->kind != PLEAT_NOTIFICATION || strcmp(message->method, "hello") != 0)
        return pleat_error_set(err, PLEAT_E_PROTOCOL, "the peer did not begin with a hello");
    const json_t *protocol = json_object_get(message->params, "protocol");
    const json_t *version = json_object_get(message->params, "version");
    const json_t *said = json_object_get(message->params, "role");
    if (!json_is_integer(protocol) || !json_is_string(said))
        return pleat_error_set(err, PLEAT_E_PROTOCOL,
                               "the peer's hello lacks its 'protocol' or its 'role'");
    if (json_integer_value(protocol) != PLEAT_WIRE_PROTOCOL)
        return pleat_error_set(
            err, PLEAT_E_PROTOCOL,
            "the peer (version %s) speaks protocol %lld, this is Pleat %s with protocol %d: "
            "bring both to the same version and start them again",
            json_is_string(version) ? json_string_value(version) : "unknown",
            (long long)json_integer_value(protocol), PLEAT_VERSION, PLEAT_WIRE_PROTOCOL);
    *role = json_string_value(said);
    return 0;
}
