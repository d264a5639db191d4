"""libpleat-fold before programs that do not know of it, under the MPI that FOLD_MPI names: what they compute
and what they are told is as without it, and what the wrappers tell is what happened."""

import json
import os
import re
import subprocess

import pytest

BUILD = os.environ.get("PLEAT_BUILD", os.path.join(os.path.dirname(__file__), "../../../build"))
SOURCE = os.path.join(os.path.dirname(__file__), "../../..")
MPI = os.environ.get("FOLD_MPI", "openmpi")
OTHER = "mpich" if MPI == "openmpi" else "openmpi"
TESTS = os.path.join(BUILD, "tests")
LIBRARY = os.path.join(BUILD, "lib", f"libpleat-fold-{MPI}.so")
LIMIT_S = 200  # generous: nothing here is a measurement
RANKS = 4

# What is not in src/fold/calls.def: calls that neither communicate nor wait.
LOCAL = re.compile(
    r"Abort|Add_error_.*|Address|Aint_.*|Alloc_mem|Attr_.*|Buffer_attach|Cart_(coords|get|map|rank|shift)|Cartdim_get"
    r"|Comm_(call_errhandler|compare|create_errhandler|create_keyval|delete_attr|free_keyval|get_.*|group|rank"
    r"|remote_.*|set_attr|set_errhandler|set_name|size|test_inter)|.*_(c2f|f2c)|CONVERSION_FN_NULL|DUP_FN"
    r"|Dims_create|Dist_graph_neighbors.*|Errhandler_.*|Error_.*|F_STATUS.*|Finalized|Free_mem|Get_(address|count|elements.*|library_version|processor_name|version)"
    r"|File_(call_errhandler|create_errhandler|get_(amode|atomicity|byte_offset|errhandler|group|info|position|size"
    r"|type_extent|view)|seek|set_errhandler)|Graph_(get|map|neighbors.*)|Graphdims_get|Grequest_.*|Group_.*|Info_.*"
    r"|Initialized|Is_thread_main|Keyval_.*|.*NULL_(COPY|DELETE)_FN|Op_.*|Pack.*|Pcontrol|Query_thread|Reduce_local"
    r"|Register_datarep|Status_.*|T_.*|Test_cancelled|Topo_test|Type_.*|Unpack.*"
    r"|Win_(attach|call_errhandler|create_errhandler|create_keyval|delete_attr|detach|free_keyval|get_.*|set_attr"
    r"|set_errhandler|set_name|shared_query)|Wtick|Wtime"
)


def functions(library):
    """The names after MPI_ of a library's functions."""
    said = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    return set(re.findall(r" [TWi] (\w+)$", said.stdout, re.M))


def mpi_library(program):
    """The MPI that a program is linked with."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True)
    return re.search(r"(?:libmpi|libmpich)\.so\.\d+ => (\S+)", said.stdout).group(1)


def in_table():
    with open(os.path.join(SOURCE, "src/fold/calls.def"), encoding="utf-8") as file:
        return re.findall(r"^(?:CALL|OWN)\((\w+),", file.read(), re.M)


def program(name, mpi=MPI):
    return os.path.join(TESTS, f"{name}-{mpi}")


def started(command, env, ranks=RANKS, mpi=MPI):
    """The command line that starts `command` on `ranks` ranks, which alone get `env`."""
    if mpi == "openmpi":
        # osc rdma of Open MPI 4.1.4 crashes by itself on one node without single-copy shared memory
        words = ["mpirun.openmpi", "--oversubscribe", "--mca", "osc", "pt2pt,sm"]
        for name, value in env.items():
            words += ["-x", f"{name}={value}"]
    else:
        words = ["mpiexec.mpich"]
        for name, value in env.items():
            words += ["-genv", name, value]
    return words + ["-np", str(ranks), *command]


def environment(directory):
    return dict(
        os.environ,
        OMPI_ALLOW_RUN_AS_ROOT="1",
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
        FOLD_CALLS_DIRECTORY=str(directory),
        TMPDIR=str(directory),
        # where what ranks leave that never call MPI_Finalize goes with the test
        OMPI_MCA_btl_vader_backing_directory=str(directory),
    )


def run(words, directory, may_fail=False):
    done = subprocess.run(
        words, capture_output=True, text=True, env=environment(directory), timeout=LIMIT_S, check=False, stdin=subprocess.DEVNULL
    )
    assert may_fail or done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done


def folded(command, directory, settings="wait=immediate", cpus="0", options=(), may_fail=False):
    """What `command` printed, and what fold-run says about it."""
    fold_run = [os.path.join(BUILD, "bin", "fold-run"), "--processes", str(RANKS), "--cpus", cpus]
    out = directory / "fold-run.json"
    out.unlink(missing_ok=True)
    words = started(command, {"LD_PRELOAD": LIBRARY})
    done = run([*fold_run, "--settings", settings, *options, "--out", str(out), "--", *words], directory, may_fail)
    return done, json.loads(out.read_text())


def recorded(command, directory, preload=(), **more):
    """What `command` printed, and what the wrappers told in each rank, by rank; what was spawned is "-1"."""
    record = os.path.join(TESTS, f"fold-record-{MPI}.so")
    env = {
        "LD_PRELOAD": ":".join([record, *preload]),
        "PLEAT_FOLD": "x",
        "FOLD_RECORD": str(directory / "record"),
        **more,
    }
    done = run(started(command, env), directory)
    told = {}
    for path in directory.glob("record.*"):
        lines = path.read_text().splitlines()
        told[path.name.removeprefix("record.")] = json.loads(lines[0])
        assert len(lines) == 1 or path.name == "record.-1"
    return done, told


def messages(told):
    """From told: sent[i][j] and received[i][j], from i to j."""
    sent = [told[str(i)]["sent"][:RANKS] for i in range(RANKS)]
    received = [[told[str(j)]["received"][i] for j in range(RANKS)] for i in range(RANKS)]
    return sent, received


@pytest.fixture(scope="module", name="plain")
def plain_output(tmp_path_factory):
    """What the program of all calls prints without the library. The same under both MPIs, so under Open MPI's:
    MPICH takes minutes where there are more processes than processors."""
    command = [program("fold-calls", "openmpi")]
    return run(started(command, {}, mpi="openmpi"), tmp_path_factory.mktemp("plain")).stdout


# ---- the table ----


def test_no_call_that_communicates_is_forgotten():
    both = functions(mpi_library(program("fold-calls")))
    if os.path.exists(program("fold-calls", OTHER)):
        both &= functions(mpi_library(program("fold-calls", OTHER)))
    names = {name.removeprefix("MPI_") for name in both if name.startswith("MPI_")}
    known = in_table()
    assert len(known) == len(set(known))
    assert set(known) <= names
    assert sorted(name for name in names - set(known) if not LOCAL.fullmatch(name)) == []
    assert sorted(name for name in known if LOCAL.fullmatch(name)) == []


def test_only_the_calls_of_the_table_are_replaced():
    expected = {prefix + name for name in in_table() for prefix in ("MPI_", "PMPI_")}
    expected.add("pthread_create")
    if MPI == "openmpi":
        expected.add("sched_yield")
    else:
        expected.add("ucp_worker_progress")
        expected |= {f"{name}_Session_{what}" for name in ("MPI", "PMPI") for what in ("init", "finalize")}
    assert functions(LIBRARY) == expected


# ---- results ----


# with its own way of waiting MPICH does not get to the end
@pytest.mark.parametrize("wait", ["auto", "yield", "immediate", "spin", "block"] + ["native"] * (MPI == "openmpi"))
def test_every_call_gives_what_it_gives_without(wait, plain, tmp_path):
    done, said = folded([program("fold-calls")], tmp_path, f"wait={wait}")
    assert done.stdout == plain
    assert len(said["processes"]) == RANKS


def test_every_call_while_the_partition_changes(plain, tmp_path):
    done, _ = folded([program("fold-calls")], tmp_path, "queue=global", cpus="0,1", options=["--alternate", "20ms"])
    assert done.stdout == plain


@pytest.mark.skipif(os.environ.get("PLEAT_SANITIZED", "") != "", reason="the Fortran program is not instrumented")
def test_fortran(tmp_path):
    stencil = os.path.join(BUILD, "apps", "" if MPI == "openmpi" else "mpich", "stencil")
    assert os.path.exists(stencil), "no gfortran?"
    plain = run(started([os.path.join(BUILD, "apps", "stencil")], {}, mpi="openmpi"), tmp_path).stdout
    done, told = recorded([stencil], tmp_path)
    assert done.stdout == plain
    assert sum(sum(rank["sent"]) for rank in told.values()) > 0
    done, said = folded([stencil], tmp_path)
    assert done.stdout == plain
    assert sum(process["switches"] for process in said["processes"]) > 0


# ---- what the wrappers tell ----


def test_every_message_is_told_of_once_and_of_the_right_process(plain, tmp_path):
    done, told = recorded([program("fold-calls")], tmp_path)
    assert done.stdout == plain
    assert sorted(told) == [str(rank) for rank in range(RANKS)]
    assert all(told[rank]["index"] == told[rank]["rank"] == int(rank) for rank in told)
    sent, received = messages(told)
    for to in range(RANKS):
        assert sum(row[to] for row in sent) == sum(row[to] for row in received) + told[str(to)]["received_anybody"]
        for of in range(RANKS):
            assert received[of][to] <= sent[of][to]
        assert told[str(to)]["sent_nobody"] == told[str(to)]["received_nobody"] == 0


def test_waiting_is_told(tmp_path):
    _, told = recorded([program("fold-calls")], tmp_path)
    assert all(rank["waits"] > 0 for rank in told.values())


def test_where_nothing_need_be_told_waits_and_looks_are(plain, tmp_path):
    done, told = recorded([program("fold-calls")], tmp_path, FOLD_RECORD_UNTOLD="1")
    assert done.stdout == plain
    for rank in told.values():
        # of the calls that look only: that they begin, and what they found
        assert sum(rank["sent"]) == rank["activity"] == rank["receiving"] == 0
        assert rank["calls"] > 0
        # that a wait is over is known at the end of its call
        assert rank["waits"] > 0 and rank["progressed"] > 0


@pytest.mark.parametrize("level, takes_part", [("multiple", True), ("serialized", True), ("funneled", False)])
def test_threads_that_may_call_mpi_tell_what_they_do(level, takes_part, tmp_path):
    """Not only the one that called MPI_Init: while any of them waits the process has nothing to do."""
    threads = program("fold-threads")
    said = subprocess.run([threads, "modes"], capture_output=True, text=True, check=True).stdout
    mode = next(line.split()[0] for line in said.splitlines() if line.split()[1] == level)
    done, told = recorded([threads, mode], tmp_path)
    assert done.stdout == f"{mode} is right\n"
    assert all(rank["several"] == takes_part and (rank["beside"] > 0) == takes_part for rank in told.values())


def test_a_tool_between_is_called_and_nothing_told_twice(tmp_path):
    tool = os.path.join(TESTS, f"fold-tool-{MPI}.so")
    done, told = recorded([program("fold-lives"), "tool"], tmp_path, preload=[tool])
    assert "the tool saw 200\n" in done.stdout
    assert [sum(told[str(rank)]["sent"]) for rank in range(RANKS)] == [200] * RANKS


def test_yielding_outside_of_mpi_is_the_programs_own(tmp_path):
    done, told = recorded([program("fold-lives"), "yield"], tmp_path)
    assert done.stdout == "yield is right\n"
    assert all(rank["waits"] < 1000 for rank in told.values())


# ---- lives ----


@pytest.mark.parametrize("mode", ["threads", "fork", "leave"])
@pytest.mark.parametrize("settings", ["wait=immediate", "wait=yield", "wait=block", "queue=global"])
def test_lives(mode, settings, tmp_path):
    # launchers mind that a rank leaves so, and one says so on standard output
    done, _ = folded([program("fold-lives"), mode], tmp_path, settings, may_fail=mode == "leave")
    assert done.stdout.startswith(f"{mode} is right\n") if mode == "leave" else done.stdout == f"{mode} is right\n"


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is only one CPU")
@pytest.mark.parametrize("settings", ["wait=immediate,queue=local", "wait=yield,queue=local"])
def test_threads_may_use_all_processors_of_the_job(settings, tmp_path):
    """In this order: the thread that called MPI_Init, those that it starts, one with a place of its own, one that
    another thread started."""
    cpus = sorted(os.sched_getaffinity(0))[:2]
    for count, expected in (2, "1 2 2 1 2"), (1, "1 1 1 1 1"):
        done, _ = folded([program("fold-lives"), "places"], tmp_path, settings, ",".join(map(str, cpus[:count])))
        assert done.stdout == f"{expected}\nplaces is right\n"


@pytest.mark.skipif(MPI == "openmpi", reason="Open MPI 4.1 has no sessions")
def test_sessions(tmp_path):
    done, said = folded([program("fold-lives"), "session"], tmp_path)
    assert done.stdout == "session is right\n"
    assert said["switches"] > 0


def test_a_forked_child_leaves(tmp_path):
    done, told = recorded([program("fold-lives"), "fork"], tmp_path)
    assert done.stdout == "fork is right\n"
    assert sorted(told) == sorted(prefix + str(rank) for rank in range(RANKS) for prefix in ("", "child-of-"))


@pytest.mark.skipif(MPI == "mpich", reason="MPICH as Debian builds it spawns nothing")
@pytest.mark.parametrize("settings", ["wait=immediate", "queue=global"])
def test_spawned_processes(settings, tmp_path):
    done, _ = folded([program("fold-lives"), "spawn"], tmp_path, settings)
    assert done.stdout == "spawn is right\n"


@pytest.mark.skipif(MPI == "mpich", reason="MPICH as Debian builds it spawns nothing")
def test_spawned_processes_are_nobody(tmp_path):
    done, told = recorded([program("fold-lives"), "spawn"], tmp_path)
    assert done.stdout == "spawn is right\n"
    assert [told[str(rank)]["sent_nobody"] for rank in range(RANKS)] == [1, 1, 0, 0]
    assert [sum(told[str(rank)]["sent"]) for rank in range(RANKS)] == [20] * RANKS
    assert told["-1"]["index"] == told["-1"]["rank"] == -1
    assert (sum(told["-1"]["sent"]), told["-1"]["sent_nobody"]) == (0, 21)


# ---- where it does not belong ----


def test_a_program_of_the_other_mpi_runs_as_without(tmp_path):
    if not os.path.exists(program("fold-calls", OTHER)):
        pytest.skip("there is no other MPI")
    command = [program("fold-calls", OTHER)]
    env = {"LD_PRELOAD": LIBRARY, "PLEAT_FOLD": "/dev/null", "PLEAT_FOLD_VERBOSE": "1"}
    plain = run(started(command, {}, 2, OTHER), tmp_path)
    done = run(started(command, env, 2, OTHER), tmp_path)
    assert done.stdout == plain.stdout
    assert len(re.findall("not folded: the program uses (?:MPICH|Open MPI)", done.stderr)) == 2


@pytest.mark.parametrize("path", ["", "/nowhere", "/dev/null", "/dev/zero", "/etc/passwd", "/proc/self/mem", "\x7f\x01"])
def test_garbage_in_the_environment(path, tmp_path):
    env = {"LD_PRELOAD": LIBRARY, "PLEAT_FOLD": path}
    done = run(started([program("fold-lives"), "tool"], env), tmp_path)
    assert done.stdout == "tool is right\n"
    assert done.stderr == ""


@pytest.mark.skipif(os.environ.get("PLEAT_SANITIZED", "") != "", reason="true is not instrumented")
def test_a_program_without_mpi(tmp_path):
    env = dict(os.environ, LD_PRELOAD=LIBRARY, PLEAT_FOLD="/nowhere", PLEAT_FOLD_VERBOSE="1")
    done = subprocess.run(["sh", "-c", "true; echo done"], env=env, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("done\n", "")
