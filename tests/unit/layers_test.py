"""scripts/check-layers must refuse what it is there to refuse. usage: layers_test.py CHECK_LAYERS"""

import os
import subprocess
import sys
import tempfile
import unittest

LAYERS = "# a comment\nbase:\nmodel: base\ncore: model base\nsim: core model base\nstore: model base\n"


class Tree(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.write("cmake/layers.txt", LAYERS)

    def write(self, name, text):
        path = os.path.join(self.directory.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def check(self):
        return subprocess.run([sys.executable, CHECK, self.directory.name], check=False,
                              capture_output=True, text=True)

    def accepted(self):
        done = self.check()
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def refused(self, *starts):
        done = self.check()
        lines = done.stdout.splitlines()
        self.assertEqual(done.returncode, 1, done)
        self.assertEqual(len(lines), len(starts), done.stdout)
        for line, start in zip(lines, starts):
            self.assertTrue(line.startswith(start), f"{line} does not start with {start}")

    def test_right(self):
        self.write("src/base/a.c", '#include "base/a.h"\n#include <time.h>\n#include <sys/stat.h>\n')
        self.write("src/core/c.c", '#include "core.h"\n#include <string.h>\n#include "model/m.h"\n')
        self.write("src/sim/s.c", '#include "core/c.h"\n#include <stdio.h>\n')
        self.write("src/store/s.c", '#include "base/clock.h"\n#include <sqlite3.h>\n')
        self.write("apps/heat/heat.c", '#include <pleat.h>\n#include "grid.h"\n#include <mpi.h>\n'
                                       '#include "common/check.h"\n')
        self.write("apps/heat/grid.h", "")
        self.write("apps/common/check.h", "")
        self.accepted()

    def test_against_the_arrows(self):
        self.write("src/base/a.c", '\n\n#include "model/m.h"\n')
        self.write("src/model/sub/m.h", '#  include   "core/c.h"\n')
        self.write("src/store/s.c", "/* long\n comment */ #include <core/c.h>\n")
        self.refused("src/base/a.c:3: src/base may not include src/model",
                     "src/model/sub/m.h:1: src/model may not include src/core",
                     "src/store/s.c:2: src/store may not include src/core")

    def test_ways_around(self):
        self.write("src/core/c.c", '#include "../store/s.h"\n#include "core/../store/s.h"\n')
        self.write("src/core/d.c", '#if 0\n#include "store/s.h"\n#endif\n')
        self.refused("src/core/c.c:1:", "src/core/c.c:2:", "src/core/d.c:2:")

    def test_comments_are_not_includes(self):
        self.write("src/base/a.c", '/*\n#include "core/c.h"\n*/\n// #include "core/c.h"\n'
                                   'const char *t = "/*";\n#include "base/b.h"\n')
        self.accepted()
        self.write("src/base/a.c", 'const char *t = "/*";\n#include "core/c.h"\n')
        self.refused("src/base/a.c:2:")

    def test_pure(self):
        headers = ["time.h", "unistd.h", "sys/time.h", "sys/types.h", "uv.h", "sqlite3.h",
                   "jansson.h", "mpi.h", "fcntl.h", "pthread.h"]
        for header in headers:
            for folder in ("model", "core"):
                with self.subTest(header=header, folder=folder):
                    self.write(f"src/{folder}/x.c", f"#include <{header}>\n")
                    self.refused(f"src/{folder}/x.c:1: src/{folder} is pure")
                    self.write(f"src/{folder}/x.c", "")
        self.write("src/core/x.c", '#include "base/clock.h"\n')
        self.write("src/sim/x.c", '#include "base/clock.h"\n')
        self.refused("src/core/x.c:1:", "src/sim/x.c:1:")

    def test_experiments(self):
        self.write("cmake/layers.txt", LAYERS + "experiments: sim core model base\n")
        self.write("experiments/list.h", "")
        self.write("experiments/one/a.c", '#include "experiments/one/a.h"\n#include "sim/s.h"\n'
                                          '#include "experiments/list.h"\n#include <pthread.h>\n')
        self.accepted()
        self.write("experiments/two/b.c", '#include "experiments/one/a.h"\n')
        self.write("experiments/two/c.c", '#include "store/s.h"\n')
        self.write("src/sim/s.c", '#include "experiments/list.h"\n')
        self.refused("src/sim/s.c:1: src/sim may not include", "experiments/two/b.c:1:",
                     "experiments/two/c.c:1: experiments may not include src/store")

    def test_apps(self):
        self.write("apps/a.c", '#include "base/array.h"\n#include <core/c.h>\n'
                               '#include "../src/core/c.h"\n#include <stdio.h>\n')
        self.write("src/core/c.h", "")
        self.refused("apps/a.c:1:", "apps/a.c:2:", "apps/a.c:3:")

    def test_folder_without_a_line(self):
        self.write("src/new/a.c", "\n")
        self.write("src/core/c.c", '#include "new/a.h"\n')
        self.refused("src/core/c.c:1:", "src/new/a.c:1:")

    def test_folders_of_a_folder(self):
        self.write("cmake/layers.txt", LAYERS + "cli/common: base\ncli/jobs: cli/common model base\n"
                                                "cli: cli/jobs cli/common base\n")
        self.write("src/cli/main.c", '#include "cli/jobs/j.h"\n#include "cli/common/c.h"\n')
        self.write("src/cli/jobs/j.c", '#include "cli/common/c.h"\n#include "model/m.h"\n')
        self.write("src/cli/jobs/part/p.c", '#include "cli/jobs/j.h"\n')
        self.accepted()
        self.write("src/cli/common/c.c", '#include "cli/jobs/j.h"\n#include "cli/main.h"\n'
                                         '#include "model/m.h"\n')
        self.write("src/cli/jobs/k.c", '#include "cli/main.h"\n')
        self.write("src/cli/new/a.c", '\n')
        self.write("src/cli/new/b.c", '\n')
        self.write("src/cli/o.c", '#include "model/m.h"\n')
        self.refused("src/cli/o.c:1: src/cli may not include src/model",
                     "src/cli/common/c.c:1: src/cli/common may not include src/cli/jobs",
                     "src/cli/common/c.c:2: src/cli/common may not include src/cli (",
                     "src/cli/common/c.c:3: src/cli/common may not include src/model",
                     "src/cli/jobs/k.c:1: src/cli/jobs may not include src/cli (",
                     "src/cli/new/a.c:1: src/cli/new has no line")

    def test_circles(self):
        self.write("src/base/a.c", '#include "base/a.h"\n#include "base/b.h"\n')
        self.write("src/base/b.c", '#include "base/c.h"\n')
        self.write("src/base/c.h", '#include "base/a.h"\n')
        self.write("src/core/a.c", '#include "base/b.h"\n')
        self.accepted()
        self.write("src/base/c.c", '\n#include "a.h"\n')
        self.refused("src/base/a.c:2: a circle of includes: a -> b -> c -> a")

    def test_types_of_one_name(self):
        self.write("src/base/a.h", "struct part {\n};\nstruct other;\nenum way { IN };\n")
        self.write("src/core/a.h", "struct part;\nstruct parts {\n};\n")
        self.write("src/core/b.c", "struct part {\n};\n")
        self.accepted()
        self.write("src/core/b.h", "\nunion part {\n};\n")
        self.refused("src/core/b.h:2: part is something else in src/base/a.h")

    def test_bad_layers(self):
        self.write("cmake/layers.txt", "a: b\nb: a\n")
        self.assertIn("by way of others", self.check().stderr)
        self.write("cmake/layers.txt", "a: b\n")
        self.assertIn("no line of its own", self.check().stderr)
        self.write("cmake/layers.txt", "a b\n")
        self.assertIn("layers.txt:1", self.check().stderr)


if __name__ == "__main__":
    CHECK = sys.argv.pop(1)
    unittest.main()
