"""A Slurm cluster in a world: a host with its controller, and hosts with a slurmd each.

    with World(Slurm.hosts("a", 2)) as world:
        a = Slurm(world, "a", nodes=2)
        a.start()

Host a0 has the controller, and is where users log in; a1, a2, ... are nodes. Several clusters in one world know nothing of
one another, but that their hosts are in one network."""

import signal

from patience import PATIENCE

from .world import SHARED, USER, wait_until

PROGRAMS = ("slurmctld", "slurmd", "munged", "sinfo", "srun", "sbatch", "scontrol", "scancel", "squeue")
PORT = 6817
CONF = """\
ClusterName={name}
SlurmctldHost={name}0
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={shared}/munge/socket
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool/%n
SlurmctldPidFile={dir}/run/slurmctld.pid
SlurmdPidFile={dir}/run/slurmd.%n.pid
SlurmctldLogFile={dir}/log/slurmctld.log
SlurmdLogFile={dir}/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=permit_job_expansion,batch_sched_delay=0,sched_interval=1,bf_interval=1
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
MailProg=/bin/true
SlurmdParameters=config_overrides
KillWait=1
{settings}
NodeName={name}[1-{nodes}] CPUs={cpus} RealMemory={memory} State=UNKNOWN
{partitions}
"""
# what tests may set otherwise. A busy machine must not make a node look dead, or drain it since a process ended late.
SETTINGS = {"SlurmdTimeout": 60, "MessageTimeout": 10, "UnkillableStepTimeout": 60}
# for those in which nodes die: one is down soon after it stopped answering, but not one that is slow
DEAD_SOON = {"SlurmdTimeout": round(4 * PATIENCE), "MessageTimeout": round(3 * PATIENCE)}
# for those in which a controller does not answer: commands and the library give up a few of these times later
IMPATIENT = {"MessageTimeout": round(3 * PATIENCE)}
PARTITIONS = "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP"


def start_munge(world):
    """One for all clusters of a world."""
    if world.path(f"{SHARED}/munge").exists():
        return
    world.run("bash", "-c", f"umask 022; mkdir {SHARED}/munge && cd {SHARED}/munge && umask 077 && head -c 1024 /dev/urandom >key")
    files = [f"--{option}={SHARED}/munge/{name}" for option, name in
             (("key-file", "key"), ("socket", "socket"), ("pid-file", "pid"), ("log-file", "log"), ("seed-file", "seed"))]
    with open(world.path(f"{SHARED}/munge/out"), "ab") as out:
        daemon = world.start("munged", "-F", *files, stdout=out, stderr=out)
    wait_until(lambda: world.path(f"{SHARED}/munge/socket").exists() or daemon.has_ended(), "munged listens")
    assert not daemon.has_ended(), world.path(f"{SHARED}/munge/out").read_text()


class Slurm:
    @staticmethod
    def hosts(name, nodes):
        return [f"{name}{number}" for number in range(nodes + 1)]

    def __init__(self, world, name, nodes=2, cpus=4, memory=1000, partitions=PARTITIONS, **settings):
        self.world, self.name = world, name
        self.head = world[f"{name}0"]
        self.nodes = [world[f"{name}{number}"] for number in range(1, nodes + 1)]
        self.dir = f"{SHARED}/{name}"
        self.conf = f"{self.dir}/slurm.conf"
        self.env = {"SLURM_CONF": self.conf}
        self.adapter = ["pleat-slurm", "--conf", self.conf]
        world.run("mkdir", "-p", *(f"{self.dir}/{part}" for part in ("state", "spool", "run", "log")))
        lines = "\n".join(f"{key}={value}" for key, value in (SETTINGS | settings).items())
        world.path(self.conf).write_text(CONF.format(name=name, port=PORT, dir=self.dir, shared=SHARED, settings=lines,
                                                     nodes=nodes, cpus=cpus, memory=memory, partitions=partitions))
        self.controller = None

    def start(self):
        """Begins to start all of it; until_idle waits for it."""
        start_munge(self.world)
        self.start_controller()
        for host in self.nodes:
            self.start_node(host)

    def start_controller(self):
        self.controller = self.daemon(self.head, "slurmctld", "-i")
        wait_until(lambda: self.listens() or self.controller.has_ended(), f"the controller of {self.name} listens")
        assert not self.controller.has_ended(), self.world.path(f"{self.dir}/log/{self.head.name}.out").read_text()

    def daemon(self, host, program, *options):
        with open(self.world.path(f"{self.dir}/log/{host.name}.out"), "ab") as out:
            daemon = host.start(program, "-D", "-f", self.conf, *options, stdout=out, stderr=out)
        self.world.daemons.append(daemon)
        return daemon

    def listens(self):
        return self.world.run("bash", "-c", f": </dev/tcp/{self.name}0/{PORT}", check=False).returncode == 0

    def start_node(self, host):
        self.daemon(host, "slurmd", "-N", host.name)

    def kill_controller(self):
        """It is gone at once; what it has not written is lost."""
        self.controller.kill()

    def stop_controller(self):
        """In order: its state is written."""
        self.controller.signal(signal.SIGTERM)
        self.controller.wait()

    def freeze_controller(self):
        """It takes connections, and answers nothing."""
        self.controller.signal(signal.SIGSTOP)

    def thaw_controller(self):
        self.controller.signal(signal.SIGCONT)

    def command(self, *words, user=None, check=True, text_in=None, env=None):
        """What a command of Slurm says on its first host."""
        done = self.head.run(*words, user=user, env=self.env | (env or {}), check=check, text_in=text_in)
        return done.stdout if check else done

    def states(self):
        """{node: state}"""
        return dict(line.split() for line in self.command("sinfo", "-h", "-N", "-o", "%N %T").splitlines())

    def until_idle(self):
        wait_until(lambda: set(self.states().values()) == {"idle"}, f"the nodes of {self.name} are idle")

    def jobs(self):
        """{job: state} of those that are not over."""
        return dict(line.split() for line in self.command("squeue", "-h", "-o", "%i %T").splitlines())

    def until_there(self):
        """Waits until the nodes are there; in contrast to until_idle, jobs may have begun on them already."""
        wait_until(lambda: set(self.states().values()) <= {"idle", "mixed", "allocated", "completing"},
                   f"the nodes of {self.name} are there")

    def until_empty(self):
        wait_until(lambda: not self.jobs(), f"no job in {self.name}")

    def must_be_empty(self):
        """After a test, which must leave no job. Where it did, it fails, and those after it do not suffer."""
        try:
            self.until_empty()
        except AssertionError:
            print(self.command("squeue", check=False), self.command("sinfo", "-N", "-l", check=False), self.log()[-3000:])
            self.thaw_controller()
            self.command("scancel", *self.jobs())
            self.until_empty()
            raise

    def log(self):
        return self.world.path(f"{self.dir}/log/slurmctld.log").read_text()

    def as_user(self, *words, **options):
        """Starts it on the first host, as an ordinary user (Process)."""
        return self.head.start(*words, user=USER, env=self.env | options.pop("env", {}), **options)
