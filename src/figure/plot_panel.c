/* plot_panel.c - writes the part of gnuplot's script that draws a panel. Text in them is in single
 * quotes, in which gnuplot interprets nothing but a doubled quote, and terminals are told not to
 * interpret mark-up. Data are inline. Colours follow Okabe and Ito (2008), so that all readers can
 * tell them apart; curves differ in their dashes, too. */
#include "figure/plot_panel.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static const char *const colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                      "#E69F00", "#56B4E9", "#000000", "#999933"};
#define COLOUR_COUNT (sizeof(colours) / sizeof(colours[0]))
#define DASH_COUNT 5

/* ---- text ---- */

/* Length in bytes of the character at text; 0: XML allows no such character. */
static size_t character(const unsigned char *text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = *text < 0x80   ? 1
                    : *text < 0xc2 ? 0
                    : *text < 0xe0 ? 2
                    : *text < 0xf0 ? 3
                    : *text < 0xf5 ? 4
                                   : 0;
    if (length < 2)
        return *text < ' ' || *text == 127 ? 0 : length;
    uint32_t code = *text & (0x7fU >> length);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3fU);
    }
    bool character = code >= least[length] && code <= 0x10ffff &&
                     !(code >= 0xd800 && code < 0xe000) && (code & 0xfffe) != 0xfffe;
    return character ? length : 0;
}

static void add_quoted(struct pleat_string *out, const char *text)
{
    pleat_string_add(out, "'");
    while (*text) {
        size_t length = character((const unsigned char *)text);
        if (length == 0)
            pleat_string_add(out, "?");
        else if (*text == '\'')
            pleat_string_add(out, "''");
        else
            pleat_string_add_bytes(out, text, length);
        text += length ? length : 1;
    }
    pleat_string_add(out, "'");
}

static void add_text(const struct pleat_drawing *d, const char *text)
{
    struct pleat_string clean = {0};
    if (!d->term) {
        add_quoted(d->out, text ? text : "");
        return;
    }
    pleat_term_add(d->term, &clean, text ? text : "", 0);
    add_quoted(d->out, clean.text ? clean.text : "");
    pleat_string_finish(&clean);
}

static void add_setting(const struct pleat_drawing *d, const char *setting, const char *text,
                        const char *more)
{
    if (!text || !*text)
        return;
    pleat_string_addf(d->out, "set %s ", setting);
    add_text(d, text);
    pleat_string_addf(d->out, " %s\n", d->term ? "" : more);
}

/* ---- what there is to show ---- */

/* NULL: the series has no band, or bands are not drawn. */
static const struct pleat_plot_band *band_of(const struct pleat_drawing *d, size_t number)
{
    const struct pleat_plot_band *bands = d->term ? NULL : d->panel->bands;
    return bands && bands[number].low ? &bands[number] : NULL;
}

static void measure_series(struct pleat_drawing *d, size_t number)
{
    const struct pleat_plot_series *series = &d->panel->series[number];
    const struct pleat_plot_band *band = band_of(d, number);
    double before = (double)NAN;
    for (size_t i = 0; i < series->count; i++) {
        double x = series->x[i], y = series->y[i];
        if (!isfinite(x) || !isfinite(y) || (d->log_x && x <= 0))
            continue;
        d->low = d->shown ? fmin(d->low, x) : x;
        d->high = d->shown ? fmax(d->high, x) : x;
        d->y_least = d->shown ? fmin(d->y_least, y) : y;
        d->y_most = d->shown ? fmax(d->y_most, y) : y;
        if (fabs(x - before) < d->slot_width && x != before)
            d->slot_width = fabs(x - before);
        if (band && isfinite(band->high[i]))
            d->y_most = fmax(d->y_most, band->high[i]);
        before = x;
        d->shown++;
    }
}

static void measure(struct pleat_drawing *d)
{
    bool bars = d->panel->style == PLEAT_PLOT_BARS;
    d->log_x = d->panel->log_x && !bars;
    d->slot_width = (double)INFINITY;
    for (size_t i = 0; i < d->panel->series_count; i++)
        measure_series(d, i);
    if (!isfinite(d->slot_width))
        d->slot_width = 1;
    double margin = bars ? d->slot_width / 2 : d->high > d->low ? 0 : fabs(d->low) / 2 + 0.5;
    if (d->log_x && !(d->high > d->low)) {
        d->high *= 10;
        d->low /= 10;
    } else {
        d->low -= margin;
        d->high += margin;
    }
}

/* ---- data ---- */

static void add_bar(const struct pleat_drawing *d, double x, double y, double low, double high)
{
    if (isfinite(low) && isfinite(high))
        pleat_string_addf(d->out, "%.12g %.9g %.9g %.9g\n", x, y, low, high);
    else
        pleat_string_addf(d->out, "%.12g %.9g NaN NaN\n", x, y);
}

/* Adds the bars of a series. Of bars that share a pixel column only the highest is drawn, since it
 * hides the others. */
static void add_bars(struct pleat_drawing *d, size_t number)
{
    const struct pleat_plot_series *series = &d->panel->series[number];
    const struct pleat_plot_band *band = band_of(d, number);
    double count = (double)d->panel->series_count, width = d->slot_width * 0.86 / count;
    double offset = ((double)number - (count - 1) / 2) * width;
    double column = -1, x = 0, y = (double)NAN, low = y, high = y;
    for (size_t i = 0; i < series->count; i++) {
        if (!isfinite(series->x[i]) || !isfinite(series->y[i]))
            continue;
        double at = floor((series->x[i] - d->low) / (d->high - d->low) * (double)d->columns);
        if (at == column) {
            y = fmax(y, series->y[i]);
            continue;
        }
        if (column >= 0)
            add_bar(d, x, y, low, high);
        column = at;
        x = series->x[i] + offset;
        y = series->y[i];
        low = band ? band->low[i] : (double)NAN;
        high = band ? band->high[i] : (double)NAN;
    }
    if (column >= 0)
        add_bar(d, x, y, low, high);
}

/* Adds a series with its band. Points without a band are left out of the band. */
static void add_banded(const struct pleat_drawing *d, const struct pleat_plot_series *series,
                       const struct pleat_plot_band *band)
{
    for (size_t i = 0; i < series->count; i++)
        if (isfinite(series->x[i]) && isfinite(series->y[i]) && !(d->log_x && series->x[i] <= 0))
            add_bar(d, series->x[i], series->y[i], band->low[i], band->high[i]);
}

static int add_curve(struct pleat_drawing *d, size_t number)
{
    const struct pleat_plot_series *series = &d->panel->series[number];
    const struct pleat_plot_band *band = band_of(d, number);
    struct pleat_plot_points points = {0};
    if (band) {
        add_banded(d, series, band);
        return 0;
    }
    int status = pleat_plot_thin(series, d->low, d->high, d->log_x, d->columns, &points);
    for (size_t i = 0; i < points.count; i++) {
        if (isnan(points.items[i].y))
            pleat_string_addf(d->out, "%.12g NaN\n", points.items[i].x);
        else
            pleat_string_addf(d->out, "%.12g %.9g\n", points.items[i].x, points.items[i].y);
    }
    pleat_array_finish(&points);
    return status;
}

static int add_data(struct pleat_drawing *d)
{
    for (size_t i = 0; i < d->panel->series_count; i++) {
        pleat_string_addf(d->out, "$s%zu << END\n", i);
        if (d->panel->style == PLEAT_PLOT_BARS)
            add_bars(d, i);
        else if (add_curve(d, i))
            return PLEAT_E_NOMEM;
        pleat_string_add(d->out, "END\n");
    }
    return 0;
}

/* ---- a panel ---- */

static void add_look(const struct pleat_drawing *d)
{
    pleat_string_add(d->out, "reset\nset encoding utf8\nset format '%.10g'\n");
    if (d->term) {
        pleat_string_add(d->out, "set key tmargin center horizontal samplen 3\n");
        if (d->panel->style == PLEAT_PLOT_BARS) /* tics would be lost among the bars */
            pleat_string_add(d->out, "set xtics nomirror scale 0\n");
        return;
    }
    pleat_string_add(d->out, "set border 3 lc rgb '#888888'\n"
                             "set tics nomirror out scale 0.6 textcolor rgb '#333333'\n"
                             "set grid lt 1 lc rgb '#DDDDDD' lw 0.6\n"
                             "set key tmargin right horizontal Left reverse samplen 3 "
                             "textcolor rgb '#333333'\n"
                             "set style fill solid 0.9 noborder\n"
                             "set lmargin 11\nset rmargin 4\nset tmargin 3\n");
}

/* Adds the title. In an SVG it is at the left, since the key is at the right. */
static void add_title(const struct pleat_drawing *d)
{
    if (d->term)
        add_setting(d, "title", d->panel->title, "");
    else
        add_setting(d, "label 1", d->panel->title,
                    "at graph 0, graph 1 left offset 0, 1.1 textcolor rgb '#111111' font ',15'");
}

/* Adds the text of a tic, which gnuplot takes as a format. */
static void add_name(const struct pleat_drawing *d, const char *name)
{
    struct pleat_string format = {0};
    for (; *name; name++)
        pleat_string_add(&format, *name == '%' ? "%%" : (const char[]){*name, '\0'});
    add_text(d, format.text);
    d->out->failed |= format.failed;
    pleat_string_finish(&format);
}

static void add_names(const struct pleat_drawing *d)
{
    const struct pleat_plot *panel = d->panel;
    if (!panel->x_names || panel->series_count == 0)
        return;
    const char *between = "set xtics (";
    for (size_t i = 0; i < panel->series[0].count; i++) {
        if (!*panel->x_names[i] || !isfinite(panel->series[0].x[i]))
            continue;
        pleat_string_add(d->out, between);
        add_name(d, panel->x_names[i]);
        pleat_string_addf(d->out, " %.12g", panel->series[0].x[i]);
        between = ", ";
    }
    if (*between == ',')
        pleat_string_add(d->out, ")\n");
}

/* Adds the tics of a logarithmic axis of seconds. */
static void add_times(const struct pleat_drawing *d)
{
    static const struct pleat_plot_tic times[] = {
        {0.001, "1 ms"},  {0.01, "10 ms"},    {0.1, "0.1 s"},      {1, "1 s"},      {10, "10 s"},
        {60, "1 min"},    {600, "10 min"},    {3600, "1 h"},       {36000, "10 h"}, {86400, "1 d"},
        {864000, "10 d"}, {8640000, "100 d"}, {86400000, "1000 d"}};
    pleat_string_add(d->out, "set xtics (");
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        pleat_string_addf(d->out, "%s'%s' %g", i ? ", " : "", times[i].text, times[i].x);
    pleat_string_add(d->out, ")\n");
}

static void add_tics(const struct pleat_drawing *d)
{
    pleat_string_add(d->out, "set xtics (");
    for (size_t i = 0; i < d->panel->tic_count; i++) {
        pleat_string_add(d->out, i ? ", " : "");
        add_name(d, d->panel->tics[i].text);
        pleat_string_addf(d->out, " %.12g", d->panel->tics[i].x);
    }
    pleat_string_add(d->out, ")\n");
}

static void add_axes(const struct pleat_drawing *d)
{
    const struct pleat_plot *panel = d->panel;
    add_title(d);
    add_setting(d, "xlabel", panel->x_label, "textcolor rgb '#333333'");
    add_setting(d, "ylabel", panel->y_label, "textcolor rgb '#333333'");
    if (d->log_x)
        pleat_string_add(d->out, "set logscale x\n");
    pleat_string_addf(d->out, "set xrange [%.12g:%.12g]\n", d->low, d->high);
    if (panel->y_least < panel->y_most)
        pleat_string_addf(d->out, "set yrange [%.9g:%.9g]\n", panel->y_least, panel->y_most);
    else if (panel->style == PLEAT_PLOT_BARS || d->y_least >= 0)
        pleat_string_addf(d->out, "set yrange [0:%s]\n", d->y_most > 0 ? "*" : "1");
    if (d->log_x && panel->time_x)
        add_times(d);
    if (panel->tics)
        add_tics(d);
    add_names(d);
}

static const char *colour_of(const struct pleat_drawing *d, size_t number)
{
    return colours[(d->panel->number + number) % COLOUR_COUNT];
}

/* Adds the bands. They are below all curves. */
static bool add_bands(const struct pleat_drawing *d)
{
    bool any = false;
    for (size_t i = 0; i < d->panel->series_count; i++) {
        if (!band_of(d, i) || d->panel->style == PLEAT_PLOT_BARS)
            continue;
        pleat_string_addf(d->out,
                          "%s $s%zu using 1:3:4 with filledcurves fs transparent solid 0.25 "
                          "noborder lc rgb '%s' notitle",
                          any ? "," : "plot", i, colour_of(d, i));
        any = true;
    }
    return any;
}

/* Adds the lines that show the intervals of bars. They are above all bars. */
static void add_whiskers(const struct pleat_drawing *d)
{
    for (size_t i = 0; i < d->panel->series_count; i++)
        if (band_of(d, i) && d->panel->style == PLEAT_PLOT_BARS)
            pleat_string_addf(
                d->out,
                ", $s%zu using 1:3:(0):($4-$3) with vectors heads size screen 0.004,90 "
                "lw 1.3 lc rgb '#222222' notitle",
                i);
}

static void add_series(const struct pleat_drawing *d, size_t number, bool first)
{
    static const char *const styles[] = {"lines", "steps", "boxes", "fillsteps"};
    static const char *const alone = "points pt 7 ps 0.6"; /* a single point has no line to it */
    const struct pleat_plot *panel = d->panel;
    const struct pleat_plot_series *series = &panel->series[number];
    bool bars = panel->style == PLEAT_PLOT_BARS || panel->style == PLEAT_PLOT_AREAS;
    pleat_string_addf(d->out, "%s $s%zu using 1:2 with %s", first ? "plot" : ",", number,
                      series->count > 1 || bars ? styles[panel->style] : alone);
    if (!d->term)
        pleat_string_addf(d->out, " lw 1.6 lc rgb '%s'", colour_of(d, number));
    if (!d->term && !bars && series->count > 1)
        pleat_string_addf(d->out, " dt %zu", number % DASH_COUNT + 1);
    pleat_string_add(d->out, series->title && panel->series_count > 1 ? " title " : " notitle");
    if (series->title && panel->series_count > 1)
        add_text(d, series->title);
}

static void add_empty(const struct pleat_drawing *d)
{
    add_title(d);
    pleat_string_add(d->out, "unset tics\nset xrange [0:1]\nset yrange [0:1]\n"
                             "set label 2 'nothing to show' at graph 0.5, graph 0.5 center\n"
                             "plot 2 notitle\n");
}

int pleat_plot_add_panel(struct pleat_drawing *d)
{
    measure(d);
    add_look(d);
    if (d->shown == 0) {
        add_empty(d);
        return 0;
    }
    if (add_data(d))
        return PLEAT_E_NOMEM;
    add_axes(d);
    if (d->panel->style == PLEAT_PLOT_BARS)
        pleat_string_addf(d->out, "set boxwidth %.12g absolute\n",
                          d->slot_width * 0.86 / (double)d->panel->series_count);
    bool bands = add_bands(d);
    for (size_t i = 0; i < d->panel->series_count; i++)
        add_series(d, i, !bands && i == 0);
    add_whiskers(d);
    pleat_string_add(d->out, "\n");
    return 0;
}
