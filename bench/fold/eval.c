#include "eval.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "figure/replace.h"
#include "steady.h"

bool eval_wants(const struct eval *eval, enum trial_mpi mpi)
{
    return trial_has(mpi) && (!eval->mpi || !strcmp(eval->mpi, trial_mpi_name(mpi)));
}

const char *eval_mpi_title(enum trial_mpi mpi)
{
    return mpi == TRIAL_OPENMPI ? "Open MPI" : "MPICH";
}

/* ---- what is said of the numbers ---- */

void eval_tell(struct eval *eval, const char *statement, const char *where, enum eval_answer answer,
               const char *measured, ...)
{
    struct eval_shape shape = {.where = where, .answer = answer};
    snprintf(shape.statement, sizeof(shape.statement), "%s", statement);
    va_list arguments;
    va_start(arguments, measured);
    vsnprintf(shape.measured, sizeof(shape.measured), measured, arguments);
    va_end(arguments);
    if (pleat_array_push(&eval->shapes, shape))
        eval->page.text.failed = 1;
}

const char *eval_ratio(const struct bench_paired *ratio, char *text)
{
    if (!ratio->ratios.count || !isfinite(ratio->median)) /* ep: nobody switched at all */
        snprintf(text, EVAL_RATIO_TEXT, "-");
    else if (!isfinite(ratio->upper))
        snprintf(text, EVAL_RATIO_TEXT, "%.2f", ratio->median);
    else
        snprintf(text, EVAL_RATIO_TEXT, "%.2f [%.2f, %.2f]", ratio->median, ratio->lower,
                 ratio->upper);
    return text;
}

void eval_cell(struct pleat_page *page, const struct bench_paired *ratio)
{
    char text[EVAL_RATIO_TEXT];
    pleat_page_cell(page, "%s", eval_ratio(ratio, text));
}

void eval_tell_ratio(struct eval *eval, enum trial_mpi mpi, const char *statement,
                     const char *where, enum eval_answer answer, const char *what,
                     const struct bench_paired *ratio)
{
    char text[EVAL_RATIO_TEXT];
    eval_tell(eval, statement, where, answer, "%s: %s %s", eval_mpi_title(mpi), what,
              eval_ratio(ratio, text));
}

void eval_cell_series(struct pleat_page *page, const struct bench_series *series)
{
    if (!series->count)
        pleat_page_cell(page, "-");
    else
        pleat_page_cell(page, "%.2f [%.2f .. %.2f]", bench_median(series),
                        bench_quantile(series, 0), bench_quantile(series, 1));
}

struct bench_paired eval_mean(const struct bench_paired *ratios, int count)
{
    struct bench_series mean = {.count = 0};
    int rounds = BENCH_REPEATS_MAX;
    for (int i = 0; i < count; i++)
        if (ratios[i].ratios.count < rounds)
            rounds = ratios[i].ratios.count;
    for (int round = 0; count && round < rounds; round++) {
        double sum = 0;
        for (int i = 0; i < count; i++)
            sum += log(ratios[i].ratios.values[round]);
        bench_add(&mean, exp(sum / count));
    }
    return bench_paired_of(&mean);
}

/* ---- the page ---- */

void eval_machine(char *text, size_t size)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[256], model[128] = "?";
    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "model name : %127[^\n]", model) == 1)
            break;
    if (file)
        fclose(file);
    struct utsname name;
    if (uname(&name))
        snprintf(name.release, sizeof(name.release), "?");
    snprintf(text, size, "%s, %d processors of it used; Linux %s", model, CASE_PROCESSORS_MAX,
             name.release);
}

void eval_now(char *text, size_t size)
{
    time_t now = time(NULL);
    strftime(text, size, "%Y-%m-%d %H:%M", localtime(&now));
}

static void add_counts(const struct eval *eval, struct pleat_page *page)
{
    int counts[] = {[EVAL_UNCLEAR] = 0, [EVAL_YES] = 0, [EVAL_NO] = 0};
    for (size_t i = 0; i < eval->shapes.count; i++)
        counts[eval->shapes.items[i].answer]++;
    pleat_page_item(page,
                    "statements looked for: %zu, of which %d hold here, %d do not, and %d are "
                    "unclear",
                    eval->shapes.count, counts[EVAL_YES], counts[EVAL_NO], counts[EVAL_UNCLEAR]);
}

static void add_stalls(struct pleat_page *page)
{
    const struct steady_counts *stalls = steady_counts();
    if (!stalls->runs)
        return;
    pleat_page_item(page,
                    "a thread that only sleeps was woken up to %.2f s late. Where that was more "
                    "than %.0f s the machine stood still, and the run was made again: %d times, "
                    "beside %d runs that count; of %d of these it is so nevertheless",
                    stalls->latest_s, STEADY_STALL_S, stalls->again, stalls->runs, stalls->stalled);
}

static void add_head(const struct eval *eval, struct pleat_page *page, const char *command)
{
    char date[32], machine[EVAL_MACHINE_TEXT];
    double loads[1] = {0};
    eval_now(date, sizeof(date));
    eval_machine(machine, sizeof(machine));
    if (getloadavg(loads, 1) != 1)
        loads[0] = NAN;
    pleat_string_addf(&page->text, "# %s\n\n", eval->about->title);
    pleat_page_paragraph(page, "%s", eval->about->introduction);
    if (eval->quick)
        pleat_page_paragraph(page, "**A quick run, only to see that it works: it says nothing.**");
    pleat_page_paragraph(
        page, "Unlike the other pages this one is measured, not simulated: programs really ran, "
              "and another run gives other numbers. All ways to run a program take turns, each "
              "round has all of them, and they are compared round by round. A ratio is the median "
              "over rounds, in brackets its bounds, each with 95 %% confidence, whatever the "
              "values' distribution; \"unclear\" is what these bounds do not decide.");
    pleat_page_item(page, "machine: %s", machine);
    if (*eval->begun)
        pleat_page_item(page, "date: %s to %s, in one or more goes (`--keep`); rounds: %d",
                        eval->begun, eval->ended, eval->rounds);
    else
        pleat_page_item(page, "date: %s; rounds: %d", date, eval->rounds);
    pleat_page_item(page,
                    "other work on the machine meanwhile: %.2f processors (median over runs; most "
                    "%.2f); load average at the end %.1f",
                    bench_median(&eval->others), bench_quantile(&eval->others, 1), loads[0]);
    add_stalls(page);
    pleat_page_item(page, "made by: `%s`", command);
    add_counts(eval, page);
}

static void add_cautions(const struct eval *eval, struct pleat_page *page)
{
    const char *const *caution = eval->about->cautions;
    if (!caution)
        return;
    pleat_page_heading(page, "What may not be concluded");
    for (; *caution; caution++)
        pleat_page_item(page, "%s", *caution);
}

static void add_shapes(const struct eval *eval, struct pleat_page *page)
{
    static const char *const answers[] = {"unclear", "yes", "**no**"};
    pleat_page_heading(page, "What of the paper is found");
    pleat_page_table(page, "the paper states|<where|<holds here|<measured");
    for (size_t i = 0; i < eval->shapes.count; i++) {
        const struct eval_shape *shape = &eval->shapes.items[i];
        pleat_page_cell(page, "%s", shape->statement);
        pleat_page_cell(page, "%s", shape->where);
        pleat_page_cell(page, "%s", answers[shape->answer]);
        pleat_page_cell(page, "%s", shape->measured);
    }
}

static int make_folder(const char *path, struct pleat_error *err)
{
    if (mkdir(path, 0777) && errno != EEXIST)
        return pleat_error_sys(err, errno, "cannot make the directory %s", path);
    return 0;
}

int eval_prepare(const struct eval *eval, const char *directory, struct pleat_error *err)
{
    char path[1024];
    snprintf(path, sizeof(path), "%.800s/%s", directory, eval->about->name);
    if (make_folder(directory, err) || make_folder(path, err))
        return PLEAT_E_SYSTEM;
    if (access(path, W_OK))
        return pleat_error_sys(err, errno, "cannot write into %s", path);
    return 0;
}

static int write_files(const struct eval *eval, const char *directory,
                       const struct pleat_string *text, struct pleat_error *err)
{
    char path[1024];
    int rc = 0;
    for (size_t i = 0; !rc && i < eval->page.figures.count; i++) {
        const struct pleat_figure *figure = &eval->page.figures.items[i];
        snprintf(path, sizeof(path), "%.800s/%s/%.64s", directory, eval->about->name, figure->name);
        rc = pleat_replace_text(path, &figure->svg, err);
    }
    snprintf(path, sizeof(path), "%.800s/%s/page.md", directory, eval->about->name);
    return rc ? rc : pleat_replace_text(path, text, err);
}

int eval_write(struct eval *eval, const char *directory, const char *command,
               struct pleat_error *err)
{
    struct pleat_page page = {0};
    add_head(eval, &page, command);
    add_shapes(eval, &page);
    add_cautions(eval, &page);
    if (!eval->about->cautions) /* after a table; after items there is an empty line already */
        pleat_string_add(&page.text, "\n");
    pleat_string_add(&page.text, eval->page.text.text ? eval->page.text.text : "");
    while (!page.text.failed && page.text.length > 1 &&
           page.text.text[page.text.length - 2] == '\n')
        page.text.text[--page.text.length] = '\0';
    int rc = page.text.failed || eval->page.text.failed
                 ? pleat_error_set(err, PLEAT_E_NOMEM, "out of memory for the page")
                 : write_files(eval, directory, &page.text, err);
    pleat_page_finish(&page);
    return rc;
}
