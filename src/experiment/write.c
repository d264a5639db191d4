/* Writes the page of an experiment, and its figures, as files. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "experiment/experiment.h"
#include "figure/replace.h"

static void add_head(const struct pleat_study *study, struct pleat_page *page)
{
    const struct pleat_experiment *experiment = study->experiment;
    pleat_string_addf(&page->text, "# %s\n\n", experiment->title);
    pleat_page_paragraph(page, "%s.", experiment->summary);
    pleat_page_paragraph(page, "From: %s.", experiment->source);
    if (study->quick)
        pleat_page_paragraph(page, "**A quick run, only to see that it works: it says nothing.**");
    pleat_page_paragraph(page,
                         "Written by `pleat experiment %s`, with %zu seed%s from %llu on. %s "
                         "The same seeds give the same page.",
                         experiment->name, study->seeds, study->seeds == 1 ? "" : "s",
                         (unsigned long long)study->seed,
                         study->seeds == 1
                             ? "Numbers are those of one run: there are no intervals."
                             : "Numbers are means over the seeds; after \u00b1 stands "
                               "half of their 95 % confidence interval.");
}

static void add_shapes(const struct pleat_study *study, struct pleat_page *page)
{
    if (study->shapes.count == 0)
        return;
    size_t counts[PLEAT_CLAIMED + 1] = {0};
    for (size_t i = 0; i < study->shapes.count; i++)
        counts[pleat_study_label(&study->shapes.items[i])]++;
    pleat_page_heading(page, "What of the paper is found");
    pleat_page_paragraph(
        page,
        "%zu statements: %zu claimed, %zu fitted, %zu not found. *Claimed*: "
        "it holds, and nothing was chosen so that it holds. *Fitted*: it holds, but a value that "
        "the paper leaves open, or the setting in which it is looked for, was chosen so that "
        "it does: the paper can be right. *Not found*: it does not hold here. Criteria were set "
        "before the runs of this page; some of them after first, exploratory runs, and it was not "
        "recorded for which.",
        study->shapes.count, counts[PLEAT_CLAIMED], counts[PLEAT_FITTED], counts[PLEAT_NOT_FOUND]);
    pleat_page_table(page, "the paper states|<where|<label|<measured");
    for (size_t i = 0; i < study->shapes.count; i++) {
        const struct pleat_shape_found *shape = &study->shapes.items[i];
        pleat_page_cell(page, "%s", shape->statement);
        pleat_page_cell(page, "%s", shape->where);
        enum pleat_label label = pleat_study_label(shape);
        pleat_page_cell(page, label == PLEAT_NOT_FOUND ? "**%s**" : "%s", pleat_label_name(label));
        pleat_page_cell(page, "%s", shape->measured);
    }
    pleat_string_add(&page->text, "\n");
}

/* What holds for all experiments, then for this one. */
static void add_cautions(const struct pleat_study *study, struct pleat_page *page)
{
    pleat_page_heading(page, "What may not be concluded");
    if (study->seeds > 1)
        pleat_page_item(
            page,
            "An interval says how well %zu seeds (where a table says so: fewer) tell the mean of "
            "this model with these inputs. How far the model is from the paper's machines and "
            "programs it does not say; inputs that were taken or guessed are in no interval. A "
            "share of 100 %% of the seeds is only known to be above %.1f %%.",
            study->seeds, 100 - 300.0 / (double)study->seeds);
    else
        pleat_page_item(page, "Anything about other runs: this is one, without intervals.");
    if (study->shapes.count > 1)
        pleat_page_item(
            page,
            "There are %zu statements, each with an interval of its own: one or two that are close "
            "to their bounds may hold, or not hold, by chance. A statement that is not found is "
            "not "
            "refuted: it does not come out of this model.",
            study->shapes.count);
    for (size_t i = 0; study->experiment->cautions && study->experiment->cautions[i]; i++)
        pleat_page_item(page, "%s", study->experiment->cautions[i]);
    pleat_string_add(&page->text, "\n");
}

static int write_figure(const char *folder, const struct pleat_figure *figure,
                        struct pleat_error *err)
{
    struct pleat_string path = {0};
    pleat_string_addf(&path, "%s/%s", folder, figure->name);
    int rc = path.failed ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory")
                         : pleat_replace_text(path.text, &figure->svg, err);
    pleat_string_finish(&path);
    return rc;
}

static int make_folder(const char *path, struct pleat_error *err)
{
    if (mkdir(path, 0777) && errno != EEXIST)
        return pleat_error_sys(err, errno, "cannot make the directory %s", path);
    return 0;
}

/* Makes a directory, with its parents. */
static int make_folders(const char *path, struct pleat_error *err)
{
    struct pleat_string part = {0};
    int rc = 0;
    for (const char *slash = strchr(path + (*path != '\0'), '/'); !rc && slash;
         slash = strchr(slash + 1, '/')) {
        part.length = 0;
        pleat_string_add_bytes(&part, path, (size_t)(slash - path));
        rc = part.failed ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory")
                         : make_folder(part.text, err);
    }
    pleat_string_finish(&part);
    return rc ? rc : make_folder(path, err);
}

static int write_all(const struct pleat_study *study, const char *folder,
                     const struct pleat_string *path, const struct pleat_string *text,
                     struct pleat_error *err)
{
    int rc = make_folder(folder, err);
    for (size_t i = 0; !rc && i < study->page.figures.count; i++)
        rc = write_figure(folder, &study->page.figures.items[i], err);
    return rc ? rc : pleat_replace_text(path->text, text, err);
}

/* Leaves one end of line at the end. */
static void trim(struct pleat_string *text)
{
    while (!text->failed && text->length > 1 && text->text[text->length - 2] == '\n')
        text->text[--text->length] = '\0';
}

int pleat_study_write(const struct pleat_study *study, const char *directory,
                      struct pleat_string *path, struct pleat_error *err)
{
    struct pleat_string folder = {0};
    struct pleat_page page = {0};
    add_head(study, &page);
    add_shapes(study, &page);
    add_cautions(study, &page);
    pleat_string_add(&page.text, study->page.text.text ? study->page.text.text : "");
    trim(&page.text);
    pleat_string_addf(&folder, "%s/%s", directory, study->experiment->name);
    pleat_string_addf(path, "%s/%s/page.md", directory, study->experiment->name);
    int rc = make_folders(directory, err);
    if (!rc && (folder.failed || path->failed || page.text.failed || study->page.text.failed))
        rc = pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the page");
    if (!rc)
        rc = write_all(study, folder.text, path, &page.text, err);
    pleat_page_finish(&page);
    pleat_string_finish(&folder);
    return rc;
}
