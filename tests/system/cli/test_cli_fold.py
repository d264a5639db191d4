"""pleat run --processes: what of a command line is sent, and which programs are refused, and why."""

import os
import pathlib
import shutil
import stat
import subprocess

import pytest

BUILD = pathlib.Path(os.environ["PLEAT_BUILD"])
RING = BUILD / "apps" / "ring"

pytestmark = pytest.mark.skipif(not RING.exists(), reason="built without MPI")


def sent(cli, *args, env=None):
    """The spec, and what is said on stderr."""
    with cli.fake({"submit": lambda params, _: {"job": 5, "warnings": []}}) as fake:
        done = cli("submit", *map(str, args), env=env)
        assert done.returncode == 0, done.stderr
        return fake.asked("submit")[0], done.stderr


def refused(cli, *args, env=None, code=1):
    with cli.fake({"submit": lambda params, _: {"job": 5, "warnings": []}}) as fake:
        done = cli("submit", *map(str, args), env=env)
        assert done.returncode == code, (done.returncode, done.stderr)
        assert fake.asked("submit") == [] and done.stderr.count("\n") == 1
        return done.stderr


def built(tmp_path, name, source, *options):
    (tmp_path / f"{name}.c").write_text(source)
    out = tmp_path / name
    subprocess.run(["gcc", "-o", str(out), str(tmp_path / f"{name}.c"), *options], check=True, timeout=60)
    return out


def test_what_is_sent(cli):
    spec, said = sent(cli, "--processes", 8, "--min", 2, "--max", 4, "--", RING)
    assert (spec["runner"], spec["kind"], spec["mpi"]) == ("folded", "malleable", "openmpi")
    assert (spec["min"], spec["max"], spec["initial"], spec["sizes"]) == (2, 4, 0, "any")
    assert spec["fold"] == {"min": 8, "max": 8, "mpl": 4}
    assert "class" not in spec and said == ""


def test_limits_are_processors_and_sizes_processes(cli):
    spec, _ = sent(cli, "--processes", "1-16", "--sizes", "powers", "--initial", 3, "--", RING)
    assert (spec["min"], spec["max"], spec["initial"], spec["sizes"]) == (1, 16, 3, "powers")
    assert (spec["fold"]["min"], spec["fold"]["max"]) == (1, 16)
    spec, _ = sent(cli, "--processes", "2,4,8", "--max", 100, "--mpl", 3, "--class", "long", "--", RING)
    assert (spec["min"], spec["max"], spec["sizes"], spec["class"]) == (1, 8, "2,4,8", "long")
    assert spec["fold"] == {"min": 2, "max": 8, "mpl": 3}


def test_settings_go_where_they_belong(cli):
    words = "wait=spin,spin=50us,mapping=balance,next=sender,boost"
    spec, _ = sent(cli, "--processes", 2, "--fold", words, "--", RING)
    assert spec["fold"] == {"min": 2, "max": 2, "mpl": 4, "settings": "wait=spin,spin=50us,next=sender",
                            "mapping": "balance", "boost": True}


def test_lines_of_a_batch_script(cli, tmp_path):
    script = tmp_path / "job"
    script.write_text("#!/bin/sh\n#PLEAT --processes 4 --max 2 --class short\npleat launch ring\n")
    spec, _ = sent(cli, script)
    assert (spec["runner"], spec["mpi"], spec["max"], spec["class"]) == ("folded", "none", 2, "short")
    spec, _ = sent(cli, "-n", 3, script)  # the command line wins
    assert (spec["runner"], spec["min"], spec["max"]) == ("plain", 3, 3) and "fold" not in spec


def test_unfolded_it_has_a_processor_for_each(cli):
    spec, said = sent(cli, "--no-fold", "--processes", 8, "--max", 4, "--", RING)
    assert (spec["runner"], spec["kind"], spec["min"], spec["max"]) == ("mpi", "rigid", 8, 8)
    assert "fold" not in spec and "--no-fold" in said
    spec, said = sent(cli, "--no-fold", "--processes", "2,4", "--", RING)
    assert (spec["kind"], spec["min"], spec["max"], spec["sizes"], said) == ("moldable", 2, 4, "2,4", "")


def test_a_word_stands_for_the_number(cli, tmp_path):
    for count in (2, 4):
        shutil.copy(RING, tmp_path / f"cg.B.{count}")
    spec, _ = sent(cli, "--processes", "2,4", "--count-word", "N", "--", tmp_path / "cg.B.N", "NN", "-n=N")
    assert spec["argv"] == [f"{tmp_path}/cg.B.N", "NN", "-n=N"]
    assert spec["fold"]["count_word"] == "N" and spec["mpi"] == "openmpi"
    # a name without a path is looked for in PATH, and the others beside the first
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    spec, _ = sent(cli, "--processes", "2,4", "--count-word", "N", "--", "cg.B.N", env=path)
    assert spec["argv"] == [f"{tmp_path}/cg.B.N"]
    said = refused(cli, "--processes", "2-4", "--count-word", "N", "--", tmp_path / "cg.B.N")
    assert f"there is no program '{tmp_path}/cg.B.3'" in said and "3 processes" in said
    spec, _ = sent(cli, "--processes", 4, "--no-fold", "--count-word", "N", "--", tmp_path / "cg.B.N", "N")
    assert spec["argv"] == [f"{tmp_path}/cg.B.4", "4"] and spec["runner"] == "mpi"


@pytest.mark.parametrize("args, words", [
    (["--mpl", "2"], "--mpl needs --processes"),
    (["--fold", "wait=spin"], "--fold needs --processes"),
    (["--runner", "folded"], "--runner folded needs --processes"),
    (["--processes", "8", "-n", "4"], "leave out -n"),
    (["--processes", "0"], "--processes: '0'"),
    (["--processes", "8-4"], "8 is above 4"),
    (["--processes", "4,2"], "--processes"),
    (["--processes", "2,4", "--sizes", "powers"], "leave out --sizes"),
    (["--processes", "5-7", "--sizes", "powers"], "none is from 5 to 7"),
    (["--processes", "8", "--min", "0"], "one processor at least"),
    (["--processes", "8", "--min", "9"], "--min 9 is above"),
    (["--processes", "8", "--max", "2", "--initial", "3"], "--initial 3 is not from 1 to 2"),
    (["--processes", "8", "--mpl", "300"], "--mpl: '300'"),
    (["--processes", "8", "--fold", "wait=never"], "--fold: "),
    (["--processes", "8", "--fold", "mapping=random"], "none of round-robin, communication, balance"),
    (["--processes", "8", "--moldable"], "leave out --moldable"),
    (["--processes", "8", "--malleable"], "leave out --malleable"),
    (["--processes", "8", "--asks"], "leave out --asks"),
    (["--processes", "8", "--count-word", "N"], "stands nowhere"),
    (["--processes", "8", "--class", "tiny"], "none of: short long"),
    (["--processes", "2,4", "--no-fold", "--count-word", "ring"], "one number of processes"),
])
def test_what_makes_no_sense(cli, args, words):
    done = cli("submit", *args, "--", str(RING))
    assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_no_mpi(cli):
    done = cli("submit", "--processes", "2", "--", "true")
    assert done.returncode == 2 and "not linked with an MPI" in done.stderr
    spec, _ = sent(cli, "--processes", 2, "--mpi", "mpich", "--", "sh", "-c", "exec ring")
    assert (spec["runner"], spec["mpi"]) == ("folded", "mpich")


def test_programs_that_nothing_can_be_preloaded_into(cli, tmp_path):
    program = built(tmp_path, "fixed", "int main(void) { return 0; }\n", "-static")
    said = refused(cli, "--processes", 2, "--mpi", "openmpi", "--", program)
    assert "is linked statically" in said and "--no-fold" in said
    spec, _ = sent(cli, "--processes", 2, "--mpi", "openmpi", "--no-fold", "--", program)
    assert spec["runner"] == "mpi"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_programs_that_run_as_others(cli, tmp_path):
    copy = tmp_path / "ring"
    shutil.copy(RING, copy)
    os.chown(copy, 65534, 65534)
    copy.chmod(0o755 | stat.S_ISUID)
    assert "set-uid" in refused(cli, "--processes", 2, "--", copy)
    copy.chmod(0o755 | stat.S_ISGID)
    assert "set-gid" in refused(cli, "--processes", 2, "--", copy)
    copy.chmod(0o755)
    sent(cli, "--processes", 2, "--", copy)
    try:  # cap_net_raw, permitted and effective: version 2 of the attribute
        os.setxattr(copy, "security.capability",
                    bytes.fromhex("01000002" + "00200000" + "00000000" * 3))
    except OSError:
        return  # this file system keeps none
    assert "capabilities" in refused(cli, "--processes", 2, "--", copy)


def test_what_else_is_preloaded(cli, tmp_path):
    harmless = built(tmp_path, "harmless.so", "int harmless;\n", "-shared", "-fPIC")
    for source in ("int MPI_Send(void) { return 0; }", "int PMPI_Send(void) { return 0; }",
                   "int sched_yield(void) { return 0; }",
                   "unsigned ucp_worker_progress(void *w) { (void)w; return 0; }"):
        clashing = built(tmp_path, "clashing.so", source + "\n", "-shared", "-fPIC")
        said = refused(cli, "--processes", 2, "--", RING,
                       env={"LD_PRELOAD": f"{harmless}:{clashing}"})
        assert str(clashing) in said and "--no-fold" in said
    spec, said = sent(cli, "--processes", 2, "--", RING, env={"LD_PRELOAD": f"{harmless} /no/such.so"})
    assert f"LD_PRELOAD={harmless} /no/such.so" in spec["env"]
    # what the job is not given is no matter
    clash = {"LD_PRELOAD": str(clashing)}
    sent(cli, "--processes", 2, "--export", "none", "--", RING, env=clash)


def test_a_profiler_uses_mpi_and_does_not_take_it_over(cli, tmp_path):
    user = built(tmp_path, "user.so", "int MPI_Finalize(void); int use(void) { return MPI_Finalize(); }\n",
                 "-shared", "-fPIC")
    sent(cli, "--processes", 2, "--", RING, env={"LD_PRELOAD": str(user)})
