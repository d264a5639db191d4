#include "experiment/page.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void pleat_page_finish(struct pleat_page *page)
{
    for (size_t i = 0; i < page->figures.count; i++) {
        free(page->figures.items[i].name);
        pleat_string_finish(&page->figures.items[i].svg);
    }
    pleat_array_finish(&page->figures);
    pleat_string_finish(&page->text);
    *page = (struct pleat_page){0};
}

static void end_table(struct pleat_page *page)
{
    if (page->columns == 0)
        return;
    while (page->cells % page->columns != 0)
        pleat_page_cell(page, "%s", "");
    pleat_string_add(&page->text, "\n");
    page->columns = page->cells = 0;
}

static void add_formatted(struct pleat_string *out, const char *fmt, va_list arguments)
{
    char *text = NULL;
    if (vasprintf(&text, fmt, arguments) < 0) {
        out->failed = 1;
        return;
    }
    pleat_string_add(out, text);
    free(text);
}

void pleat_page_heading(struct pleat_page *page, const char *text)
{
    end_table(page);
    pleat_string_addf(&page->text, "## %s\n\n", text);
}

void pleat_page_subheading(struct pleat_page *page, const char *text)
{
    end_table(page);
    pleat_string_addf(&page->text, "### %s\n\n", text);
}

void pleat_page_paragraph(struct pleat_page *page, const char *fmt, ...)
{
    va_list arguments;
    end_table(page);
    va_start(arguments, fmt);
    add_formatted(&page->text, fmt, arguments);
    va_end(arguments);
    pleat_string_add(&page->text, "\n\n");
}

/* Items that follow one another are one list: there is no empty line between them. */
void pleat_page_item(struct pleat_page *page, const char *fmt, ...)
{
    struct pleat_string *text = &page->text, item = {0};
    va_list arguments;
    end_table(page);
    va_start(arguments, fmt);
    add_formatted(&item, fmt, arguments);
    va_end(arguments);
    const char *last = text->text;
    if (text->length > 2) { /* the line before the empty one at the end */
        size_t at = text->length - 2;
        while (at > 0 && text->text[at - 1] != '\n')
            at--;
        last = text->text + at;
    }
    if (!text->failed && last && !strncmp(last, "- ", 2))
        text->text[--text->length] = '\0';
    pleat_string_addf(text, "- %s\n\n", item.text ? item.text : "");
    text->failed |= item.failed;
    pleat_string_finish(&item);
}

void pleat_page_table(struct pleat_page *page, const char *titles)
{
    struct pleat_string line = {0};
    end_table(page);
    pleat_string_add(&page->text, "|");
    for (const char *at = titles;; at++) {
        size_t length = strcspn(at, "|");
        bool words = page->columns == 0 || *at == '<';
        size_t skip = *at == '<';
        pleat_string_addf(&page->text, " %.*s |", (int)(length - skip), at + skip);
        pleat_string_add(&line, words ? " --- |" : " ---: |");
        page->columns++;
        at += length;
        if (!*at)
            break;
    }
    pleat_string_addf(&page->text, "\n|%s\n", line.text ? line.text : "");
    page->text.failed |= line.failed;
    pleat_string_finish(&line);
}

static void add_cell(struct pleat_page *page, const char *text)
{
    if (page->columns == 0)
        return;
    if (page->cells % page->columns == 0)
        pleat_string_add(&page->text, "|");
    pleat_string_add(&page->text, " ");
    while (*text) {
        size_t length = strcspn(text, "|\n");
        pleat_string_add_bytes(&page->text, text, length);
        text += length;
        if (*text)
            pleat_string_add(&page->text, *text++ == '|' ? "\\|" : " ");
    }
    page->cells++;
    pleat_string_add(&page->text, page->cells % page->columns == 0 ? " |\n" : " |");
}

void pleat_page_cell(struct pleat_page *page, const char *fmt, ...)
{
    struct pleat_string text = {0};
    va_list arguments;
    va_start(arguments, fmt);
    add_formatted(&text, fmt, arguments);
    va_end(arguments);
    add_cell(page, text.text ? text.text : "");
    page->text.failed |= text.failed;
    pleat_string_finish(&text);
}

static struct pleat_estimate_text write_estimate(struct pleat_estimate estimate, int decimals,
                                                 bool plus)
{
    struct pleat_estimate_text out;
    const char *mean = plus ? "%+.*f" : "%.*f";
    /* there is one value, or all are the same */
    bool sure = !isfinite(estimate.half) || !(estimate.half > 0);
    int wanted = decimals;
    while (!sure && wanted < decimals + 2 && estimate.half < 0.5 * pow(10, -wanted))
        wanted++;
    sure = sure || estimate.half < 0.5 * pow(10, -wanted);
    if (!isfinite(estimate.mean)) {
        snprintf(out.text, sizeof(out.text), "-");
        return out;
    }
    wanted = sure ? decimals : wanted;
    double shown = fabs(estimate.mean) < 0.5 * pow(10, -wanted) ? 0 : estimate.mean; /* not -0 */
    int length = snprintf(out.text, sizeof(out.text), mean, wanted, shown);
    if (!sure && length > 0 && (size_t)length < sizeof(out.text))
        snprintf(out.text + length, sizeof(out.text) - (size_t)length, " \u00b1 %.*f", wanted,
                 estimate.half);
    return out;
}

struct pleat_estimate_text pleat_estimate_text(struct pleat_estimate estimate, int decimals)
{
    return write_estimate(estimate, decimals, false);
}

struct pleat_estimate_text pleat_estimate_text_plus(struct pleat_estimate estimate, int decimals)
{
    return write_estimate(estimate, decimals, true);
}

void pleat_estimate_add(struct pleat_string *out, struct pleat_estimate estimate, int decimals)
{
    pleat_string_add(out, pleat_estimate_text(estimate, decimals).text);
}

void pleat_page_cell_estimate(struct pleat_page *page, struct pleat_estimate estimate, int decimals)
{
    struct pleat_string text = {0};
    pleat_estimate_add(&text, estimate, decimals);
    add_cell(page, text.text ? text.text : "");
    page->text.failed |= text.failed;
    pleat_string_finish(&text);
}

int pleat_page_figure(struct pleat_page *page, const char *name, const char *caption,
                      const struct pleat_plot *panels, size_t count, size_t columns,
                      struct pleat_error *err)
{
    struct pleat_figure figure = {0};
    end_table(page);
    int rc = pleat_plot_add_svg_columns(panels, count, columns, &figure.svg, err);
    if (!rc && asprintf(&figure.name, "%s.svg", name) < 0)
        figure.name = NULL;
    if (!rc && (!figure.name || pleat_array_push(&page->figures, figure)))
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the figure");
    if (rc) {
        free(figure.name);
        pleat_string_finish(&figure.svg);
        return rc;
    }
    pleat_string_addf(&page->text, "![%s](%s.svg)\n\n*%s*\n\n", name, name, caption);
    return 0;
}
