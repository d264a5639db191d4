"""The same small program in C, C++, Fortran and Python: it asks for a process, which sends back what it got; and what the
bindings have is what the header has."""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from standin import BUILD, Agent, Process, wait_until

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
INCLUDE = ROOT / "include"
LIBRARY = BUILD / "lib"
PACKAGE = ROOT / "bindings/python"


def build(tmp, suffix, name="reverse"):
    out = tmp / name
    link = ["-o", out, f"-L{LIBRARY}", "-lpleat-process", f"-Wl,-rpath,{LIBRARY}"]
    source = HERE / f"{name}{suffix}"
    if suffix == ".c":
        command = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}", source]
    elif suffix == ".cpp":
        command = ["g++", "-std=c++11", "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}", source]
    else:
        command = ["gfortran", "-std=f2008", "-Wall", "-Wextra", "-Werror", f"-J{tmp}", INCLUDE / "pleat-process.f90", source]
    subprocess.run([*command, *link], check=True, timeout=120)
    return [out]


@pytest.mark.parametrize("suffix", [".c", ".cpp", ".f90", ".py"])
@pytest.mark.parametrize("prepared", [True, False])
def test_a_process_is_asked_for_and_answers(tmp_path, suffix, prepared, monkeypatch):
    if suffix == ".f90" and not shutil.which("gfortran"):
        pytest.skip("no Fortran compiler")
    program = [sys.executable, HERE / "reverse.py"] if suffix == ".py" else build(tmp_path, suffix)
    monkeypatch.setattr("standin.WORKER", program[0])
    env = {"PYTHONPATH": str(PACKAGE), "PLEAT_PROCESS_LIBRARY": str(LIBRARY / "libpleat-process.so.0"), "PYTHONDONTWRITEBYTECODE": "1"}
    with Agent(arguments=program[1:]) as agent:
        if prepared:
            agent.next = 1
            agent.start(prepared=True, **env)
            wait_until(lambda: 1 in agent.addresses)
            agent.next = 0
        one = agent.start(**env)
        agent.next = max(agent.next, 1)
        if not prepared:
            wait_until(lambda: agent.queue)
            agent.start(number=agent.queue[0][0], **env)
        assert one.line() == ("  4.0  3.0  2.0  1.0" if suffix == ".f90" else "hello")
        other = agent.processes[1]
        assert isinstance(other, Process) and other.child.wait(60) == 0 and one.child.wait(60) == 0
        assert [line for number, line in agent.said if line["do"] == "group" and number == 1][0]["name"] == "reversers"


@pytest.mark.parametrize("suffix", [".cpp", ".f90", ".py"])
def test_a_wish_for_any_site(tmp_path, suffix, monkeypatch):
    """Each language can name a site, or any."""
    if suffix == ".f90" and not shutil.which("gfortran"):
        pytest.skip("no Fortran compiler")
    program = [sys.executable, HERE / "anywhere.py"] if suffix == ".py" else build(tmp_path, suffix, "anywhere")
    monkeypatch.setattr("standin.WORKER", program[0])
    env = {"PYTHONPATH": str(PACKAGE), "PLEAT_PROCESS_LIBRARY": str(LIBRARY / "libpleat-process.so.0"), "PYTHONDONTWRITEBYTECODE": "1"}
    with Agent(arguments=program[1:]) as agent:
        one = agent.start(**env)
        assert one.line() == "asked"
        assert one.child.wait(60) == 0
        added = [line for _, line in agent.said if line["do"] == "add"]
        assert [(line["site"], line.get("argv")) for line in added] == [("*", None), ("there", ["cells", "fine"])]


def test_alone_in_python(monkeypatch):
    script = """if True:
        import select
        from pleat import processes, errors
        with processes.begin(window_messages=2) as all:
            assert (all.begun, all.self, all.parent, all.list()) == (processes.STARTED, 0, None, [0])
            try:
                all.add(["x"])
            except errors.UnsupportedError as error:
                assert "pleat run --evolving" in str(error)
            else:
                raise SystemExit("added")
            assert all.about(0) == processes.About(0, None, processes.State.RUNNING, processes.Reason.NO_REASON, None, None)
            assert not select.select([all], [], [], 0)[0]
            assert all.send(0, b"a", 3) and all.send(0, b"", 4) and not all.send(0, b"c", 5, timeout=0)
            assert select.select([all], [], [], 10)[0]
            assert all.probe(type=4) == (0, 4, b"", 0)
            assert all.receive(type=4, timeout=0) == (0, 4, b"", 0)
            assert all.receive(timeout=0).data == b"a" and all.receive(timeout=0.01) is None
            assert not select.select([all], [], [], 0)[0] and all.notice() is None and not all.leaving
            all.join("g")
            assert all.members("g") == [0] and all.tell("g", b"x") == 0 and all.groups(0) == ["g"] and all.groups(5) == []
            all.leave("g")
            assert all.members("g") == [] and all.groups(0) == []
            all.iteration(1)
            try:
                all.returning(1)
            except errors.UnsupportedError as error:
                assert "pleat run --evolving" in str(error)
            else:
                raise SystemExit("said")
        all.finish()
        try:
            all.list()
        except errors.StateError:
            print("good")
    """
    env = {key: value for key, value in os.environ.items() if not key.startswith("PLEAT_PROCESS")}
    env |= {"PYTHONPATH": str(PACKAGE), "PLEAT_PROCESS_LIBRARY": str(LIBRARY / "libpleat-process.so.0"), "PYTHONDONTWRITEBYTECODE": "1"}
    assert subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=60, check=True).stdout == "good\n"


def exported():
    return set(re.findall(r"\b(pleat_\w+);", (ROOT / "src/process/process.map").read_text()))


def test_each_binding_has_every_function():
    header = re.sub(r"/\*.*?\*/", "", (INCLUDE / "pleat-process.h").read_text(), flags=re.DOTALL)
    assert set(re.findall(r"\b(pleat_process\w+)\(", header)) == exported()
    assert set(re.findall(r"name='(pleat_\w+)'", (INCLUDE / "pleat-process.f90").read_text())) == exported()
    assert exported() <= set(re.findall(r"\bpleat_\w+(?=\()", (INCLUDE / "pleat-process.hpp").read_text()))
    assert exported() <= set(re.findall(r"\bpleat_process\w+", (ROOT / "docs/man/libpleat-process.3.scd").read_text()))
    python = (PACKAGE / "pleat/processes.py").read_text()
    listed = dict(re.findall(r'^    "(pleat_\w+)": \((.*)\),$', python, re.MULTILINE))
    assert set(listed) == exported()
    for name, types in listed.items():
        declared = re.search(rf"\b{name}\(([^;]*?)\)\s*(?:PLEAT_MUST_CHECK)?;", header)[1]
        assert len(types.split(", ")) - 1 == len(declared.split(",")), name
        assert len(re.findall(rf"\b{name}\b", python)) >= 2, f"{name} is declared and not called"


def test_each_binding_has_the_constants(monkeypatch):
    header = re.sub(r"/\*.*?\*/", "", (INCLUDE / "pleat-process.h").read_text(), flags=re.DOTALL)
    values = {name: int(value) for name, value in re.findall(r"\b(PLEAT_PROCESS_\w+)(?: = | \()(-?\d+)", header)}
    fortran = (INCLUDE / "pleat-process.f90").read_text()
    assert {name: int(value) for name, value in re.findall(r"\b(PLEAT_PROCESS_\w+) = (-?\d+)", fortran)} == values
    monkeypatch.syspath_prepend(str(PACKAGE))
    assert importlib.util.find_spec("pleat.processes")
    from pleat import processes
    for enum, prefix in ((processes.Begun, ""), (processes.State, ""), (processes.Reason, ""), (processes.News, "NEWS_")):
        for one in enum:
            assert values[f"PLEAT_PROCESS_{prefix}{one.name}"] == one.value
    any_site = [re.search(r"PLEAT_PROCESS_ANY_SITE(?: =)? ['\"](.*)['\"]", text)[1] for text in (header, fortran)]
    assert any_site == [processes.ANY_SITE] * 2
    assert processes.ANY == values["PLEAT_PROCESS_ANY"] == values["PLEAT_PROCESS_TYPE"]
