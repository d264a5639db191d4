#include "cli/common/reply.h"

#include <langinfo.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/cli.h"

static int print(const json_t *json, size_t flags)
{
    if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
        flags |= JSON_ENSURE_ASCII;
    if (json_dumpf(json, stdout, flags | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15)) == 0)
        putchar('\n');
    else if (!ferror(stdout)) {
        pleat_say("cannot print the answer as JSON: out of memory");
        return PLEAT_EXIT_FAILED;
    }
    return PLEAT_EXIT_OK;
}

int pleat_reply_print(const json_t *json)
{
    return print(json, JSON_INDENT(2));
}

int pleat_reply_print_line(const json_t *json)
{
    return print(json, JSON_COMPACT);
}
