#include "figure/picture.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "figure/gnuplot.h"
#include "figure/replace.h"

#define CONVERTER "rsvg-convert"

/* Finds the format of a file by its name. NULL: SVG, without conversion. */
static int format_of(const char *path, const char **format, struct pleat_error *err)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    *format = NULL;
    if (!dot || dot == name || !strcasecmp(dot, ".svg"))
        return 0;
    if (!strcasecmp(dot, ".png"))
        *format = "png";
    else if (!strcasecmp(dot, ".pdf"))
        *format = "pdf";
    else
        return pleat_error_set(err, PLEAT_E_INVALID,
                               "%s: there are no drawings as '%s': they are .svg, .png or .pdf",
                               path, dot + 1);
    return 0;
}

static bool installed(void)
{
    const char *path = getenv("PATH");
    char file[4096];
    for (const char *at = path ? path : "/usr/bin:/bin"; at; at = strchr(at, ':')) {
        at += *at == ':';
        int length = (int)strcspn(at, ":");
        snprintf(file, sizeof(file), "%.*s/" CONVERTER, length, at);
        if (access(file, X_OK) == 0)
            return true;
    }
    return false;
}

int pleat_picture_check(const char *path, struct pleat_error *err)
{
    const char *format;
    int rc = format_of(path, &format, err);
    if (!rc && format && !installed())
        rc = pleat_error_set(err, PLEAT_E_NOTFOUND,
                             "%s: drawings as %s need " CONVERTER
                             " (package librsvg2-bin), which is not "
                             "installed; .svg needs nothing",
                             path, format);
    return rc;
}

int pleat_picture_write(const char *path, const struct pleat_string *svg, struct pleat_error *err)
{
    const char *format;
    struct pleat_string converted = {0};
    int rc = pleat_picture_check(path, err);
    if (!rc)
        rc = format_of(path, &format, err);
    if (rc || !format)
        return rc ? rc : pleat_replace_text(path, svg, err);
    const char *const arguments[] = {
        CONVERTER, "--format", format, "--zoom", !strcmp(format, "png") ? "2" : "1", NULL};
    rc = pleat_filter_run(arguments, svg, &converted, err);
    if (!rc)
        rc = pleat_replace_text(path, &converted, err);
    pleat_string_finish(&converted);
    return rc;
}
