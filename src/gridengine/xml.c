#include "gridengine/xml.h"

#include <expat.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { DEPTH_MAX = 16, TEXT_MAX = 65536 };

struct reading {
    XML_Parser parser;
    json_t *root;
    json_t *open[DEPTH_MAX]; /* borrowed, but for the root */
    struct pleat_string text[DEPTH_MAX];
    int depth;
    const char *wrong; /* NULL: nothing */
};

static void stop(struct reading *reading, const char *wrong)
{
    if (!reading->wrong)
        reading->wrong = wrong;
    XML_StopParser(reading->parser, XML_FALSE);
}

static json_t *element_of(const char *tag, const char **attributes)
{
    json_t *element = json_pack("{sss{}s[]}", "tag", tag, "attributes", "elements"), *all;
    if (!element)
        abort();
    all = json_object_get(element, "attributes");
    for (; attributes[0]; attributes += 2)
        json_object_set_new(all, attributes[0], json_string(attributes[1]));
    return element;
}

static void on_start(void *arg, const char *tag, const char **attributes)
{
    struct reading *reading = arg;
    if (reading->depth == DEPTH_MAX) {
        stop(reading, "is divided too deeply");
        return;
    }
    json_t *element = element_of(tag, attributes);
    if (reading->depth == 0)
        reading->root = element;
    else
        json_array_append_new(json_object_get(reading->open[reading->depth - 1], "elements"),
                              element);
    reading->open[reading->depth++] = element;
}

static void on_end(void *arg, const char *tag)
{
    struct reading *reading = arg;
    (void)tag;
    int level = --reading->depth;
    struct pleat_string *text = &reading->text[level];
    json_object_set_new(reading->open[level], "text", json_string(text->text ? text->text : ""));
    pleat_string_finish(text);
}

static void on_text(void *arg, const char *bytes, int length)
{
    struct reading *reading = arg;
    struct pleat_string *text = &reading->text[reading->depth > 0 ? reading->depth - 1 : 0];
    if (text->length + (size_t)length > TEXT_MAX)
        stop(reading, "has too long a text");
    else
        pleat_string_addf(text, "%.*s", length, bytes);
}

static void on_types(void *arg, const char *name, const char *system, const char *public, int own)
{
    (void)name;
    (void)system;
    (void)public;
    (void)own;
    stop(arg, "declares types of its own");
}

/* How many bytes a character has that begins here; 0: it is none. */
static size_t character(const unsigned char *at)
{
    if (*at < 0x80)
        return (*at >= ' ' && *at != 127) || strchr("\n\t\r", *at) ? 1 : 0;
    size_t length = *at >= 0xF0 ? 4 : *at >= 0xE0 ? 3 : *at >= 0xC2 ? 2 : 0;
    if (length == 0 || *at > 0xF4)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xC0) != 0x80)
            return 0;
    unsigned second = at[1];
    if ((*at == 0xE0 && second < 0xA0) || (*at == 0xED && second > 0x9F) ||
        (*at == 0xEF && second == 0xBF && at[2] >= 0xBE) || (*at == 0xF0 && second < 0x90) ||
        (*at == 0xF4 && second > 0x8F))
        return 0; /* too long a form, half of a pair, no character */
    return length;
}

/* A copy, with '?' for each byte that no parser takes. */
static char *cleaned(const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        abort();
    for (unsigned char *at = (unsigned char *)copy; *at;) {
        size_t length = character(at);
        if (length == 0)
            *at = '?';
        at += length ? length : 1;
    }
    return copy;
}

static int parse(struct reading *reading, const char *text, struct pleat_error *err)
{
    char *copy = cleaned(text);
    XML_SetUserData(reading->parser, reading);
    XML_SetElementHandler(reading->parser, on_start, on_end);
    XML_SetCharacterDataHandler(reading->parser, on_text);
    XML_SetStartDoctypeDeclHandler(reading->parser, on_types);
    size_t length = strlen(copy);
    enum XML_Status status = length > INT_MAX
                                 ? XML_STATUS_ERROR
                                 : XML_Parse(reading->parser, copy, (int)length, XML_TRUE);
    free(copy);
    if (status == XML_STATUS_OK && !reading->wrong)
        return 0;
    return pleat_error_set(err, PLEAT_E_PROTOCOL, "an answer in XML %s (line %lu)",
                           reading->wrong ? reading->wrong
                                          : XML_ErrorString(XML_GetErrorCode(reading->parser)),
                           (unsigned long)XML_GetCurrentLineNumber(reading->parser));
}

int pleat_xml_read(const char *text, json_t **root, struct pleat_error *err)
{
    struct reading reading = {.parser = XML_ParserCreate("UTF-8")};
    if (!reading.parser)
        abort();
    int failure = parse(&reading, text, err);
    XML_ParserFree(reading.parser);
    for (int i = 0; i < DEPTH_MAX; i++)
        pleat_string_finish(&reading.text[i]);
    if (failure)
        json_decref(reading.root);
    *root = failure ? NULL : reading.root;
    return failure;
}

static const char *string_of(const json_t *value)
{
    const char *text = json_string_value(value);
    return text ? text : "";
}

bool pleat_xml_is(const json_t *element, const char *tag)
{
    return !strcmp(string_of(json_object_get(element, "tag")), tag);
}

const json_t *pleat_xml_elements(const json_t *element)
{
    return json_object_get(element, "elements");
}

const char *pleat_xml_own_text(const json_t *element)
{
    return string_of(json_object_get(element, "text"));
}

const char *pleat_xml_text(const json_t *element, const char *tag)
{
    size_t i;
    const json_t *inner;
    json_array_foreach(pleat_xml_elements(element), i, inner)
    {
        if (pleat_xml_is(inner, tag))
            return pleat_xml_own_text(inner);
    }
    return "";
}

const char *pleat_xml_attribute(const json_t *element, const char *name)
{
    return string_of(json_object_get(json_object_get(element, "attributes"), name));
}
