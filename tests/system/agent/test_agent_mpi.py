"""Real MPI launchers under the agent, with the commands that src/launch composes."""

import os
import shutil
import signal
import subprocess

import pytest

from conftest import BUILD, INSTANCE, children_of, is_alive, stat_of, until_no_child, wait_until

LOOP = os.path.join(BUILD, "apps", "loop")
WORDS = os.path.join(BUILD, "tests", "launch-words")

needs_openmpi = pytest.mark.skipif(not shutil.which("mpirun.openmpi"), reason="no Open MPI")
needs_mpich = pytest.mark.skipif(not shutil.which("mpiexec.mpich"), reason="no MPICH")
needs_loop = pytest.mark.skipif(not os.path.exists(LOOP), reason="the applications are not built")


def scratch(run):
    """Where what killed ranks leave of their shared memory goes with the run."""
    return f"/dev/shm/pleat-{INSTANCE}-{run}+local+0+"  # as the mark of the agent says


def start(world, run, how, *program, extra_env=None, **others):
    others["scratch"] = scratch(run)
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/", "LAUNCH_SCRATCH": others["scratch"], **(extra_env or {})}
    out = subprocess.run([WORDS, how, *program], env=env, capture_output=True, check=True).stdout
    argv, _, env = out.decode().partition("\0\0")
    others["env"] = env.split("\0")[:-1]
    world.start(run, *argv.split("\0"), **others)
    return world.daemon.expect("started", run)["pid"]


def errors(world, run):
    with open(world.err_path(run), encoding="utf-8") as file:
        return file.read()


@pytest.mark.parametrize(
    "mpi, variable",
    [
        pytest.param("openmpi", "OMPI_COMM_WORLD_RANK", marks=needs_openmpi),
        pytest.param("mpich", "PMI_RANK", marks=needs_mpich),
    ],
)
def test_launchers(linked, mpi, variable):
    # what a launcher or a batch system around the submission leaves must not matter
    around = {
        "OMPI_COMM_WORLD_RANK": "7",
        "PMIX_NAMESPACE": "1",
        "PMIX_RANK": "7",
        "OMPI_MCA_orte_hnp_uri": "1.0;tcp://127.0.0.1:1",
        "OMPI_MCA_ess": "^singleton",
        "PMI_RANK": "7",
        "PMI_FD": "99",
        "SLURM_JOBID": "5",
        "SLURM_NODELIST": "nowhere",
        "SLURM_NNODES": "1",
    }
    start(linked, 1, f"{mpi}:3", "sh", "-c", f'echo "rank ${variable} $1"', "x", "a b", extra_env=around)
    assert linked.daemon.expect("exited", 1)["code"] == 0, errors(linked, 1)
    assert sorted(linked.output(1).splitlines()) == [f"rank {rank} a b" for rank in range(3)]
    assert errors(linked, 1) == ""
    start(linked, 2, f"{mpi}:2", "sh", "-c", f"exit $((3 + ${variable} - ${variable}))")
    assert linked.daemon.expect("exited", 2)["code"] == 3
    until_no_child(linked)


@needs_openmpi
@needs_loop
def test_grow_and_shrink(linked):
    start(linked, 1, "2", LOOP, "--resizes", "4", "--pause", "2", mailbox_ranks=8)
    linked.daemon.expect("progress", 1, attached=True)
    before = 2
    for resize, target in enumerate([4, 1, 3, 2], start=1):
        linked.daemon.call("resize", run=1, resize=resize, target=target)
        applied = linked.daemon.expect("applied", 1, resize=resize)
        assert applied["processes"] == target
        assert applied["total_us"] > 0
        if target < before and not linked.daemon.seen("exited", 1):
            # after the last resize the program ends, and its end may overtake this
            daemon = linked.daemon
            daemon.pump_until(lambda: daemon.seen("vacated", 1, resize=resize) or daemon.seen("exited", 1), "'vacated'")
        before = target
    exited = linked.daemon.expect("exited", 1)
    assert (exited["code"], exited["signal"], exited["left"]) == (0, 0, 0), errors(linked, 1)
    assert linked.daemon.seen("vacated", 1, resize=2)
    assert not linked.daemon.seen("resize_failed", 1)
    assert errors(linked, 1) == ""
    until_no_child(linked)


def ranks_of(mpirun, count):
    def all_there():
        ranks = [pid for pid, _ in children_of(mpirun)]
        return ranks if len(ranks) == count else None

    return wait_until(all_there, f"{count} ranks")


@needs_openmpi
@needs_loop
def test_kill(linked):
    mpirun = start(linked, 1, "2", LOOP, "--iterations", "1000000000", "--pause", "5", mailbox_ranks=8)
    linked.daemon.expect("progress", 1, attached=True)
    ranks = ranks_of(mpirun, 2)
    linked.daemon.call("kill", run=1, grace_s=5)
    linked.daemon.expect("exited", 1)
    assert not any(is_alive(pid) for pid in ranks)
    until_no_child(linked)


@needs_openmpi
@needs_loop
def test_killed_mpirun_leaves_no_rank(linked):
    mpirun = start(linked, 1, "2", LOOP, "--iterations", "1000000000", "--pause", "5", mailbox_ranks=8)
    linked.daemon.expect("progress", 1, attached=True)
    ranks = ranks_of(mpirun, 2)
    os.kill(mpirun, signal.SIGKILL)
    assert linked.daemon.expect("exited", 1)["signal"] == signal.SIGKILL
    assert not any(is_alive(pid) for pid in ranks)
    assert not os.path.exists(scratch(1))


@needs_openmpi
@needs_loop
def test_ranks_of_a_killed_agent_are_ended(linked):
    mpirun = start(linked, 1, "2", LOOP, "--iterations", "1000000000", "--pause", "5", mailbox_ranks=8)
    linked.daemon.expect("progress", 1, attached=True)
    processes = ranks_of(mpirun, 2) + [mpirun]
    linked.first.kill()
    linked.first.wait()
    assert all(stat_of(pid) for pid in processes)
    assert os.listdir(scratch(1))
    linked.agent()
    linked.daemon.accept()
    assert not any(is_alive(pid) for pid in processes)
    assert not os.path.exists(scratch(1))
