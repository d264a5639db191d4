"""Accounts of Slurm clusters in a world: a MariaDB server and a slurmdbd on one of its hosts.

    accounts = Accounts(world["a0"])
    accounts.start()
    slurm = Slurm(world, "a", **accounts.settings)

All that the server writes is in a directory of its own, in the world's own file system. It runs as the ordinary user, listens
at a socket in that directory alone, and is gone with the world."""

from .world import SHARED, USER, wait_until

PROGRAMS = ("mariadbd", "slurmdbd", "sacctmgr", "sacct")
TABLES = ("/usr/share/mysql/mysql_system_tables.sql", "/usr/share/mysql/mysql_performance_tables.sql")
PORT = 6819
# little of everything: there is nothing to be kept
SERVER = ("--no-defaults", "--skip-networking", "--innodb-log-file-size=4M", "--innodb-buffer-pool-size=16M",
          "--innodb-flush-log-at-trx-commit=0", "--aria-log-file-size=8M", "--aria-pagecache-buffer-size=8M")
CONF = """\
AuthType=auth/munge
AuthInfo=socket={shared}/munge/socket
DbdHost={host}
DbdPort={port}
SlurmUser=root
PidFile={dir}/slurmdbd.pid
LogFile={dir}/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=slurm
"""


class Accounts:
    def __init__(self, host):
        self.world, self.host = host.world, host
        self.dir = f"{SHARED}/accounts"
        self.database = f"{self.dir}/database"
        self.socket = f"{self.database}/socket"
        self.conf = f"{self.dir}/slurmdbd.conf"
        self.settings = {"AccountingStorageType": "accounting_storage/slurmdbd", "AccountingStorageHost": host.name,
                         "AccountingStoragePort": PORT, "AccountingStoragePass": f"{SHARED}/munge/socket",
                         "AccountingStorageEnforce": "associations,limits,qos"}
        self.world.run("bash", "-c", f"mkdir {self.dir} && install -d -m 700 -o {USER} -g {USER} {self.database}")
        path = self.world.path(self.conf)
        path.write_text(CONF.format(shared=SHARED, host=host.name, port=PORT, dir=self.dir))
        path.chmod(0o600)

    def start(self):
        """munge has to run (slurm.start_munge)."""
        self.start_database()
        # it looks for its own configuration beside that of Slurm, which it does not read
        env = {"SLURM_CONF": f"{self.dir}/slurm.conf", "MYSQL_UNIX_PORT": self.socket}
        slurmdbd = self.daemon("slurmdbd", "-D", env=env)
        wait_until(lambda: self.listens() or slurmdbd.has_ended(), "slurmdbd listens")
        assert not slurmdbd.has_ended(), self.said()

    def start_database(self):
        """Who may enter its directory may do anything in it; so it needs no passwords."""
        server = ("mariadbd", *SERVER, f"--datadir={self.database}", f"--socket={self.socket}")
        tables = "".join(["create database mysql;\nuse mysql;\n", *(open(path, encoding="utf-8").read() for path in TABLES)])
        self.host.run(*server, "--bootstrap", user=USER, text_in=tables)
        mariadb = self.daemon(*server, "--skip-grant-tables", user=USER)
        wait_until(lambda: self.world.path(self.socket).exists() or mariadb.has_ended(), "mariadbd listens")
        assert not mariadb.has_ended(), self.said()

    def daemon(self, *words, **options):
        with open(self.world.path(f"{self.dir}/out"), "ab") as out:
            daemon = self.host.start(*words, stdout=out, stderr=out, **options)
        self.world.daemons.append(daemon)
        return daemon

    def said(self):
        log = self.world.path(f"{self.dir}/slurmdbd.log")
        return self.world.path(f"{self.dir}/out").read_text(errors="replace") + (log.read_text() if log.exists() else "")

    def listens(self):
        return self.world.run("bash", "-c", f": </dev/tcp/{self.host.name}/{PORT}", check=False).returncode == 0
