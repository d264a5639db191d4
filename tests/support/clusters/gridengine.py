"""A Grid Engine cluster in a world: a host with its qmaster, and hosts with an execution daemon each.

    with World(GridEngine.hosts("g", 2)) as world:
        g = GridEngine(world, "g", nodes=2)
        g.start()

Host g0 has the qmaster, and is where users log in; g1, g2, ... are nodes. All that Grid Engine writes is in the world's own
file system; of the packages only the programs are used."""

import datetime
import pathlib
import re
import signal
import subprocess
import xml.etree.ElementTree

from patience import PATIENCE

from .world import SHARED, USER, wait_until

PROGRAMS = ("sge_qmaster", "sge_execd", "qsub", "qstat", "qhost", "qdel", "qconf", "qrsh")
INSTALLED = "/var/lib/gridengine"  # links to the programs
INIT = "/usr/share/gridengine/scripts/init_cluster"
# Each command of Grid Engine is a script that asks this one what machine this is, which tries the compiler and the loader to know it.
ARCH = "/usr/share/gridengine/util/arch"
PORT = 6444
BOOTSTRAP = """\
admin_user root
default_domain none
ignore_fqdn false
spooling_method berkeleydb
spooling_lib libspoolb
spooling_params {dir}/db
binary_path /usr/sbin
qmaster_spool_dir {dir}/spool/qmaster
security_mode none
listener_threads 2
worker_threads 2
scheduler_threads 1
"""
# what differs from the usual configuration; jobs of root's are let run, as tests have no others' accounts
CONFIG = {"execd_spool_dir": "{dir}/spool/execd", "min_uid": "0", "min_gid": "0", "load_report_time": "00:00:02",
          "max_unheard": str(datetime.timedelta(seconds=round(8 * PATIENCE))), "mailer": "/bin/true"}
SCHEDULER = {"schedule_interval": "0:0:1", "flush_submit_sec": "1", "flush_finish_sec": "1", "job_load_adjustments": "NONE"}
ENVIRONMENT = """\
pe_name {name}
slots 999
user_lists NONE
xuser_lists NONE
start_proc_args NONE
stop_proc_args NONE
allocation_rule {rule}
control_slaves {control}
job_is_first_task FALSE
urgency_slots min
accounting_summary FALSE
qsort_args NONE
"""
# two that cannot be used, so that the right one has to be found
ENVIRONMENTS = {"anywhere": ("$fill_up", "TRUE"), "closed": ("$pe_slots", "FALSE"), "smp": ("$pe_slots", "TRUE")}
LIMITS = "rt cpu fsize data stack core rss vmem".split()
QUEUE = {"seq_no": 0, "load_thresholds": "NONE", "suspend_thresholds": "NONE", "nsuspend": 1, "suspend_interval": "00:05:00",
         "priority": 0, "min_cpu_interval": "00:05:00", "processors": "UNDEFINED", "qtype": "BATCH", "ckpt_list": "NONE",
         "pe_list": " ".join(ENVIRONMENTS), "rerun": "FALSE", "tmpdir": "/tmp", "shell": "/bin/sh", "prolog": "NONE",
         "epilog": "NONE", "shell_start_mode": "unix_behavior", "starter_method": "NONE", "suspend_method": "NONE",
         "resume_method": "NONE", "terminate_method": "NONE", "notify": "00:00:12", "owner_list": "NONE", "user_lists": "NONE",
         "xuser_lists": "NONE", "subordinate_list": "NONE", "complex_values": "NONE", "projects": "NONE", "xprojects": "NONE",
         "calendar": "NONE", "initial_state": "default",
         **{f"{kind}_{what}": "INFINITY" for what in LIMITS for kind in "sh"}}


def changed(text, values):
    """What qconf shows of a configuration, with other values of some names."""
    lines = text.replace("\\\n", " ").splitlines()
    kept = [line for line in lines if line and line[0] != "#" and line.split()[0] not in values]
    return "\n".join([*kept, *(f"{name} {value}" for name, value in values.items())]) + "\n"


def known_machine():
    """`instead` of a world: ARCH says at once what it says. So a command takes 10 ms of a processor there, not 70."""
    if not pathlib.Path(ARCH).exists():
        return {}
    said = subprocess.run([ARCH], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    return {ARCH: f"#!/bin/sh\necho {said}\n"}


class GridEngine:
    @staticmethod
    def hosts(name, nodes):
        return [f"{name}{number}" for number in range(nodes + 1)]

    def __init__(self, world, name, nodes=2, cpus=4, **queue):
        """queue: of its queue, what is to be other than QUEUE."""
        self.world, self.name, self.cpus, self.queue = world, name, cpus, queue
        self.head = world[f"{name}0"]
        self.nodes = [world[f"{name}{number}"] for number in range(1, nodes + 1)]
        self.dir = f"{SHARED}/{name}"
        self.env = {"SGE_ROOT": self.dir, "SGE_CELL": "default"}
        self.adapter = ["pleat-gridengine", "--root", self.dir]
        self.qmaster = None
        common = f"{self.dir}/default/common"
        world.run("bash", "-c", 'umask 022; mkdir -p "$@"', "mkdir", common, f"{self.dir}/spool/qmaster/job_scripts",
                  f"{self.dir}/spool/execd", f"{self.dir}/db", f"{self.dir}/log")
        world.run("ln", "-s", *(f"{INSTALLED}/{part}" for part in ("bin", "lib", "util", "utilbin")), self.dir)
        self.write("default/common/bootstrap", BOOTSTRAP.format(dir=self.dir))
        self.write("default/common/act_qmaster", f"{name}0\n")
        self.write("default/common/cluster_name", f"{name}\n")

    def write(self, name, text):
        """Its path in the hosts."""
        path = self.world.path(f"{self.dir}/{name}")
        path.write_text(text)
        path.chmod(0o644)
        return f"{self.dir}/{name}"

    def start(self):
        """Begins to start all of it; until_idle waits for it."""
        self.head.run(INIT, self.dir, "default", f"{self.dir}/db", "root")
        self.start_qmaster()
        self.configure()
        for host in self.nodes:
            self.start_node(host)

    def start_qmaster(self):
        self.qmaster = self.daemon(self.head, "sge_qmaster")
        wait_until(lambda: self.listens() or self.qmaster.has_ended(), f"the qmaster of {self.name} listens")
        assert not self.qmaster.has_ended(), self.world.path(f"{self.dir}/log/{self.head.name}.out").read_text()

    def daemon(self, host, program):
        with open(self.world.path(f"{self.dir}/log/{host.name}.out"), "ab") as out:
            daemon = host.start(program, env=self.env | {"SGE_ND": "1"}, stdout=out, stderr=out)
        self.world.daemons.append(daemon)
        return daemon

    def listens(self):
        return self.world.run("bash", "-c", f": </dev/tcp/{self.name}0/{PORT}", check=False).returncode == 0

    def start_node(self, host):
        self.daemon(host, "sge_execd")

    def configure(self):
        names = [host.name for host in self.nodes]
        self.command("qconf", "-ah", ",".join(names))
        self.command("qconf", "-as", self.head.name)
        config = {name: value.format(dir=self.dir) for name, value in CONFIG.items()}
        self.command("qconf", "-Mconf", self.write("global", changed(self.command("qconf", "-sconf"), config)))
        self.command("qconf", "-Msconf", self.write("scheduler", changed(self.command("qconf", "-ssconf"), SCHEDULER)))
        self.command("qconf", "-Ahgrp", self.write("hosts", f"group_name @allhosts\nhostlist {' '.join(names)}\n"))
        for name, (rule, control) in ENVIRONMENTS.items():
            text = ENVIRONMENT.format(name=name, rule=rule, control=control)
            self.command("qconf", "-Ap", self.write(f"environment-{name}", text))
        self.add_queue("all.q", **self.queue)

    def add_queue(self, name, **settings):
        values = QUEUE | {"slots": self.cpus} | settings
        lines = "".join(f"{key} {value}\n" for key, value in values.items())
        self.command("qconf", "-Aq", self.write(f"queue-{name}", f"qname {name}\nhostlist @allhosts\n{lines}"))

    def kill_qmaster(self):
        """It is gone at once; what it has not written is lost."""
        self.qmaster.kill()

    def freeze_qmaster(self):
        """It takes connections, and answers nothing."""
        self.qmaster.signal(signal.SIGSTOP)

    def thaw_qmaster(self):
        self.qmaster.signal(signal.SIGCONT)

    def command(self, *words, user=None, check=True, text_in=None, env=None):
        """What a command of Grid Engine says on its first host."""
        done = self.head.run(*words, user=user, env=self.env | (env or {}), check=check, text_in=text_in)
        return done.stdout if check else done

    def submit(self, *words, user=None, command=("/bin/sleep", "100000")):
        """Somebody else's job; its number."""
        said = self.command("qsub", "-terse", "-b", "y", "-shell", "n", "-o", "/dev/null", "-e", "/dev/null", "-wd", "/", *words,
                            *command, user=user)
        return said.split()[0]

    def until_idle(self):
        def all_there():
            hosts = xml.etree.ElementTree.fromstring(self.command("qhost", "-xml", "-q")).findall("host")
            states = {host.get("name"): [value.text for value in host.iter("queuevalue") if value.get("name") == "state_string"]
                      for host in hosts}
            return all(states.get(host.name) and not any(states[host.name]) for host in self.nodes)
        wait_until(all_there, f"the nodes of {self.name} are there")

    def all_jobs(self):
        """{job: state, as qstat has it}"""
        root = xml.etree.ElementTree.fromstring(self.command("qstat", "-xml", "-s", "prs", "-u", "*"))
        return {job.findtext("JB_job_number"): job.findtext("state") for job in root.iter("job_list")}

    def jobs(self):
        """{job: state} of those that are not over or deleted."""
        return {job: state for job, state in self.all_jobs().items() if "d" not in state}

    def until_empty(self):
        """What is deleted may still have its slots for a moment: see until_free."""
        wait_until(lambda: not self.jobs(), f"no job in {self.name}")

    def until_free(self):
        wait_until(lambda: not self.all_jobs(), f"no slot of {self.name} is taken")

    def host_of(self, job):
        """The node on which a job runs; None: it does not."""
        root = xml.etree.ElementTree.fromstring(self.command("qstat", "-xml", "-s", "prs", "-u", "*"))
        for row in root.iter("job_list"):
            if row.findtext("JB_job_number") == str(job):
                found = re.fullmatch(r".+@(.+)", row.findtext("queue_name") or "")
                return found and found.group(1)
        return None

    def as_user(self, *words, **options):
        """Starts it on the first host, as an ordinary user (Process)."""
        return self.head.start(*words, user=USER, env=self.env | options.pop("env", {}), **options)
