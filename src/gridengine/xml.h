/* xml.h - an XML document as a tree of JSON objects: {"tag", "text", "attributes": {name: text},
 * "elements": [...]}. Bytes that are not UTF-8 become '?': names come from other users, as any
 * bytes.
 */
#ifndef PLEAT_GRIDENGINE_XML_H
#define PLEAT_GRIDENGINE_XML_H

#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"

/* The root element. PLEAT_E_PROTOCOL: it is no XML, is divided too deeply, or declares types of its
 * own. */
int pleat_xml_read(const char *text, json_t **root, struct pleat_error *err) PLEAT_MUST_CHECK;
bool pleat_xml_is(const json_t *element, const char *tag);
/* Its elements: an array; empty without an element. */
const json_t *pleat_xml_elements(const json_t *element);
/* The text of its first element with this tag; "": there is none. */
const char *pleat_xml_text(const json_t *element, const char *tag);
/* "": there is none. */
const char *pleat_xml_attribute(const json_t *element, const char *name);
/* Its own text. */
const char *pleat_xml_own_text(const json_t *element);

#endif
