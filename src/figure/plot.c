/* plot.c - pictures of one or several panels, drawn by gnuplot. */
#include "figure/plot.h"

#include <string.h>

#include "figure/gnuplot.h"
#include "figure/picture.h"
#include "figure/plot_panel.h"

enum {
    SVG_WIDTH = 900,
    NARROW_WIDTH = 560,
    SVG_HEIGHT = 290,
    TEXT_WIDTH_MOST = 100,
    TEXT_HEIGHT = 18
};

static int run(const struct pleat_string *script, int status, struct pleat_string *picture,
               struct pleat_error *err)
{
    if (status || script->failed)
        return pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the figure");
    return pleat_gnuplot_run(script, picture, err);
}

int pleat_plot_add_svg(const struct pleat_plot *panels, size_t count, struct pleat_string *svg,
                       struct pleat_error *err)
{
    return pleat_plot_add_svg_columns(panels, count, 1, svg, err);
}

int pleat_plot_add_svg_columns(const struct pleat_plot *panels, size_t count, size_t columns,
                               struct pleat_string *svg, struct pleat_error *err)
{
    struct pleat_string script = {0};
    int status = 0;
    size_t across = columns ? columns : 1, width = across > 1 ? NARROW_WIDTH : SVG_WIDTH;
    size_t rows = count ? (count + across - 1) / across : 1;
    pleat_string_addf(&script,
                      "set encoding utf8\nset terminal svg size %zu,%zu dynamic noenhanced "
                      "font 'Helvetica,Arial,sans-serif,13' background '#FFFFFF'\n"
                      "set multiplot layout %zu,%zu\n",
                      width * across, SVG_HEIGHT * rows, rows, across);
    for (size_t i = 0; i < count && !status; i++) {
        struct pleat_drawing d = {
            .panel = &panels[i], .out = &script, .columns = across > 1 ? width / 2 : width};
        status = pleat_plot_add_panel(&d);
    }
    pleat_string_add(&script, "unset multiplot\n");
    status = run(&script, status, svg, err);
    pleat_string_finish(&script);
    return status;
}

int pleat_plot_write(const struct pleat_plot *panels, size_t count, const char *path,
                     struct pleat_error *err)
{
    struct pleat_string svg = {0};
    int status = pleat_plot_add_svg(panels, count, &svg, err);
    if (!status)
        status = pleat_picture_write(path, &svg, err);
    pleat_string_finish(&svg);
    return status;
}

/* Appends a text without blanks at the ends of lines, and without empty lines at its beginning and
 * end. */
static void add_trimmed(struct pleat_string *out, const char *text)
{
    size_t empty = 0;
    bool begun = false;
    while (*text) {
        size_t length = strcspn(text, "\n\f"), kept = length;
        while (kept > 0 && text[kept - 1] == ' ')
            kept--;
        for (; kept > 0 && begun && empty > 0; empty--)
            pleat_string_add(out, "\n");
        if (kept > 0) {
            pleat_string_add_bytes(out, text, kept);
            pleat_string_add(out, "\n");
            begun = true;
            empty = 0;
        } else {
            empty++;
        }
        text += length + (text[length] != '\0');
    }
}

int pleat_plot_add_text(const struct pleat_plot *panel, const struct pleat_term *term,
                        struct pleat_string *out, struct pleat_error *err)
{
    struct pleat_string script = {0}, text = {0};
    int width = term->width < TEXT_WIDTH_MOST ? term->width : TEXT_WIDTH_MOST;
    struct pleat_drawing d = {
        .panel = panel, .term = term, .out = &script, .columns = TEXT_WIDTH_MOST};
    pleat_string_addf(&script, "set terminal dumb size %d,%d mono noenhanced\n",
                      width < 30 ? 30 : width, TEXT_HEIGHT);
    int status = run(&script, pleat_plot_add_panel(&d), &text, err);
    if (!status)
        add_trimmed(out, text.text ? text.text : "");
    if (!status && out->failed)
        status = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the figure");
    pleat_string_finish(&script);
    pleat_string_finish(&text);
    return status;
}
