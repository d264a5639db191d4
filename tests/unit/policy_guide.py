"""policy_guide.py GUIDE PATH OUT: writes to OUT the C code that docs/adding-a-policy.md shows for the
file PATH. With `check ROOT` instead: is the guide right about the questions, and does the
administrator's guide list every policy?"""
import re
import sys
import textwrap
from pathlib import Path


def code(guide, path):
    block = re.search(rf"`{re.escape(path)}`:\n\n +```c\n(.*?)\n +```", guide, re.DOTALL)
    text = textwrap.dedent(block[1]) + "\n"
    if path.endswith(".def"):  # as policies.h makes declarations of it
        return f"#define POLICY(name) extern const struct pleat_policy pleat_policy_##name;\n{text}#undef POLICY\n"
    return text


def policies(root):
    """(question, name) of each row of policies.def, in its order; the first is the default."""
    found = {}
    for file in (root / "src/policy").glob("*/*.c"):
        for row in re.findall(r"(pleat_policy_\w+) = \{(.*?)\n\};", file.read_text(), re.DOTALL):
            question = re.search(r"\.question = PLEAT_(\w+)", row[1])[1].lower()
            number = int(re.search(r"\.number = (\d+)", row[1])[1])
            name = re.search(r'\.name = "([^"]+)"', row[1])[1]
            found[row[0]] = (question, name, number, file.parent.name)
    rows = ["pleat_policy_" + name for name in
            re.findall(r"^POLICY\((\w+)\)", (root / "src/policy/policies.def").read_text(), re.MULTILINE)]
    assert set(rows) == set(found), set(rows) ^ set(found)
    return [found[row] for row in rows]


def check(root):
    known = policies(root)
    numbers = [(question, number) for question, _, number, _ in known]
    assert len(set(numbers)) == len(numbers), "two policies of a question with one number"
    for question, name, _, folder in known:
        assert folder == question, f"{name} is in {folder}/"
    table = re.findall(r"^\| (\w+) \| `(\w+)/` \| ([^|]+) \|",
                       (root / "docs/adding-a-policy.md").read_text(), re.MULTILINE)
    assert {row[0] for row in table} == {row[0] for row in known}
    header = (root / "src/policy/policy.h").read_text()
    for question, folder, functions in table:
        assert question == folder
        for function in re.findall(r"`(\w+)`", functions):
            assert re.search(rf"\(\*{function}\)\(", header), f"{question} has no {function}"
    admin = (root / "docs/admin-guide.md").read_text()
    for question in {row[0] for row in known}:
        listed = re.search(rf"^\| `{question}` \| `([\w-]+)` \| ([^|]+) \|", admin, re.MULTILINE)
        names = [row[1] for row in known if row[0] == question]
        assert listed[1] == names[0], f"the default of {question}"
        assert listed[2].strip().split(", ") == names, f"{question}: {names}"


if sys.argv[1] == "check":
    check(Path(sys.argv[2]))
else:
    Path(sys.argv[3]).write_text(code(Path(sys.argv[1]).read_text(), sys.argv[2]))
