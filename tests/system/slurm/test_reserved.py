"""Nodes that Slurm keeps for others, and nodes that are drained: what is said of them, and that nothing is placed there."""

import pytest

from clusters import wait_until
from clusters.pleat import Pleat, go_file, until_file
from clusters.world import USER
from test_adapter import WAYS, speaking
from test_malleable import TIMES, allocations, begun, ends, on
from test_taken import resizes


@pytest.fixture(name="cluster", scope="module")
def fixture_cluster(three):
    """Of three nodes with two processors each the second is reserved for root, and the third is drained."""
    three.command("scontrol", "create", "reservation", "ReservationName=theirs", "StartTime=now", "Duration=60", "Users=root",
                  "Nodes=a2")
    three.command("scontrol", "update", "NodeName=a3", "State=drain", "Reason=a test")
    wait_until(lambda: three.states() == {"a1": "idle", "a2": "reserved", "a3": "drained"}, f"so it is: {three.states()}")
    yield three


@pytest.fixture(name="pleat", scope="module")
def fixture_pleat(cluster):
    pleat = Pleat(cluster, f'kind = slurm conf = "{cluster.conf}" partition = main', ["srun"], more=TIMES)
    yield pleat
    pleat.finish()


@pytest.mark.parametrize("way", WAYS)
def test_the_adapter_says_so(cluster, way):
    with speaking(cluster, way) as adapter:
        told = {node["name"]: (node["state"], node["used"], node.get("reservations")) for node in adapter.ask("nodes")["nodes"]}
        assert told == {"a1": ("idle", 0, None), "a2": ("reserved", 0, "theirs"), "a3": ("drained", 0, None)}


def nodes(pleat):
    [site] = pleat.ask("sites", "--nodes")["sites"]
    return {node["name"]: (node["state"], node["free"]) for node in site["nodes"] or ()}


def test_what_is_said_of_them(pleat):
    wait_until(lambda: nodes(pleat) == {"a1": ("ok", 2), "a2": ("reserved", 0), "a3": ("drained", 0)}, "it is known which are open")
    line = ["site", "c1: slurm, 6 processors on 3 nodes: 0 used, 0 used by others, 2 reserved, 2 drained, 2 free"]
    assert line in pleat.entries("info", "c1"), pleat.entries("info", "c1")
    # a drained node has no processors for Pleat; those of a reservation are there, and others have them
    wait_until(lambda: [(site["processors"], site["background"], site["free"]) for site in pleat.ask("sites")["sites"]] ==
               [(4, 2, 2)], f"two of four are free: {pleat.ask('sites')}")


def test_what_is_placed(pleat):
    """A job that does not grow onto them, and has not even asked; one that waits in Slurm's queue. Both have their processors
    when the reservation is over."""
    cluster, go, later = pleat.cluster, go_file("go-reserved"), go_file("go-after-it")
    job, there = begun(pleat, "mpich", "loop", go)
    assert list(there) == ["a1"] and allocations(pleat) == [("a1", 2)]
    waits = pleat.submit(*until_file(later))
    wait_until(lambda: "PENDING" in cluster.jobs().values(), f"it waits in Slurm's queue: {cluster.jobs()} {pleat.log()}")
    assert pleat.job(waits)["state"] not in ("running", "failed") and allocations(pleat) == [("a1", 2)]
    pleat.run("cancel", waits)
    pleat.until(waits, "cancelled")
    pleat.run("limits", job, "--max", 4)
    pleat.run("info", "c1")
    assert pleat.job(job)["processors"] == 2 and resizes(pleat, job) == [], pleat.events(job)
    cluster.command("scontrol", "delete", "ReservationName=theirs")
    there = on(pleat, job, "loop", 4)
    assert set(there) == {"a1", "a2"}, there
    assert [(was, size, outcome) for was, size, _, outcome in resizes(pleat, job)] == [(2, 4, "grown")], pleat.events(job)
    cluster.command("scontrol", "update", "NodeName=a3", "State=resume")
    wait_until(lambda: nodes(pleat)["a3"] == ("ok", 2), "the third node is open again")
    after = pleat.submit(*until_file(later))
    pleat.until(after, "running")
    wait_until(lambda: pleat.output(after) == "a3\n", f"it is there: {pleat.log()}")
    cluster.world.path(later).touch()
    pleat.until(after, "done")
    ends(pleat, job, go)


@pytest.mark.parametrize("by", ["auto", "commands"])
def test_a_reservation_of_its_own(pleat, by):
    """The site says which; its jobs are on those nodes, and on no others. That of somebody else is refused in Slurm's words."""
    cluster, options = pleat.cluster, f"by = {by} partition = main limit_s = 600"
    for name, user, node in (("mine", USER, "a2"), ("roots", "root", "a3")):
        cluster.command("scontrol", "create", "reservation", f"ReservationName={name}", "StartTime=now", "Duration=60",
                        f"Users={user}", f"Nodes={node}")
        pleat.run("site", "add", f"of-{name}", "kind=slurm", f"conf={cluster.conf}", *options.replace(" = ", "=").split(),
                  f"reservation={name}")
    wait_until(lambda: set(cluster.states().values()) == {"idle", "reserved"}, "they have begun")

    def states(name):
        [found] = [site for site in pleat.ask("sites", "--nodes")["sites"] if site["name"] == name]
        return [(node["state"], node["free"]) for node in found["nodes"] or ()]

    for name, open_ones in (("of-mine", [("outside", 0), ("ok", 2), ("outside", 0)]),
                            ("of-roots", [("outside", 0), ("outside", 0), ("ok", 2)])):
        wait_until(lambda name=name, open_ones=open_ones: states(name) == open_ones, f"the node of {name} is open")
    assert "6 processors on 3 nodes: 0 used, 0 used by others, 4 outside, 2 free" in " ".join(pleat.run("info", "of-mine").stdout.split())
    assert pleat.run("run", "--site", "of-mine", "-n", 2, "--mpi", "none", "hostname").stdout == "a2\n"
    job = pleat.submit("--site", "of-roots", "--", "true")
    ended = pleat.until(job, "failed")
    assert ended["reason"] == "the site cannot claim this" and "eservation" in pleat.events(job), (pleat.events(job), pleat.log())
    for name in ("mine", "roots"):
        pleat.run("site", "remove", f"of-{name}")
        cluster.command("scontrol", "delete", f"ReservationName={name}")
    cluster.until_idle()
