/* page.h - a page of results: Markdown, and its figures as SVG.
 *
 * Blocks are appended one after another; a table takes cells until another block begins. Failures
 * to allocate are remembered, and reported when the page is written. Text is Markdown as it stands;
 * in cells '|' is escaped. */
#ifndef PLEAT_EXPERIMENT_PAGE_H
#define PLEAT_EXPERIMENT_PAGE_H

#include "base/array.h"
#include "experiment/curve.h"
#include "experiment/estimate.h"
#include "figure/plot.h"

struct pleat_figure {
    char *name; /* NAME.svg */
    struct pleat_string svg;
};

PLEAT_ARRAY(pleat_figures_drawn, struct pleat_figure);

struct pleat_page {
    struct pleat_string text;
    struct pleat_figures_drawn figures;
    /* columns of the table at the end of the text, 0: none; cells in its last row */
    size_t columns, cells;
};

void pleat_page_finish(struct pleat_page *page);

/* "## text" and "### text". */
void pleat_page_heading(struct pleat_page *page, const char *text);
void pleat_page_subheading(struct pleat_page *page, const char *text);
void pleat_page_paragraph(struct pleat_page *page, const char *fmt, ...) PLEAT_PRINTF(2, 3);
/* "- text". */
void pleat_page_item(struct pleat_page *page, const char *fmt, ...) PLEAT_PRINTF(2, 3);

/* Begins a table; titles separated by '|': "policy|paper, s|here, s". All columns but the first are
 * for numbers, aligned to the right, unless a title begins with '<'. */
void pleat_page_table(struct pleat_page *page, const char *titles);
/* The next cell; after the last of a row a new row begins. */
void pleat_page_cell(struct pleat_page *page, const char *fmt, ...) PLEAT_PRINTF(2, 3);
/* "12.3 ± 0.4"; "-" where there is no number. */
void pleat_page_cell_estimate(struct pleat_page *page, struct pleat_estimate estimate,
                              int decimals);

/* Draws panels, `columns` of them side by side, as name.svg, with a caption below. As
 * pleat_plot_add_svg. */
int pleat_page_figure(struct pleat_page *page, const char *name, const char *caption,
                      const struct pleat_plot *panels, size_t count, size_t columns,
                      struct pleat_error *err) PLEAT_MUST_CHECK;

/* A curve as a series of a panel; both are borrowed. */
static inline struct pleat_plot_series pleat_curve_series(const struct pleat_curve *curve,
                                                          const char *title)
{
    return (struct pleat_plot_series){title, curve->x, curve->y, curve->count};
}

/* Appends "12.3 ± 0.4". There is no interval with one seed, or if all seeds gave the same value. If
 * an interval would be rounded to 0, up to two more decimals are written. */
void pleat_estimate_add(struct pleat_string *out, struct pleat_estimate estimate, int decimals);

/* The same text, to print with "%s": pleat_estimate_text(estimate, 0).text lives until the end of
 * the expression. `plus`: a mean above 0 has a sign, too. */
struct pleat_estimate_text {
    char text[80];
};
struct pleat_estimate_text pleat_estimate_text(struct pleat_estimate estimate, int decimals);
struct pleat_estimate_text pleat_estimate_text_plus(struct pleat_estimate estimate, int decimals);

#endif
