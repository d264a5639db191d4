/* text.h - the text of a configuration file, made fit for libconfuse, which counts the lines
 * of comments wrongly and takes a file that ends inside a section for a whole one. */
#ifndef PLEAT_CONFIG_TEXT_H
#define PLEAT_CONFIG_TEXT_H

#include "base/array.h"
#include "base/error.h"

/* Reads the file into *text (to be finished by the caller, also on failure), comments replaced by
 * spaces. PLEAT_E_NOTFOUND: it cannot be read; PLEAT_E_INVALID: a comment, a section or a string is
 * not closed, err says where it began. */
int pleat_config_read(const char *path, struct pleat_string *text,
                      struct pleat_error *err) PLEAT_MUST_CHECK;
/* The same for a text in memory; name: for errors. */
int pleat_config_prepare(const char *name, struct pleat_string *text,
                         struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
