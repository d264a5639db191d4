"""Policies written in Python: those that do what one in C does decide the same; what they may see and do; how they
end a simulation."""

import traceback

import pytest

import pleat.sim as sim


@pytest.fixture(scope="module")
def workload():
    drawn = sim.generate("lublin", jobs=300, machine=64, load=1.1, estimate=2, seed=7)
    return drawn.convert(malleable=0.7, app="amdahl:0.05 adapt=20s resize=2s", seed=2)


class Fpsma(sim.Malleability):
    """Buisson et al. 2007, V-C.1, as src/policy/malleability/fpsma.c."""

    def grow(self, view, site, processors):
        for job in site.malleable:
            if processors <= 0:
                break
            processors -= job.grow(processors)

    def shrink(self, view, site, processors, waiter):
        for job in reversed(site.malleable):
            if processors <= 0:
                break
            processors -= job.shrink(processors)


class Fcfs(sim.Queue):
    def start(self, view):
        for job in view.waiting:
            if not job.start():
                return job
        return None


class Scan(sim.Queue):
    """Any job that fits may start."""

    def start(self, view):
        first = None
        for job in view.waiting:
            if not job.start() and first is None:
                first = job
        return first


class Sjf(sim.Order):
    def key(self, job):
        return job.estimate_s if job.estimate_s is not None else float("inf")


def same(workload, ours, theirs, **common):
    mine, other = (sim.simulate(workload, **options, **common) for options in (ours, theirs))
    assert mine.jobs.equals(other.jobs) and mine.resizes.equals(other.resizes)
    return mine


def test_the_same_policy_in_both_languages_decides_the_same(workload):
    result = same(workload, {"malleability": Fpsma()}, {"malleability": "fpsma"}, approach="pwa", queue="easy")
    assert result.summary["grows"] > 50 and result.summary["shrinks"] > 50
    same(workload, {"malleability": Fpsma()}, {"malleability": "fpsma"}, approach="pra", sites={"a": 40, "b": 24})


@pytest.mark.parametrize("policy, name", [(Fcfs(), "fcfs"), (Scan(), "scan")])
def test_queues_in_both_languages(workload, policy, name):
    same(workload, {"queue": policy}, {"queue": name}, approach="pwa", malleability="egs")


def test_orders_in_both_languages(workload):
    result = same(workload, {"order": Sjf()}, {"order": "sjf"}, queue="fcfs")
    plain = sim.simulate(workload, queue="fcfs")
    assert result.summary["wait_s_mean"] < plain.summary["wait_s_mean"]
    same(workload, {"order": Sjf(), "queue": Fcfs(), "malleability": Fpsma()},
         {"order": "sjf", "queue": "fcfs", "malleability": "fpsma"}, approach="pwa")


def test_a_policy_sees_what_there_is():
    """One malleable job runs on all 8 processors; another one comes, and a third has to wait."""
    seen = []

    class Looks(Fpsma):
        def shrink(self, view, site, processors, waiter):
            running, = site.malleable
            seen.append((view.now_s, site.name, site.capacity, site.idle, processors, running.number, running.processors,
                         running.minimum, running.maximum, running.kind, running.started_s, running.could_shrink,
                         running.resizing, waiter.number, waiter.kind, waiter.least, waiter.submitted_s, waiter.estimate_s,
                         waiter.started_s, waiter.priority, [job.number for job in view.waiting],
                         [job.number for job in site.others]))
            super().shrink(view, site, processors, waiter)
            seen.append(running.processors)

    jobs = sim.from_frame({"job": [5, 6], "submit_s": [0, 10], "run_s": [100, 20], "processors": [8, 3],
                           "estimate_s": [None, 30], "kind": ["malleable", "rigid"], "minimum": [2, 3], "maximum": [8, 3],
                           "priority": [0, 4]}, machine=8)
    result = sim.simulate(jobs, approach="pwa", queue="fcfs", malleability=Looks())
    assert seen[:2] == [(10, "machine", 8, 0, 3, 5, 8, 2, 8, "malleable", 0, True, False, 6, "rigid", 3, 10, 30, None, 4,
                         [6], []), 5]
    assert list(result.jobs.start_s) == [0, 10] and list(result.resizes.to) == [5, 8]


def test_an_exception_ends_the_simulation_with_its_traceback(workload):
    class Wrong(Fpsma):
        def grow(self, view, site, processors):
            raise LookupError("nothing to grow")

    class WrongKey(sim.Order):
        def key(self, job):
            return float("nan")

    with pytest.raises(LookupError, match="nothing to grow") as raised:
        sim.simulate(workload, malleability=Wrong())
    assert "test_sim_policies.py" in traceback.extract_tb(raised.value.__traceback__)[-1].filename
    with pytest.raises(ValueError, match="not a number"):
        sim.simulate(workload, order=WrongKey())
    assert sim.simulate(workload, malleability="egs").summary["done"] == 300  # the next one is not ended


def test_a_view_is_for_its_question_only(workload):
    kept = []

    class Keeps(Fcfs):
        def start(self, view):
            kept[:] = [view, *view.waiting[:1], *view.sites]
            return super().start(view)

    sim.simulate(workload, queue=Keeps())
    view, *rest = kept
    with pytest.raises(RuntimeError, match="only while the policy is asked"):
        view.now_s
    with pytest.raises(RuntimeError, match="only while the policy is asked"):
        rest[-1].idle
    assert repr(rest[-1]) == "<site of an earlier question>"


def test_a_policy_cannot_do_what_it_is_not_asked_for(workload):
    """Offers to jobs that cannot take them, and starts outside of a queue policy, do nothing."""
    class Greedy(sim.Malleability):
        def grow(self, view, site, processors):
            done = [job.shrink(1) for job in site.malleable] + [job.grow(5) for job in site.others]
            done += [job.start() for job in view.waiting] + [job.grow(-3) for job in site.malleable]
            assert not any(done)

    result = sim.simulate(workload, malleability=Greedy(), approach="pwa")
    none = sim.simulate(workload, malleability="none", approach="pwa")
    assert result.jobs.equals(none.jobs) and result.summary["grows"] == 0


def test_what_cannot_be_a_policy_is_refused(workload):
    with pytest.raises(TypeError, match="has no method grow and shrink"):
        sim.simulate(workload, malleability=object())
    with pytest.raises(TypeError, match="placement: the name of a policy is expected"):
        sim.simulate(workload, placement=Fcfs())
