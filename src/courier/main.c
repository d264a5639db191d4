/* pleat-courier - reads or writes files that a job's user has named, for a job on a node that does
 * not see them. pleatd, which starts it, does not touch such a file itself: the file system may
 * never answer. This process may wait for ever, without harm to anything but its job.
 *
 * It calls pleatd at its socket, and hears there what to open ("open"). One that writes gets pieces
 * of output, and says when they are written ("written", "unwritten"); one that reads says pieces of
 * input ("read") and goes on when they were taken ("taken"). It ends with the connection. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/socket.h"
#include "base/write.h"
#include "courier/stream.h"
#include "wire/message.h"

enum { EXIT_USAGE = 2, STREAMS = 2, FEED = 65536 };

static const char usage[] =
    "usage: pleat-courier SOCKET RUN read|write\n"
    "\n"
    "Reads or writes the files of a job for pleatd, which starts it. It is of no use otherwise.\n"
    "\n"
    "  --help, --version\n"
    "\n"
    "Exit codes: 0 pleatd has closed the connection; 1 there is no pleatd, or it cannot be "
    "understood;\n"
    "2 usage.\n";

struct courier {
    int daemon; /* the connection */
    uint64_t run;
    bool reads;
    char *paths[STREAMS], *besides[STREAMS];
    struct stream streams[STREAMS];
    int input;      /* -1: none is open */
    int64_t place;  /* of the next piece of input */
    bool has_ended; /* the end of the input was said */
};

static int fail(const char *text)
{
    fprintf(stderr, "pleat-courier: %s\n", text);
    return EXIT_FAILURE;
}

/* Nonzero: pleatd is gone, or there is no memory. Empties *out. */
static int send_out(const struct courier *courier, struct pleat_string *out, int rc)
{
    int code = rc ? rc : pleat_write_all(courier->daemon, out->text, out->length);
    pleat_string_finish(out);
    return code;
}

static int tell(const struct courier *courier, const char *method, json_t *params)
{
    struct pleat_string out = {0};
    if (!params)
        return ENOMEM;
    return send_out(courier, &out, pleat_write_notification(&out, method, params));
}

/* ---- opening ---- */

/* Whether the job's user can do something about it. */
static bool is_of_the_machine(int code)
{
    return code == EMFILE || code == ENFILE || code == ENOMEM || code == EIO || code == ENOSPC ||
           code == EDQUOT || code == EINTR;
}

static int refuse(const char *what, const char *path, int code, struct pleat_error *err)
{
    (void)pleat_error_sys(err, code, "cannot open the %s file '%s'", what, path);
    err->code = is_of_the_machine(code) ? PLEAT_E_SYSTEM : PLEAT_E_INVALID;
    return err->code;
}

/* What was read is read again where pleatd was killed in between, which a pipe does not allow. */
static int open_input(struct courier *courier, const char *path, struct pleat_error *err)
{
    struct stat about;
    courier->input = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (courier->input < 0 || fstat(courier->input, &about))
        return refuse("input", path, errno, err);
    bool is_null = S_ISCHR(about.st_mode) && about.st_rdev == makedev(1, 3);
    if (S_ISDIR(about.st_mode))
        return refuse("input", path, EISDIR, err);
    if (!S_ISREG(about.st_mode) && !is_null)
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "its node does not see the files of the host where it was "
                               "submitted: there the input cannot come from '%s', which is no "
                               "regular file",
                               path);
    return 0;
}

static int open_outputs(struct courier *courier, bool truncate, struct pleat_error *err)
{
    static const char *const names[STREAMS] = {"output", "error"};
    for (size_t i = 0; i < STREAMS; i++) {
        int code = courier->paths[i] ? stream_open(&courier->streams[i], courier->paths[i],
                                                   courier->besides[i], courier->run, truncate)
                                     : 0;
        if (code)
            return refuse(names[i], courier->paths[i], code, err);
    }
    return 0;
}

static int take_path(const json_t *params, const char *name, char **path, struct pleat_error *err)
{
    const char *text = NULL;
    int rc = pleat_get_string(params, name, false, &text, err);
    if (rc || !text)
        return rc;
    free(*path);
    *path = strdup(text);
    return *path ? 0 : pleat_error_set(err, PLEAT_E_NOMEM, "out of memory");
}

static int open_all(struct courier *courier, const json_t *params, struct pleat_error *err)
{
    static const char *const paths[STREAMS] = {"stdout", "stderr"};
    static const char *const besides[STREAMS] = {"stdout_record", "stderr_record"};
    const char *input = NULL;
    bool truncate = false;
    int64_t mask = 0077;
    int rc = pleat_get_bool(params, "truncate", false, &truncate, err);
    if (!rc)
        rc = pleat_get_int(params, "umask", false, 0, 0777, &mask, err);
    (void)umask((mode_t)mask);
    if (!rc && courier->reads) {
        rc = pleat_get_string(params, "stdin", true, &input, err);
        return rc ? rc : open_input(courier, input, err);
    }
    for (size_t i = 0; !rc && i < STREAMS; i++) {
        rc = take_path(params, paths[i], &courier->paths[i], err);
        if (!rc)
            rc = take_path(params, besides[i], &courier->besides[i], err);
        if (!rc && courier->paths[i] && !courier->besides[i])
            rc = pleat_error_set(err, PLEAT_E_INVALID, "'%s' without '%s'", paths[i], besides[i]);
    }
    return rc ? rc : open_outputs(courier, truncate, err);
}

static int answer(struct courier *courier, const struct pleat_message *message)
{
    struct pleat_string out = {0};
    struct pleat_error err = {0};
    int rc = open_all(courier, message->params, &err);
    if (rc)
        return send_out(courier, &out, pleat_write_failure(&out, message->id, &err));
    return send_out(courier, &out, pleat_write_result(&out, message->id, NULL));
}

/* ---- reading and writing ---- */

/* Says the next piece of the input. */
static int read_on(struct courier *courier)
{
    static char bytes[FEED];
    struct pleat_string out = {0};
    ssize_t count = 0;
    if (courier->input < 0 || courier->has_ended)
        return 0;
    do
        count = pread(courier->input, bytes, sizeof(bytes), courier->place);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        return tell(courier, "unread",
                    json_pack("{s:o}", "text", pleat_json_text(strerror(errno))));
    courier->has_ended = count == 0;
    json_t *params =
        json_pack("{s:I, s:b}", "offset", (json_int_t)courier->place, "end", courier->has_ended);
    if (!params)
        return ENOMEM;
    return send_out(courier, &out,
                    pleat_write_notification_bytes(&out, "read", params, bytes, (size_t)count));
}

static int taken(struct courier *courier, const json_t *params)
{
    int64_t offset = 0;
    if (pleat_get_int(params, "offset", true, 0, INT64_MAX / 2, &offset, NULL))
        return EPROTO;
    courier->place = offset;
    return read_on(courier);
}

static int write_piece(struct courier *courier, const struct pleat_message *message)
{
    int64_t number = 1, offset = 0;
    if (!message->bytes ||
        pleat_get_int(message->params, "stream", true, 1, STREAMS, &number, NULL) ||
        pleat_get_int(message->params, "offset", true, 0, INT64_MAX / 2, &offset, NULL) ||
        courier->streams[number - 1].fd < 0)
        return EPROTO;
    int code =
        stream_put(&courier->streams[number - 1], offset, message->bytes, message->bytes_count);
    if (!code)
        return tell(courier, "written",
                    json_pack("{s:I, s:I}", "stream", (json_int_t)number, "offset",
                              (json_int_t)offset + (json_int_t)message->bytes_count));
    return tell(courier, "unwritten",
                json_pack("{s:I, s:o}", "stream", (json_int_t)number, "text",
                          pleat_json_text(strerror(code))));
}

/* Nonzero: it makes no sense, or pleatd is gone. */
static int take(struct courier *courier, const struct pleat_message *message)
{
    if (message->kind == PLEAT_REQUEST && !strcmp(message->method, "open"))
        return answer(courier, message);
    if (message->kind != PLEAT_NOTIFICATION)
        return message->kind == PLEAT_FAILURE ? EPROTO : 0;
    if (!strcmp(message->method, "output"))
        return write_piece(courier, message);
    if (!strcmp(message->method, "go"))
        return read_on(courier);
    return strcmp(message->method, "taken") ? 0 : taken(courier, message->params);
}

static int follow(struct courier *courier, struct pleat_reader *reader)
{
    static char bytes[FEED];
    struct pleat_error err = {0};
    for (;;) {
        ssize_t count = read(courier->daemon, bytes, sizeof(bytes));
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return EXIT_SUCCESS; /* pleatd needs it no more, or is gone */
        if (pleat_reader_feed(reader, bytes, (size_t)count, &err))
            return fail(err.text);
        struct pleat_message message;
        int rc;
        while ((rc = pleat_reader_next(reader, &message, &err)) == 1) {
            int code = take(courier, &message);
            pleat_message_finish(&message);
            if (code)
                return fail(code > 0 ? strerror(code) : pleat_error_name(code));
        }
        if (rc)
            return fail(err.text);
    }
}

static int serve(const char *path, const char *run, bool reads)
{
    struct courier courier = {.reads = reads, .input = -1, .streams = {{.fd = -1}, {.fd = -1}}};
    struct pleat_reader *reader = NULL;
    struct pleat_string out = {0};
    char *end;
    courier.run = strtoull(run, &end, 10);
    if (*run < '0' || *run > '9' || *end) {
        (void)fail("RUN is a number (see --help)");
        return EXIT_USAGE;
    }
    courier.daemon = pleat_socket_connect(path);
    if (courier.daemon < 0)
        return fail("there is no pleatd at that socket");
    json_t *own = json_pack("{s:I, s:b}", "run", (json_int_t)courier.run, "reads", reads);
    int rc = own ? pleat_write_hello(&out, "courier", own) : PLEAT_E_NOMEM;
    if (send_out(&courier, &out, rc) || pleat_reader_create(&reader))
        return fail("pleatd cannot be greeted");
    int code = follow(&courier, reader);
    pleat_reader_destroy(reader);
    for (size_t i = 0; i < STREAMS; i++) {
        free(courier.paths[i]);
        free(courier.besides[i]);
    }
    return code;
}

int main(int argc, char **argv)
{
    if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "--version"))) {
        printf("%s", !strcmp(argv[1], "--help") ? usage : "pleat-courier " PLEAT_VERSION "\n");
        return 0;
    }
    if (argc != 4 || (strcmp(argv[3], "read") && strcmp(argv[3], "write"))) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    return serve(argv[1], argv[2], !strcmp(argv[3], "read"));
}
