/* picture.h - drawings as files: SVG, and what librsvg's rsvg-convert makes of it. */
#ifndef PLEAT_FIGURE_PICTURE_H
#define PLEAT_FIGURE_PICTURE_H

#include "base/array.h"
#include "base/error.h"

/* Can a drawing be written under that name? By its extension, in any case: .svg, .png, .pdf;
 * without one, and where it is no plain file ("-", /dev/stdout), SVG. PLEAT_E_INVALID: err says
 * which there are. PLEAT_E_NOTFOUND: it needs rsvg-convert, which is not installed. */
int pleat_picture_check(const char *path, struct pleat_error *err) PLEAT_MUST_CHECK;
/* Writes an SVG document in the format of the name, replacing the file as a whole. As check;
 * PLEAT_E_SYSTEM, PLEAT_E_NOMEM. Blocks until it is converted. */
int pleat_picture_write(const char *path, const struct pleat_string *svg,
                        struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
