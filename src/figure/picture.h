/* picture.h - writes drawings to files: SVG, and the formats into which librsvg's rsvg-convert
 * converts it. */
#ifndef PLEAT_FIGURE_PICTURE_H
#define PLEAT_FIGURE_PICTURE_H

#include "base/array.h"
#include "base/error.h"

/* Checks whether a drawing can be written under this name. The format follows from the extension
 * (upper or lower case): .svg, .png, .pdf. It is SVG without an extension, and where the name is no
 * plain file ("-", /dev/stdout). PLEAT_E_INVALID: another extension; err lists those that are
 * known. PLEAT_E_NOTFOUND: rsvg-convert is needed, but is not installed. */
int pleat_picture_check(const char *path, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Writes an SVG document in the format of the name, and replaces the file as a whole. Errors as in
 * pleat_picture_check; PLEAT_E_SYSTEM, PLEAT_E_NOMEM. Blocks until the document is converted. */
int pleat_picture_write(const char *path, const struct pleat_string *svg,
                        struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
