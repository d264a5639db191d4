/* json.c - results as JSON; docs/commands.md lists the names. */
#include <math.h>

#include "cli/sim/metrics.h"

static json_t *real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *summary_json(const struct pleat_summary *summary)
{
    bool any = summary->count > 0;
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "count", (json_int_t)summary->count,
                     "mean", real(any ? summary->mean : (double)NAN), "deviation",
                     real(any ? summary->deviation : (double)NAN), "least",
                     real(any ? summary->least : (double)NAN), "median",
                     real(any ? summary->median : (double)NAN), "p95",
                     real(any ? summary->p95 : (double)NAN), "most",
                     real(any ? summary->most : (double)NAN));
}

static json_t *workload_json(const struct pleat_sim_experiment *experiment,
                             const struct pleat_sim_source *source)
{
    const struct pleat_swf_report *report = &source->report;
    const struct pleat_workload *workload = &source->workload;
    json_t *left_out =
        json_pack("{s:I, s:I, s:I, s:I}", "bursts", (json_int_t)report->bursts, "no_submit",
                  (json_int_t)report->no_submit, "no_size", (json_int_t)report->no_size,
                  "no_run_time", (json_int_t)report->no_run_time);
    return json_pack("{s:s, s:I, s:I, s:o, s:I, s:I, s:I, s:I, s:I, s:f}", "file", source->name,
                     "jobs", (json_int_t)workload->jobs.count, "machine",
                     (json_int_t)workload->machine, "left_out", left_out, "zero_run_times",
                     (json_int_t)report->zero_run_time, "unsorted", (json_int_t)report->unsorted,
                     "without_estimate", (json_int_t)report->missing_estimate,
                     "longer_than_estimate", (json_int_t)report->short_run, "extra_columns",
                     (json_int_t)report->extra_columns, "load_factor", experiment->request->load);
}

static json_t *sites_json(const struct pleat_sim_experiment *experiment)
{
    json_t *sites = json_array();
    const struct pleat_sim_sites *all = &experiment->request->platform.sites;
    for (size_t i = 0; i < all->count; i++)
        json_array_append_new(sites,
                              json_pack("{s:s, s:I, s:f}", "name", all->items[i].name, "processors",
                                        (json_int_t)all->items[i].nodes * all->items[i].slots,
                                        "speed", all->items[i].speed));
    return sites;
}

static json_t *policies_json(const struct pleat_sim_combination *combination)
{
    json_t *policies = json_object();
    for (int q = 0; q < PLEAT_QUESTION_COUNT; q++)
        json_object_set_new(policies, pleat_question_name((enum pleat_question)q),
                            json_string(combination->policies[q]->name));
    return policies;
}

static json_t *run_json(const struct pleat_sim_run *run, bool timed)
{
    const struct pleat_sim_totals *totals = &run->totals;
    json_t *jobs = json_object(), *json;
    for (int fate = 0; fate <= PLEAT_SIM_LEFT; fate++)
        json_object_set_new(jobs, pleat_sim_fate_name((enum pleat_sim_fate)fate),
                            json_integer((json_int_t)totals->fates[fate]));
    json = json_pack(
        "{s:o, s:f, s:s, s:I, s:o, s:I, s:I, s:I, s:o, s:o, s:o}", "policies",
        policies_json(run->combination), "malleable_percent", run->combination->malleable * 100,
        "workload", run->workload, "seed", (json_int_t)run->seed, "jobs", jobs, "malleable",
        (json_int_t)run->malleable, "moldable", (json_int_t)run->moldable, "not_measured",
        (json_int_t)run->outside, "wait_s", summary_json(&run->wait_s), "response_s",
        summary_json(&run->response_s), "bounded_slowdown", summary_json(&run->slowdown));
    json_object_set_new(json, "arrivals", real(run->arrivals));
    json_object_set_new(json, "followers", json_integer((json_int_t)totals->followers));
    json_object_set_new(json, "predecessors_missing", json_integer((json_int_t)totals->lost));
    json_object_set_new(json, "begin_s", real((double)totals->begin_us / 1e6));
    json_object_set_new(json, "end_s", real((double)totals->end_us / 1e6));
    json_object_set_new(json, "makespan_s", real(run->makespan_s));
    json_object_set_new(json, "utilization", real(run->utilization));
    json_object_set_new(json, "recorded_processor_s", real(run->work_s));
    json_object_set_new(json, "busy_processor_s", real(totals->busy_us / 1e6));
    json_object_set_new(json, "background_processor_s", real(totals->background_us / 1e6));
    json_object_set_new(json, "capacity_processor_s", real(totals->capacity_us / 1e6));
    json_object_set_new(json, "grows", json_integer((json_int_t)totals->grows));
    json_object_set_new(json, "shrinks", json_integer((json_int_t)totals->shrinks));
    json_object_set_new(json, "resize_s", real(run->stood_s));
    json_object_set_new(json, "resize_processor_s", real(totals->stood_us / 1e6));
    json_object_set_new(json, "wasted_processor_s", real(totals->wasted_us / 1e6));
    json_object_set_new(json, "process_requests", json_integer((json_int_t)totals->requests));
    json_object_set_new(json, "process_requests_satisfied",
                        json_integer((json_int_t)totals->satisfied));
    json_object_set_new(json, "prepared_processor_s", real(totals->prepared_us / 1e6));
    json_object_set_new(json, "asks", json_integer((json_int_t)totals->asks));
    json_object_set_new(json, "asks_granted", json_integer((json_int_t)totals->asks_granted));
    json_object_set_new(json, "asks_partly", json_integer((json_int_t)totals->asks_partly));
    json_object_set_new(json, "asks_refused", json_integer((json_int_t)totals->asks_refused));
    json_object_set_new(json, "asks_to_give", json_integer((json_int_t)totals->gifts));
    json_object_set_new(json, "lacked_s", real(totals->lacked_us / 1e6));
    json_object_set_new(json, "sections", json_integer((json_int_t)totals->sections));
    json_object_set_new(json, "put_off", json_integer((json_int_t)totals->put_off));
    json_object_set_new(json, "allocations", json_integer((json_int_t)totals->allocations));
    json_object_set_new(json, "allocations_expired", json_integer((json_int_t)totals->expired));
    json_object_set_new(json, "queued_s", real(totals->queued_us / 1e6));
    json_object_set_new(json, "passes", json_integer((json_int_t)totals->passes));
    json_object_set_new(json, "decisions", json_integer((json_int_t)totals->decisions));
    if (timed)
        json_object_set_new(json, "elapsed_s", real(run->elapsed_s));
    return json;
}

static json_t *estimate_json(struct pleat_estimate estimate)
{
    return json_pack("{s:o, s:o}", "mean", real(estimate.mean), "half_width", real(estimate.half));
}

/* The results of a combination, over its seeds. */
static json_t *combination_json(const struct pleat_sim_experiment *experiment, size_t combination)
{
    const struct pleat_sim_combination *about =
        &experiment->request->combinations.items[combination];
    const struct pleat_sim_metric *metric;
    bool compared = combination > 0;
    json_t *differences = compared ? json_object() : json_null();
    json_t *json =
        json_pack("{s:s, s:o, s:f, s:b, s:o}", "label", about->label, "policies",
                  policies_json(about), "malleable_percent", about->malleable * 100, "seeds_differ",
                  pleat_sim_seeds_differ(experiment, combination), "difference", differences);
    for (size_t i = 0; json && (metric = pleat_sim_metric_at(i)); i++) {
        struct pleat_estimate of, less;
        if (pleat_sim_metric_over_seeds(experiment, combination, metric, &of) ||
            json_object_set_new(json, metric->name, estimate_json(of)) ||
            (compared && (pleat_sim_metric_difference(experiment, combination, metric, &less) ||
                          json_object_set_new(differences, metric->name, estimate_json(less))))) {
            json_decref(json);
            return NULL;
        }
    }
    return json;
}

json_t *pleat_sim_json(const struct pleat_sim_experiment *experiment, bool timed)
{
    const struct pleat_sim_request *request = experiment->request;
    static const char *const varies[] = {[PLEAT_SIM_SAME_JOBS] = "nothing",
                                         [PLEAT_SIM_CONVERSIONS] = "conversion",
                                         [PLEAT_SIM_ESTIMATES] = "estimates",
                                         [PLEAT_SIM_CONVERSIONS_AND_ESTIMATES] =
                                             "conversion and estimates",
                                         [PLEAT_SIM_WORKLOADS] = "workload"};
    json_t *runs = json_array(), *comparison = json_array(), *workloads = json_array();
    for (size_t i = 0; i < experiment->source_count; i++)
        json_array_append_new(workloads, workload_json(experiment, &experiment->sources[i]));
    for (size_t i = 0; i < experiment->run_count; i++)
        json_array_append_new(runs, run_json(&experiment->runs[i], timed));
    for (size_t i = 0; i < request->combinations.count; i++)
        json_array_append_new(comparison, combination_json(experiment, i));
    return json_pack("{s:o, s:o, s:o, s:s, s:b, s:b, s:b, s:f, s:f, s:I, s:I, s:s, s:o, s:o, s:o}",
                     "workload", workload_json(experiment, &experiment->sources[0]), "workloads",
                     workloads, "sites", sites_json(experiment), "estimates",
                     request->popular.wanted                       ? "popular"
                     : request->estimates == PLEAT_ESTIMATES_EXACT ? "exact"
                                                                   : "given",
                     "kill_at_estimate", request->kill_at_estimate, "hold_load", request->hold_load,
                     "feedback", request->feedback, "noise", request->noise, "tau_s",
                     PLEAT_SIM_TAU_S, "seed", (json_int_t)request->seed, "seeds",
                     (json_int_t)request->seeds, "seeds_vary", varies[experiment->variation],
                     "measured",
                     json_pack("{s:f, s:f, s:f, s:f}", "warmup_share", request->warmup.share,
                               "warmup_s", request->warmup.seconds, "cooldown_share",
                               request->cooldown.share, "cooldown_s", request->cooldown.seconds),
                     "runs", runs, "comparison", comparison);
}
