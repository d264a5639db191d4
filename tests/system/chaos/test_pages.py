"""A page of the log is garbled: each kind of page of each table, by turns. Whether pleatd finds it when it starts or
while it runs, every request is answered, the damaged file is kept aside and named, jobs that waited still wait or are
cancelled with the reason, no number is given twice and nothing runs twice.

    PLEAT_CHAOS_PAGES=all PLEAT_BUILD=build pytest-3 -s tests/system/chaos/test_pages.py     every page, not one of a kind
"""

import concurrent.futures
import contextlib
import glob
import os
import random
import shutil
import signal
import sqlite3

import pytest

from conftest import BUILD, ChaosInstance, Client, Failure, wait_until

AT_ONCE = 6  # they wait for their daemons most of the time
PAGE = 512  # small, so that a short log has pages of all kinds
CONFIG = """
site "local" { processors = 8 }
idle_exit_s = 0
backoff_s = 0.2
checkpoint_records = 400
"""


@pytest.fixture(name="made", scope="module")
def fixture_made():
    """An instance with a log of many pages, of which the daemon has ended; the numbers of its jobs that wait."""
    instance = ChaosInstance()
    try:
        with contextlib.closing(sqlite3.connect(instance.log)) as base:
            base.execute(f"PRAGMA page_size = {PAGE}")
            base.execute("PRAGMA journal_mode = WAL")
        os.chmod(instance.log, 0o600)
        instance.configure(text=CONFIG)
        spec = dict(cwd="/", runner="plain", mpi="none", kind="rigid", min=1, max=1, initial=0, sizes="any", asks=False,
                    site=None)
        ran = ["sh", "-c", f"echo $PLEAT_JOB >>{instance.path('ran')}"]
        with contextlib.closing(instance.client()) as client:
            waiting = [client.call("submit", name="waits", argv=["true", "x" * 700], env=[f"N={i}"], begin_in_s=1e6,
                                   estimate_s=5, **spec)["job"] for i in range(3)]
            first = [client.call("submit", name="early", argv=ran, env=[f"N={i}", "PATH=/bin:/usr/bin"],
                                 estimate_s=0, **spec)["job"]
                     for i in range(40)]
            for number in first:
                client.call("wait", job=number)
            later = [client.call("submit", name="late", argv=ran, env=["PATH=/bin:/usr/bin"], estimate_s=0,
                                 **spec)["job"]
                     for i in range(60)]
            for number in later:
                client.call("wait", job=number)
            client.call("clean", before_s=client.call("job", job=first[20])["end_s"], outputs=False)
            # A checkpoint comes after the end of the jobs, so that nothing of them is lost with a page. It comes when it is due
            # and there is time, up to 500 records after the one before.
            for i in range(1000):
                client.call("configure", policies={"approach": ("pwa", "pra")[i % 2]})
        instance.kill_daemon(signal.SIGTERM)
        wait_until(lambda: not instance.agent_pids(), "the agent has ended")
        instance.instance_id = None
        with contextlib.closing(sqlite3.connect(instance.log)) as base:  # free pages: the daemon's last checkpoint took those left
            base.execute("CREATE TABLE room (x)")
            base.execute("INSERT INTO room VALUES (zeroblob(20000))")
            base.commit()
            base.execute("DROP TABLE room")
            base.commit()
        assert not os.path.exists(instance.log + "-wal")
        yield instance, waiting
    finally:
        instance.clean()


def pages(path):
    """(table, kind, page): one of each kind, or all."""
    found = []
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as base:
        for name, path_, page, kind in base.execute("SELECT name, path, pageno, pagetype FROM dbstat ORDER BY pageno"):
            found.append((name, "root" if path_ == "/" else kind, page))
        count = base.execute("PRAGMA page_count").fetchone()[0]
    with open(path, "rb") as file:
        content = file.read()
    trunk = int.from_bytes(content[32:36], "big")
    used = {page for _, _, page in found}
    found += [("freelist", "trunk" if page == trunk else "free", page) for page in range(1, count + 1) if page not in used]
    if os.environ.get("PLEAT_CHAOS_PAGES") == "all":
        return found
    rng = random.Random(7)
    rng.shuffle(found)
    return sorted({(name, kind): (name, kind, page) for name, kind, page in found}.values())


def garble(path, page):
    with open(path, "r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(random.Random(page).randbytes(PAGE))


def has_newer(path, page):
    """The write-ahead log has that page, too: what is in the file itself is not read any more."""
    with open(path + "-wal", "rb") as file:
        wal = file.read()
    return page in (int.from_bytes(wal[at:at + 4], "big") for at in range(32, len(wal), 24 + PAGE))


def secret(path):
    """From which the names of directories follow that runs have, also those that are relaunched later."""
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as base:
        return base.execute("SELECT value FROM meta WHERE key = 'secret'").fetchone()[0]


def copy(made):
    """Another instance with the same log; it has no agent of its own yet."""
    other = ChaosInstance()
    other.configure(text=CONFIG)
    for name in glob.glob(glob.escape(made.log) + "*"):
        (shutil.copytree if os.path.isdir(name) else shutil.copy)(name, other.path(os.path.basename(name)))
    shutil.copy(made.path("log.mark"), other.path("log.mark"))
    shutil.copytree(made.path("jobs"), other.path("jobs"))
    return other


def ask_everything(instance, waiting, last):
    """Every request is answered; what is said of jobs is true, or that nothing is known."""
    with contextlib.closing(instance.client()) as client:
        client.socket.settimeout(20)
        for job in client.call("jobs", all=True)["jobs"]:
            if job["job"] in waiting:
                assert job["state"] in ("queued", "cancelled"), job
            else:
                assert job["state"] == "done", job
        for job in client.call("history")["jobs"]:
            assert job["state"] == "done" or job["job"] in waiting, job
        for number in [*waiting, *range(30, 40), *range(last - 10, last)]:
            for method in ("job", "why", "wait"):
                if method == "wait" and number in waiting:
                    continue
                try:
                    client.call(method, job=number)
                except Failure as failure:
                    assert "no job" in failure.text or method == "why", failure
        client.call("events", limit=4000)
        client.call("events", limit=100, job=waiting[0])
        client.call("clean", before_s=1e9, dry_run=True)
        number = client.call("submit", name="next", argv=["true"], env=["PATH=/bin:/usr/bin"], cwd="/", runner="plain",
                             mpi="none", kind="rigid", min=1, max=1, initial=0, sizes="any", asks=False, site=None,
                             estimate_s=0)["job"]
        assert number == last + 1
        [job] = client.call("wait", job=number)["jobs"]
        assert job["state"] == "done", job
        return client.call("info")


def one(made, waiting, how, page):
    """how: the page is garbled while pleatd is `away` in order or `dead`, or while it is `alive`."""
    name, kind, number = page
    other = copy(made)
    said = f"{how}, {kind} page {number} of {name}"
    last = 103
    try:
        if how == "dead":
            other.kill_daemon()  # which begins with its being started
        if how == "alive":
            other.call("info")
            other.connection.close()
            other.connection = None
        garble(other.log, number)
        ask_everything(other, waiting, last)
        other.kill_daemon()
        harmless = kind == "free" or has_newer(other.log, number)
        info = ask_everything(other, waiting, last + 1)
        kept = [path for path in glob.glob(glob.escape(other.log) + ".damaged-*") if not path.endswith("-wal")]
        assert harmless or (info["damage"] and kept), said
        assert len(kept) <= 1 and (not kept or kept[0] in info["damage"]), (kept, info["damage"])
        assert info["holding"] is None
        jobs = {job["job"]: job for job in other.call("jobs", all=True)["jobs"]}
        lost = [job for job in waiting if jobs.get(job, {}).get("state") != "queued"]
        for job in lost:
            assert name in ("spec", "shared", "sqlite_schema") or how != "alive", (said, jobs.get(job))
            assert job not in jobs or "lost" in other.job(job)["text"] or "damaged" in other.job(job)["text"], said
        other.instance_id = None  # others have the same, at the same time
        other.finish()
        assert secret(other.log) == secret(made.log), said
        return said, bool(kept), lost
    except BaseException as failure:
        with open(other.path("pleatd.log"), encoding="utf-8", errors="replace") as file:
            raise AssertionError(f"{said}: {failure!r}\n{file.read()}") from failure
    finally:
        other.clean()


def test_each_kind_of_page(made):
    instance, waiting = made
    found = pages(instance.log)
    kinds = {(name, kind) for name, kind, _ in found}
    wanted = {("log", "internal"), ("spec", "root"), ("spec", "overflow"), ("note_job", "leaf"), ("checkpoint", "overflow"),
              ("freelist", "free"), ("freelist", "trunk"), ("shared", "leaf"), ("account", "leaf"), ("shared_hash", "root"),
              ("meta", "root"), ("sqlite_schema", "root"), ("sqlite_sequence", "root"), ("note", "internal")}
    assert wanted <= kinds, wanted - kinds
    cases = [(how, page) for page in found for how in ("away", "dead", "alive")
             if how != "away" or page[0] in ("log", "checkpoint", "meta", "sqlite_schema")]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for result in pool.map(lambda case: one(instance, waiting, *case), cases):
            print(*result)
    with open(instance.path("ran"), encoding="ascii") as file:
        ran = file.read().split()
    assert len(ran) == len(set(ran)) == 100


@pytest.mark.skipif(not os.path.exists(os.path.join(BUILD, "apps", "mpich", "loop")), reason="no MPICH")
def test_a_job_is_relaunched_after_its_instances_values_are_lost(pleat):
    """The key from which names of its directory follow is in the mark, too."""
    pleat.configure()
    number = pleat.submit("--min", 1, "--max", 2, "--initial", 2, "--", os.path.join(BUILD, "apps", "mpich", "loop"),
                          "--pause", "10", "--until", pleat.path("end"))
    wait_until(lambda: (pleat.job(number)["progress"] or {}).get("iteration"), "it computes")
    pleat.kill_daemon()
    before = secret(pleat.log)
    with contextlib.closing(sqlite3.connect(pleat.log)) as base:
        base.execute("DELETE FROM meta")
        base.commit()
    pleat.pleat("shrink", "--wait", number, 1, check=0)
    open(pleat.path("end"), "w", encoding="utf-8").close()
    assert pleat.wait_end(number)["state"] == "done", (pleat.job(number), pleat.output(number, "stderr"))
    assert pleat.output(number).count("RESULT ok") == 1
    pleat.kill_daemon()
    assert secret(pleat.log) == before
