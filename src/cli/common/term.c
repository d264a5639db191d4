#include "cli/common/term.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/common/cli.h"

static int environment_width(void)
{
    const char *text = getenv("COLUMNS");
    int64_t width;
    if (!text || pleat_parse_int("COLUMNS", text, 1, 10000, &width, NULL))
        return 0;
    return (int)width;
}

void pleat_term_init(struct pleat_term *term)
{
    *term = (struct pleat_term){.width = 80};
    struct winsize size;
    term->terminal = isatty(STDOUT_FILENO);
    if (term->terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        term->width = size.ws_col;
        term->height = size.ws_row;
        term->limited = true;
    } else if (environment_width() > 0) {
        term->width = environment_width();
        term->limited = true;
    } else {
        term->limited = term->terminal;
    }
    const char *no_color = getenv("NO_COLOR"), *kind = getenv("TERM");
    term->colour = term->terminal && !pleat_settings.no_color && !(no_color && *no_color) && kind &&
                   *kind && strcmp(kind, "dumb") != 0;
    term->utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
}
