/* ask.h - asks a command of Grid Engine, and reads what it says. */
#ifndef PLEAT_GRIDENGINE_ASK_H
#define PLEAT_GRIDENGINE_ASK_H

#include <jansson.h>

#include "adapter/ask.h"

/* As pleat_adapter_ask, with what Grid Engine's commands say. */
int pleat_gridengine_ask(const char *const *argv, char **said,
                         struct pleat_error *err) PLEAT_MUST_CHECK;
/* One that answers in XML: the root element (xml.h). */
int pleat_gridengine_ask_xml(const char *const *argv, json_t **root,
                             struct pleat_error *err) PLEAT_MUST_CHECK;

/* The value of a line "name   value" of what qconf shows, cut off at `size`; "": there is none. */
const char *pleat_gridengine_value(const char *text, const char *name, char *value, size_t size);

#endif
