"""Evolving jobs with wishes that any of their sites can serve: two agents on this machine, as in test_process_sites.py."""
import os

from conftest import CPUS, KEPT, Evolving, is_alive, wait_until
from test_process_sites import TEXT, begin, free, goes_there, site_of, used_there, waits


def anywhere(job, process, ready=False, speaker=0, **members):
    answer = job.add(speaker, site="*", **members)
    assert (answer["process"], answer["ready"]) == (process, ready), answer


def comes_to(job, process, site):
    job.wait(process, "welcome", state="running")
    assert site_of(job.pid(process)) == site


def fill(pleat, site, processors):
    number = pleat.submit("-n", processors, "--site", site, "--", "sleep", 1000)
    pleat.wait_for(number, "running")
    return number


def test_its_own_site_comes_first_then_the_other(pleat):
    """Wishes for any site are served where a processor is; the job's processors are within its maximum."""
    job = begin(pleat)
    anywhere(job, 1)
    comes_to(job, 1, "here")
    anywhere(job, 2)
    comes_to(job, 2, "there")
    anywhere(job, 3, speaker=2) # one of the other site asks
    comes_to(job, 3, "there")
    job.size(4)
    anywhere(job, 4)
    wait_until(lambda: waits(job)["waits"] == "maximum", f"it waits: {waits(job)}")
    assert "waits_any" not in waits(job)
    pids = [job.pid(process) for process in range(4)]
    assert job.end()["state"] == "done"
    free(pleat)
    assert not any(is_alive(pid) for pid in pids)


def test_the_first_site_with_a_processor_serves_it(pleat):
    """Where none has one it waits, and 'pleat why' says why at each; it comes to the first that has one, and only there."""
    job = begin(pleat)
    own, other = fill(pleat, "here", 1), fill(pleat, "there", 2)
    anywhere(job, 1)
    wait_until(lambda: waits(job)["waits"] == "none free", f"it waits: {waits(job)}")
    assert waits(job)["waits_site"] == "*"
    assert [(one["site"], one["waits"]) for one in waits(job)["waits_any"]] == [("here", "none free"), ("there", "none free")]
    pleat.pleat("site", "drain", "there", check=0)
    wait_until(lambda: waits(job)["waits_any"][1]["waits"] == "drained", f"it waits: {waits(job)}")
    text = pleat.pleat("why", job.job, check=0).stdout
    assert "1 waits: for the first of its sites that has a processor: here: no processor is free; there: the site is drained" in text
    pleat.pleat("site", "resume", "there", check=0)
    pleat.pleat("cancel", other, check=0)
    comes_to(job, 1, "there")
    pleat.pleat("cancel", own, check=0)
    job.size(2)
    third = fill(pleat, "there", 1)
    anywhere(job, 2)
    comes_to(job, 2, "here")
    assert used_there(pleat) == 2
    pleat.pleat("cancel", third, check=0)
    assert job.end()["state"] == "done"
    free(pleat)


def test_sites_are_asked_in_the_order_in_which_they_are_named(pleat):
    """Not in that of the configuration."""
    far = f'site "far" {{ cpus = "{CPUS[-1]}" agents = tcp background = ignore }}\n'
    pleat.configure(text=TEXT + far)
    job = Evolving(pleat, "-n", 1, "--max", 5, "--site", "here", "--sites", "far,here,there")
    job.wait(0, "welcome")
    for process, site in ((1, "here"), (2, "far"), (3, "there"), (4, "there")):
        anywhere(job, process)
        comes_to(job, process, site)
    assert job.end()["state"] == "done"
    free(pleat)


def test_what_is_prepared_is_handed_over_at_once(pleat):
    """Also for a wish that any site can serve; and nothing is kept at another one."""
    job = begin(pleat, KEPT)
    job.wait(1, "welcome", state="prepared")
    anywhere(job, 1, ready=True)
    anywhere(job, 2) # its own site is full
    comes_to(job, 2, "there")
    job.say(0, "stop", process=2)
    job.wait(0, "process", process=2, state="gone", reason="stopped")
    wait_until(lambda: used_there(pleat) == 0, "nothing is kept there")
    assert job.end()["state"] == "done"
    free(pleat)


def test_one_wish_for_that_site_and_one_for_any(pleat):
    """The one that only that site can serve is not kept waiting by the other."""
    job = begin(pleat)
    own, other = fill(pleat, "here", 1), fill(pleat, "there", 2)
    anywhere(job, 1)
    assert job.add(site="there")["process"] == 2
    wait_until(lambda: waits(job)["waiting"] == 2, f"both wait: {waits(job)}")
    text = pleat.pleat("why", job.job, check=0).stdout
    assert "2 wait: for site there: no processor is free; others for the first of its sites that has a processor: here: " in text
    pleat.pleat("cancel", other, check=0)
    comes_to(job, 2, "there")
    comes_to(job, 1, "there")
    pleat.pleat("cancel", own, check=0)
    assert job.end()["state"] == "done"
    free(pleat)


def test_any_site_without_others(pleat):
    """Where the user has named no other site it is the job's own; a node or an architecture cannot be wished with it."""
    pleat.configure(text=TEXT)
    job = Evolving(pleat, "-n", 1, "--max", 4, "--site", "here")
    job.wait(0, "welcome")
    anywhere(job, 1)
    comes_to(job, 1, "here")
    for where in ({"node": "0"}, {"arch": os.uname().machine}):
        text = job.add(site="*", **where)["text"]
        assert "cannot be wished on a certain" in text and "name the site, or none" in text
    anywhere(job, 2)
    wait_until(lambda: waits(job)["waits"] == "none free", f"it waits: {waits(job)}")
    assert [one["site"] for one in waits(job)["waits_any"]] == ["here"]
    assert used_there(pleat) == 0
    assert job.end()["state"] == "done"
    free(pleat)


def test_all_wishes_are_for_any_site(pleat):
    """With --any-site also those that name none; one that names a site, or an architecture, is for that."""
    pleat.configure(text=TEXT)
    job = Evolving(pleat, "-n", 1, "--max", 5, "--site", "here", "--sites", "there", "--any-site")
    job.wait(0, "welcome")
    for process, site in ((1, "here"), (2, "there")):
        assert job.add()["process"] == process
        comes_to(job, process, site)
    assert job.add(site="here")["process"] == 3
    assert job.add(arch=os.uname().machine)["process"] == 4
    wait_until(lambda: waits(job)["waits"] == "none free", f"it waits: {waits(job)}")
    assert waits(job)["waiting"] == 2 and "waits_any" not in waits(job) and used_there(pleat) == 1
    assert job.end()["state"] == "done"
    free(pleat)
    refused = pleat.pleat("submit", "--evolving", "--any-site", "--", "true")
    assert refused.returncode != 0 and "--sites" in refused.stderr, refused.stderr


def test_a_site_that_is_removed_is_passed_over(pleat):
    """The wish waits on, for the sites that are left."""
    pleat.configure(text=TEXT.replace(TEXT.splitlines()[1] + "\n", ""))
    options = {"cpus": f"{CPUS[-1]},{CPUS[-1]}", "agents": "tcp", "background": "ignore"}
    pleat.call("site_add", site="there", options=options)
    job = Evolving(pleat, "-n", 1, "--max", 4, "--site", "here", "--sites", "there")
    job.wait(0, "welcome")
    own = fill(pleat, "here", 1)
    there = goes_there(job, 1)
    other = fill(pleat, "there", 1)
    anywhere(job, 2)
    wait_until(lambda: waits(job)["waits"] == "none free", f"it waits: {waits(job)}")
    pleat.pleat("site", "remove", "--drain", "there", check=0)
    pleat.pleat("cancel", other, check=0)
    wait_until(lambda: used_there(pleat) == 1, "the other job is over")
    assert is_alive(there) and waits(job)["waiting"] == 1
    pleat.pleat("cancel", own, check=0)
    comes_to(job, 2, "here")
    job.say(0, "stop", process=1)
    wait_until(lambda: [site["name"] for site in pleat.call("sites")["sites"]] == ["here"], "it is removed")
    assert job.end()["state"] == "done"


def test_pleatd_is_killed_while_a_wish_for_any_site_waits(pleat):
    """It is asked for again, and comes where there is a processor."""
    job = begin(pleat)
    own, other = fill(pleat, "here", 1), fill(pleat, "there", 2)
    anywhere(job, 1)
    wait_until(lambda: waits(job)["waits"] == "none free", "it waits")
    pleat.kill_daemon()
    pleat.call("info")
    wait_until(lambda: waits(job).get("waits_site") == "*", "it waits on")
    pleat.pleat("cancel", other, check=0)
    comes_to(job, 1, "there")
    job.size(2)
    pleat.pleat("cancel", own, check=0)
    assert job.end()["state"] == "done"
    free(pleat)


def test_a_site_that_cannot_be_reached_is_passed_over(pleat):
    """A process there that does not reach the first one, or the other way, is ended before anybody hears that it is there, and
    the wish is served elsewhere."""
    for variable, why in (("TEST_UNREACHABLE_1", "node 0 of site there does not reach this run's node"),
                          ("TEST_ADDRESS_1", "this run's node does not reach node 0 of site there at tcp://127.0.0.1:1")):
        job = begin(pleat, env=[(variable, "tcp://127.0.0.1:1")])
        own = fill(pleat, "here", 1)
        anywhere(job, 1)
        wait_until(lambda: waits(job).get("waits_any", [{}, {}])[1].get("waits") == "failed", f"it waits: {waits(job)}")
        told = str(pleat.call("events", job=job.job, after=0, limit=1000)["events"])
        assert why in told, told
        said = [line for line in job.heard(0) if line.get("process") == 1 and line.get("state") != "coming"]
        assert [line["do"] for line in said] == ["added"], said
        pleat.pleat("cancel", own, check=0)
        comes_to(job, 1, "here")
        job.size(2)
        assert job.end()["state"] == "done"
        free(pleat)
        for name in os.listdir(job.where):
            os.remove(os.path.join(job.where, name))


def test_a_program_of_its_own_anywhere(pleat):
    """It is executed where a processor is."""
    job = begin(pleat)
    own = fill(pleat, "here", 1)
    anywhere(job, 1, argv=["sh", "-c", "echo at $PLEAT_NODE; exec sleep 1000"])
    job.wait(0, "process", process=1, state="running")
    job.size(2)
    wait_until(lambda: "at there:0" in pleat.output(job.job), "it writes")
    pleat.pleat("cancel", own, check=0)
    assert job.end()["state"] == "done"
    free(pleat)
