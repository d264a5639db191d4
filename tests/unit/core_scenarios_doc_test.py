"""Every scenario has a row in docs/resize-contract.md, every row names a scenario that exists, and
every outcome is there with the name that users see. And docs/architecture.md lists the folders of
src/ with what cmake/layers.txt lets them lean on, docs/dependencies.md all libraries, and guides
name files that exist."""
import itertools
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(sys.argv.pop(1))


def scenarios():
    names = set()
    for file in (ROOT / "tests/unit").glob("core_scenarios_*_test.c"):
        names |= set(re.findall(r"cmocka_unit_test\((test_\w+)\)", file.read_text()))
    launches = (ROOT / "tests/system/daemon/test_launches.py").read_text()
    names |= set(re.findall(r"^def (test_\w+)", launches, re.MULTILINE))
    saving = (ROOT / "tests/system/daemon/test_saving.py").read_text()
    names |= set(re.findall(r"^def (test_\w+)", saving, re.MULTILINE))
    for name in ("points", "not_now", "spread", "warm_agent", "folded_resize"):
        points = (ROOT / f"tests/system/daemon/test_{name}.py").read_text()
        names |= set(re.findall(r"^def (test_\w+)", points, re.MULTILINE))
    orders = (ROOT / "tests/unit/mailbox_orders_test.c").read_text()
    names |= set(re.findall(r"cmocka_unit_test\((test_sections\w*)\)", orders))
    names |= set(re.findall(r"cmocka_unit_test\((test_\w+)\)", (ROOT / "tests/unit/mailbox_points_test.c").read_text()))
    for name in ("malleable", "taken", "told", "give_back"):
        names |= set(re.findall(r"^def (test_\w+)", (ROOT / f"tests/system/slurm/test_{name}.py").read_text(), re.MULTILINE))
    deleted = (ROOT / "tests/system/gridengine/test_taken.py").read_text()
    names |= set(re.findall(r"^def (test_an_\w+)", deleted, re.MULTILINE))
    steps = (ROOT / "tests/system/chaos/test_steps.py").read_text()
    names |= set(re.findall(r"^def (test_\w+_over_nodes)", steps, re.MULTILINE))
    for name in ("nodes", "starting", "returning", "architectures", "sites", "any_site"):
        processes = (ROOT / f"tests/system/processes/test_process_{name}.py").read_text()
        names |= set(re.findall(r"^def (test_\w+)", processes, re.MULTILINE))
    evolve = (ROOT / "tests/system/agent/test_agent_evolve.py").read_text()
    names |= set(re.findall(r"^def (test_one_\w*leave\w*)", evolve, re.MULTILINE))
    peers = (ROOT / "tests/system/daemon/test_peers.py").read_text()
    names |= set(re.findall(r"^def (test_\w*_to_end_\w+)", peers, re.MULTILINE))
    warm = (ROOT / "tests/system/agent/test_agent_warm.py").read_text()
    names |= set(re.findall(r"^def (test_\w+)", warm, re.MULTILINE))
    return names - {"test_every_outcome_was_met"}


def outcomes():
    text = (ROOT / "src/model/types.c").read_text()
    names = re.findall(r'\[PLEAT_OUTCOME_(\w+)\] = "([^"]+)"', text)
    return {name for constant, name in names if constant != "NONE"}


def rows():
    """The cells of every row of every table, after its header."""
    tables, inside = [], False
    for line in (ROOT / "docs/resize-contract.md").read_text().splitlines():
        if not line.startswith("|"):
            inside = False
        elif re.fullmatch(r"[|-]+", line):
            inside = True
        elif inside:
            tables.append([cell.strip() for cell in line.strip("|").split("|")])
    return tables


class Contract(unittest.TestCase):
    def test_rows_and_scenarios_are_the_same(self):
        named = set()
        for row in rows():
            tests = re.findall(r"`(test_\w+)`", row[-1])
            self.assertTrue(tests, f"no test is named in: {row}")
            named |= set(tests)
        self.assertGreater(len(named), 50)
        self.assertEqual(named, scenarios())

    def test_outcomes_are_those_of_the_program(self):
        known, used = outcomes(), set()
        for row in rows():
            if len(row) == 4 and row[2] and row[2] != "(goes on)":
                used |= {outcome.strip() for outcome in row[2].split(";")}
        self.assertEqual(used, known)


    def test_every_pair_of_changes_has_its_row_and_test(self):
        words = {"grow": "grow", "shrink": "shrink", "job ends": "ends", "cancel": "cancel",
                 "limits": "limits", "loss": "loss"}
        pairs = {(row[0], row[1]): row for row in rows() if len(row) == 5}
        self.assertEqual(set(pairs), set(itertools.product(words, words)))
        for (first, second), row in pairs.items():
            self.assertIn(f"`test_{words[first]}_then_{words[second]}`", row[-1])
            self.assertTrue(row[2])
            outcomes_named = {outcome.strip() for outcome in row[3].split(";")} - {""}
            self.assertLessEqual(outcomes_named, outcomes())
            self.assertEqual(bool(outcomes_named), first in ("grow", "shrink", "limits"), row)

    def test_every_story_names_tests_that_exist(self):
        text = (ROOT / "docs/resize-contract.md").read_text()
        section = re.search(r"^## What users of other systems reported\n(.*?)^## ", text,
                            re.DOTALL | re.MULTILINE).group(1)
        known = scenarios()
        for file in (ROOT / "tests").rglob("*.[cp]*"):
            if file.suffix in (".c", ".py"):
                known |= set(re.findall(r"\btest_\w+(?=\()", file.read_text()))
        stories = re.split(r"^- ", section, flags=re.MULTILINE)[1:]
        self.assertGreater(len(stories), 10)
        for story in stories:
            named = set(re.findall(r"`(test_\w+)`", story))
            self.assertTrue(named or "`docs/" in story, story)
            self.assertLessEqual(named, known)


class Folders(unittest.TestCase):
    def test_folders_lean_as_documented(self):
        there = {folder.name for folder in (ROOT / "src").iterdir() if folder.is_dir()}
        there |= {f"cli/{folder.name}" for folder in (ROOT / "src/cli").iterdir() if folder.is_dir()}
        there.add("experiments")
        allowed = {}
        for line in (ROOT / "cmake/layers.txt").read_text().splitlines():
            if line and not line.startswith("#"):
                folder, _, others = line.partition(":")
                if folder in there:
                    allowed[folder] = set(others.split()) & there
        documented = {}
        for line in (ROOT / "docs/architecture.md").read_text().splitlines():
            row = re.fullmatch(r"\| `([\w/]+)`(?: \(beside `src`\))? \| [^|]* \| ?([\w/, ]*?) ?\|", line)
            if row:
                documented[row[1]] = set(re.findall(r"[\w/]+", row[2]))
        self.assertEqual(documented, allowed)


class Paths(unittest.TestCase):
    def test_files_named_in_the_guides_exist(self):
        guides = ["architecture", "admin-guide", "dependencies", "resize-contract",
                  "adding-a-policy", "adding-a-site", "adding-a-runner"]
        pattern = r"`((?:src|docs|tests|cmake|scripts|apps|bench)/[\w./*-]*)`"
        for guide in guides:
            text = (ROOT / "docs" / f"{guide}.md").read_text()
            for path in re.findall(pattern, text):
                found = list(ROOT.glob(path)) if "*" in path else [ROOT / path]
                self.assertTrue(found and found[0].exists(), f"{guide}.md names {path}")


class Dependencies(unittest.TestCase):
    def test_every_library_that_is_looked_for_is_explained(self):
        text = (ROOT / "docs/dependencies.md").read_text()
        files = [ROOT / "CMakeLists.txt"]
        for folder in ("src", "apps", "bench", "tests"):
            files += (ROOT / folder).rglob("CMakeLists.txt")
            files += (ROOT / folder).rglob("*.cmake")
        modules = set()
        for file in files:
            modules |= set(re.findall(r"pleat_find\(\w+ ([\w-]+)\)", file.read_text()))
        self.assertIn("libuv", modules)
        explained = set(re.findall(r"`([\w-]+)`", text))
        self.assertEqual(modules - explained, set())


unittest.main()
