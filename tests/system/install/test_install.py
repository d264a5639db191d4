"""cmake --install into a prefix that is then moved; an outside program builds with pkg-config there, in C
and in C++, for each MPI, and runs under the installed pleat, where it grows and shrinks."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
BUILD = pathlib.Path(os.environ["PLEAT_BUILD"])
LIBRARIES = sorted(found[1] for path in (BUILD / "lib").glob("libpleat-*.so")
                   if (found := re.fullmatch(r"libpleat-(openmpi|mpich)\.so", path.name)))
WARNINGS = ["-Wall", "-Wextra", "-Werror"]


def run(*args, env=None, cwd=None, code=0):
    done = subprocess.run([str(arg) for arg in args], env=env, cwd=cwd, timeout=200, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == code, (args, done.stdout, done.stderr)
    return done.stdout


class Installed:
    def __init__(self, base):
        first = base / "first"
        run("cmake", "--install", BUILD, "--prefix", first)
        self.unit = (first / "lib/systemd/user/pleatd.service").read_text()
        assert f"ExecStart={first}/bin/pleatd\n" in self.unit
        # an installed tree may be moved: the rest of the tests uses it elsewhere
        self.prefix = base / "moved"
        first.rename(self.prefix)
        self.base = base
        found = list(self.prefix.glob("lib*/**/libpleat-openmpi.so"))
        assert len(found) == 1
        self.lib = found[0].parent
        self.instance = tempfile.mkdtemp(prefix="pli", dir="/tmp")
        pathlib.Path(self.instance, "pleat.conf").write_text(
            'site "local" { processors = 2  background = ignore }\n')
        self.env = dict(os.environ, PLEAT_DIR=self.instance, LC_ALL="C.UTF-8",
                        PATH=f"{self.prefix}/bin:{os.environ['PATH']}",
                        PKG_CONFIG_PATH=str(self.lib / "pkgconfig"),
                        OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        self.env.pop("LD_LIBRARY_PATH", None)

    def pleat(self, *args, code=0):
        return run("pleat", *args, env=self.env, code=code)

    def config(self, *args):
        return run("pkg-config", *args, env=self.env).split()

    def build(self, compiler, module, *options):
        out = self.base / f"{compiler}-{module}"
        run(compiler, *WARNINGS, *options, HERE / "outside.c", "-o", out,
            *self.config("--cflags", "--libs", module), f"-Wl,-rpath,{self.lib}", env=self.env)
        return out

    def close(self):
        subprocess.run(["pleat", "stop", "--force"], env=self.env, timeout=60)
        shutil.rmtree(self.instance)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    made = Installed(tmp_path_factory.mktemp("installed"))
    yield made
    made.close()


def symbols(library):
    """{name: version} of what a library exports."""
    text = run("nm", "-D", "--defined-only", "--with-symbol-versions", library)
    names = re.findall(r"^\w+ [^A] (\w+)@@(\w+)$", text, re.MULTILINE)
    assert len(names) == len(re.findall(r"^\w+ [^A] ", text, re.MULTILINE)), text
    return dict(names)


@pytest.mark.parametrize("mpi", LIBRARIES)
def test_a_library_exports_its_map_and_nothing_else(installed, mpi):
    listed = re.findall(r"\b(pleat_\w+);", (ROOT / "src/app/pleat.map").read_text())
    assert symbols(installed.lib / f"libpleat-{mpi}.so") == dict.fromkeys(listed, "PLEAT_1")
    dynamic = run("readelf", "-d", installed.lib / f"libpleat-{mpi}.so")
    assert f"soname: [libpleat-{mpi}.so.0]" in dynamic
    assert (installed.lib / f"libpleat-{mpi}.so.0").exists()


def test_the_binary_interface_is_the_recorded_one(installed):
    """abi.c has every exported function with its type; it compiles only while that holds."""
    recorded = re.findall(r"^IS\((\w+),", (HERE / "abi.c").read_text(), re.MULTILINE)
    assert sorted(recorded) == sorted(symbols(installed.lib / f"libpleat-{LIBRARIES[0]}.so"))
    run(f"mpicc.{LIBRARIES[0]}", "-std=gnu11", *WARNINGS, "-fsyntax-only",
        *installed.config("--cflags", f"pleat-{LIBRARIES[0]}"), HERE / "abi.c", env=installed.env)


def test_programs_are_folded_where_it_is_installed(installed):
    """libpleat-fold is found from where pleatd is, though the tree was moved; linked with no MPI."""
    found = sorted(file.name for file in (installed.lib / "pleat").iterdir() if "slurm" not in file.name)
    tried = [f"pleat-try-{mpi}" for mpi in LIBRARIES]
    assert found == sorted([*(f"libpleat-fold-{mpi}.so" for mpi in LIBRARIES), "libpleat-early.so", "libpleat-farewell.so", "libpleat-loopback.so", *tried])
    for name in sorted(set(found) - set(tried)):
        assert "libmpi" not in run("readelf", "-d", installed.lib / "pleat" / name)
    shown = installed.pleat("run", "--processes", "2", "--mpi", LIBRARIES[0], "--",
                            "/bin/sh", "-c", "echo $LD_PRELOAD")
    first = f"{installed.lib}/pleat/libpleat-loopback.so:" if LIBRARIES[0] == "openmpi" else ""
    assert shown == 2 * f"{first}{installed.lib}/pleat/libpleat-fold-{LIBRARIES[0]}.so\n"


def test_the_doctor_finds_all_of_it(installed):
    """Also where the tree was moved, libpleat for each MPI is found, and two ranks of it start."""
    told = json.loads(installed.pleat("doctor", "--json", "programs", *LIBRARIES))["checks"]
    assert {(one["check"], one["subject"]) for one in told if one["state"] == "ok"} >= {
        ("programs", None), *((mpi, what) for mpi in LIBRARIES for what in ("start", "libpleat", "folding"))}


def test_the_adapter_to_slurm_finds_its_module(installed):
    there = (installed.lib / "pleat" / "pleat-slurm-library.so").exists()
    said = subprocess.run([installed.prefix / "bin/pleat-slurm"], input="", capture_output=True, text=True, timeout=60,
                          check=True, env={"PATH": os.environ["PATH"]}).stdout
    assert json.loads(said)["params"]["by"] == ("libslurm" if there else "commands")


def test_the_library_for_processes_works_without_mpi(installed):
    listed = re.findall(r"\b(pleat_\w+);", (ROOT / "src/process/process.map").read_text())
    library = installed.lib / "libpleat-process.so"
    assert symbols(library) == dict.fromkeys(listed, "PLEAT_1")
    dynamic = run("readelf", "-d", library)
    assert "soname: [libpleat-process.so.0]" in dynamic and "libmpi" not in dynamic
    recorded = re.findall(r"^IS\((\w+),", (HERE / "abi-process.c").read_text(), re.MULTILINE)
    assert sorted(recorded) == sorted(listed)
    flags = installed.config("--cflags", "--libs", "pleat-process")
    run("gcc", "-std=gnu11", *WARNINGS, "-fsyntax-only", HERE / "abi-process.c", *flags, env=installed.env)
    examples = HERE.parent / "process_library"
    for compiler, source in (("gcc", "reverse.c"), ("g++", "reverse.cpp")):
        program = installed.base / source.replace(".", "-")
        run(compiler, *WARNINGS, examples / source, "-o", program, *flags, f"-Wl,-rpath,{installed.lib}", env=installed.env)
        # alone it is refused what it asks for
        said = subprocess.run([program], capture_output=True, text=True, timeout=60, env=installed.env)
        assert "start the program by 'pleat run --evolving'" in said.stderr
    module = run("pkg-config", "--variable=fortran", "pleat-process", env=installed.env).strip()
    assert pathlib.Path(module).is_file()


def test_what_is_linked_is_as_the_licences_need_it(installed):
    files = [*(installed.prefix / "bin").iterdir(), *installed.lib.glob("libpleat-*.so")]
    assert len(files) >= 4
    for file in files:
        dynamic = run("readelf", "-d", file)
        assert "RPATH" not in dynamic and "RUNPATH" not in dynamic
        assert ("libgsl" in dynamic) == (file.name in ("pleat", "libpleat-sim.so")), file


def test_everything_has_its_place(installed):
    for name in ("bin/pleat", "bin/pleatd", "bin/pleat-agent", "bin/pleat-pmi", "bin/pleat-remote", "bin/pleat-courier", "bin/pleat-slurm", "bin/pleat-gridengine", "include/pleat.h", "include/pleat-error.h", "include/pleat.f90", "include/pleat.hpp", "include/pleat-data.hpp", "include/pleat-sim.h", "include/pleat-process.h", "include/pleat-process.hpp", "include/pleat-process.f90",
                 "lib/python3/dist-packages/pleat/session.py", "lib/python3/dist-packages/pleat/py.typed", "share/doc/pleat/examples/heat.py",
                 "share/doc/pleat/LICENSE", "share/doc/pleat/user-guide.md",
                 "share/doc/pleat/experiments/README.md", "share/doc/pleat/simulation-from-python.md",
                 "share/doc/pleat/simulation-from-python/series.svg", "lib/python3/dist-packages/pleat/sim/__init__.py",
                 "share/doc/pleat/examples/heat.c"):
        assert (installed.prefix / name).is_file(), name
    if (BUILD / "man").is_dir():
        pages = {path.name for path in (installed.prefix / "share/man").glob("man*/*")}
        assert pages == {path.name for path in (BUILD / "man").iterdir()}
        assert (installed.prefix / "share/man/man3/pleat_rows_create.3").is_file()
    assert not list(installed.prefix.rglob("*.a"))


def test_the_simulator_exports_its_map_and_nothing_else(installed):
    listed = re.findall(r"\b(pleat_\w+);", (ROOT / "src/simlib/simlib.map").read_text())
    assert symbols(installed.lib / "libpleat-sim.so") == dict.fromkeys(listed, "PLEAT_SIM_1")
    assert "soname: [libpleat-sim.so.0]" in run("readelf", "-d", installed.lib / "libpleat-sim.so")


def test_a_program_simulates(installed):
    """The example of the manual page, with pkg-config; and in Python, where the module finds the library though the tree
    was moved."""
    page = (ROOT / "docs/man/libpleat-sim.3.scd").read_text()
    source = installed.base / "simulates.c"
    source.write_text(re.search(r"```\n(#include.*?)```", page, re.DOTALL)[1].replace("\\\\n", "\\n"))
    program = installed.base / "simulates"
    run("gcc", "-std=c99", *WARNINGS, source, "-o", program, *installed.config("--cflags", "--libs", "pleat-sim"),
        f"-Wl,-rpath,{installed.lib}", env=installed.env)
    waits = re.fullmatch(r"fcfs (\d+) s\neasy (\d+) s\n", run(program))
    assert waits and int(waits[1]) > int(waits[2]) > 0
    env = dict(installed.env, PYTHONPATH=str(installed.prefix / "lib/python3/dist-packages"))
    env.pop("PLEAT_SIM_LIBRARY", None)
    said = run("python3", "-c", "import pleat.sim as sim; print(len(sim.generate('simple', jobs=7)))", env=env)
    assert said == "7\n"


def test_the_unit_leaves_jobs_alone(installed):
    assert "\nKillMode=process\n" in installed.unit and "\nOOMPolicy=continue\n" in installed.unit
    assert "@" not in installed.unit.replace("man:", "")


def test_the_installed_programs_find_each_other(installed):
    executable = installed.pleat("run", "--", "sh", "-c",
                                 'readlink "/proc/${PLEAT_AGENT_PID%%:*}/exe"').strip()
    assert executable == str(installed.prefix / "bin/pleat-agent")
    pid = re.search(r'"pid": ?(\d+)', installed.pleat("info", "--json"))[1]
    assert os.readlink(f"/proc/{pid}/exe") == str(installed.prefix / "bin/pleatd")


def grows(installed, program):
    """It is run on one of two processors, gets the other one, and computes what it should."""
    out = installed.pleat("run", "--min", "1", "--max", "2", "--initial", "1", "--", program)
    assert out == "RESULT ok on 2 ranks\n"


def grows_and_shrinks(installed, program):
    """The same, and it is then confined to one."""
    number = installed.pleat("submit", "--min", "1", "--max", "2", "--initial", "1", "--", program, "back").strip()

    def until(what):
        end = time.monotonic() + 60
        while not what(job := json.loads(installed.pleat("show", number, "--json"))):
            assert job["state"] not in ("done", "failed", "cancelled") and time.monotonic() < end, job
            time.sleep(0.02)
        return job

    until(lambda job: job["state"] == "running" and job["processors"] == 2)
    installed.pleat("limits", number, "--max", "1")
    job = until(lambda job: job["state"] == "done")
    assert [r["outcome"] for r in job["history"]["resizes"]] == ["grown", "shrunk"]
    assert installed.pleat("log", number) == "RESULT ok on 1 ranks\n"


@pytest.mark.parametrize("mpi", LIBRARIES)
@pytest.mark.parametrize("language", ["c", "c++"])
def test_an_outside_program_builds_and_changes_its_size(installed, mpi, language):
    compiler = {"c": f"mpicc.{mpi}", "c++": f"mpicxx.{mpi}"}[language]
    options = {"c": ["-std=c99"], "c++": ["-x", "c++", "-std=c++11", "-Wno-cast-function-type"]}[language]
    program = installed.build(compiler, f"pleat-{mpi}", *options)
    grows(installed, program)
    grows_and_shrinks(installed, program)


@pytest.mark.parametrize("mpi", LIBRARIES)
def test_a_fortran_program_builds_with_the_module(installed, mpi):
    if not shutil.which("gfortran") or not shutil.which(f"mpifort.{mpi}"):
        pytest.skip(f"no mpifort.{mpi} with gfortran")
    place = installed.base / f"fortran-{mpi}"
    place.mkdir()
    run(f"mpifort.{mpi}", "-std=f2008", *installed.config("--variable=fortran", f"pleat-{mpi}"),
        ROOT / "examples/jacobi-fortran.f90", "-o", place / "jacobi", *installed.config("--libs", f"pleat-{mpi}"),
        f"-Wl,-rpath,{installed.lib}", env=installed.env, cwd=place)
    assert installed.pleat("run", "-n", 1, "--", place / "jacobi", "20", "10") == "heat 15.832031 on 1 ranks\n"


def test_a_python_program_grows_with_the_module(installed):
    """The module finds the library in the tree where it is, though that was moved."""
    pytest.importorskip("numpy")
    pytest.importorskip("mpi4py")
    if not (BUILD / "python").is_dir():
        pytest.skip("no module for Python in this build")
    module = installed.prefix / "lib/python3/dist-packages"
    env = ["--env", f"PYTHONPATH={module}", "--env", "PYTHONDONTWRITEBYTECODE=1"]
    said = installed.pleat("run", "--mpi", "openmpi", "--malleable", "--min", "1", "--max", "2", "--initial", "1", *env,
                           "--", sys.executable, HERE / "outside.py")
    assert said == "RESULT ok on 2 ranks\n"
    found = installed.pleat("run", *env, "--", sys.executable, "-c",
                            "from pleat import _library; print(_library.load()[0]._name)")
    assert found == f"{installed.lib}/libpleat-openmpi.so.0\n"


def test_the_default_is_one_of_them(installed):
    assert "-lpleat-openmpi" in installed.config("--libs", "pleat")
    program = installed.build("mpicc.openmpi", "pleat")
    assert "libpleat-openmpi.so.0" in run("readelf", "-d", program)
    out = run("mpirun.openmpi", "--oversubscribe", "-n", "2", program, env=installed.env)
    assert out == "RESULT ok on 2 ranks\n"


def test_the_other_mpi_is_refused(installed):
    """A library for Open MPI in a program of MPICH: the header says what it was compiled with."""
    if not shutil.which("mpicc.mpich"):
        pytest.skip("MPICH is not here")
    flags = installed.config("--variable=includedir", "pleat-openmpi")
    program = installed.base / "mixed"
    done = subprocess.run(["mpicc.mpich", str(HERE / "outside.c"), "-o", str(program), f"-I{flags[0]}",
                           f"-L{installed.lib}", "-lpleat-openmpi", f"-Wl,-rpath,{installed.lib}"],
                          env=installed.env, timeout=100, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode == 0:
        done = subprocess.run([str(program)], env=installed.env, timeout=100, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        assert done.returncode != 0 and b"RESULT" not in done.stdout


def test_the_examples_build_where_they_are(installed):
    place = installed.base / "examples"
    shutil.copytree(installed.prefix / "share/doc/pleat/examples", place)
    run("make", "-C", place, "loop", env=dict(installed.env, MPICC="mpicc.openmpi"))
    assert "RESULT ok" in run(place / "loop", "--iterations", "3", env=installed.env)
