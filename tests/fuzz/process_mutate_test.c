/* The fuzz function of what libpleat-process reads on a fixed set of mutated inputs: what a fuzzer
 * would do first, with any compiler and always the same. */
#include "mutate.h"
#include "process_fuzz.h"

static const char *const lines[] = {
    "{\"do\":\"welcome\",\"process\":3,\"parent\":0,\"state\":\"prepared\",\"maximum\":8,"
    "\"processes\":[{\"process\":0,\"state\":\"running\",\"address\":\"ipc:///d/0\","
    "\"groups\":[\"walls\"]},{\"process\":5,\"state\":\"gone\",\"reason\":\"not started\","
    "\"code\":3,\"signal\":null,\"parent\":null}]}",
    "{\"do\":\"added\",\"number\":12,\"process\":7,\"ready\":false}",
    "{\"do\":\"refused\",\"number\":12,\"text\":\"too many requests wait\"}",
    "{\"do\":\"process\",\"process\":7,\"state\":\"running\",\"parent\":1,"
    "\"address\":\"tcp://10.0.0.1:5555\",\"groups\":[\"a\",\"b\"]}",
    "{\"do\":\"go\",\"parent\":4}",
    /* the head of an acknowledgement: no byte of it is 0, so that it is a text, too */
    "PLT1"
    "\x02\x03\x0a\x18\x01\x02\x03\x04\x05\x06\x07\x08\x10\x11\x12\x13\x14\x15\x16\x17"
    "\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x20\x21\x22\x23\x24\x25\x26\x27\x22\x22\x22\x22"
    "\x22\x22\x22\x22\x21\x21\x21\x21\x21\x21\x21\x21\x38\x39\x3a\x3b\x3c\x3d\x3e\x3f"};

static const char *const pieces[] = {"{",     "}",          "[",      "]",        "\"",
                                     ",",     ":",          "-1",     "0",        "2147483648",
                                     "null",  "true",       "\"do\"", "\"gone\"", "ipc://",
                                     "tcp:/", "\"coming\"", "\xff",   "\\u0000",  "1e9"};
static const struct mutation how = {
    .pieces = pieces, .piece_count = sizeof(pieces) / sizeof(*pieces), .first = 0, .room = 4096};

int main(int argc, char **argv)
{
    int code = 0;
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        const struct mutate_test test = {.text = lines[i],
                                         .fuzz = pleat_fuzz_process,
                                         .good = &pleat_fuzz_process_read,
                                         .rounds = 20000,
                                         .one_of = 40,
                                         .seed = 20261128};
        pleat_fuzz_process_read = 0;
        code |= mutate_test(&how, &test, argc, argv);
    }
    return code;
}
