/* search.h - where a program is, and with which environment it is started. */
#ifndef PLEAT_COMMAND_SEARCH_H
#define PLEAT_COMMAND_SEARCH_H

#include "base/error.h"

/* PLEAT_E_NOTFOUND: there is no such program, or it may not be run; err says where it was looked
 * for. */
int pleat_program_check(const char *name, struct pleat_error *err) PLEAT_MUST_CHECK;
/* This process's environment, in which the NAME=VALUE of `more` (ends with NULL; NULL: nothing)
 * replace variables of the same name. The strings are borrowed from both; the list is to be freed.
 * Out of memory is fatal. */
char **pleat_environment_with(const char *const *more);

#endif
