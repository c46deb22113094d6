"""The rules of CONTRIBUTING.md that no linter holds."""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

CODE = {".py", ".sh", ".js", ".css", ".html", ".c", ".h", ".rs"}
TEXT = CODE | {".md", ".toml", ".txt", ".json", ".yaml", ".yml", ".cfg", ".in", ".service", ".conf", ""}
MAX_LINES, MAX_LINES_OF_TESTS = 400, 500

# Made by make or by a tool, or not ours.
NOT_SOURCE = {"node_modules", "__pycache__", "vendor", "dist", "build", "screenshots"}
HIDDEN_SOURCE = {".ci"}

CATCH_ALL_NAMES = {
    "utils",
    "util",
    "helpers",
    "helper",
    "common",
    "misc",
    "shared",
    "stuff",
    "manager",
    "tools_misc",
}

# Written with brackets, so that this file passes its own test.
FORBIDDEN_TEXT = {
    "a package registry's address": re.compile(
        r"pypi[.]org|pythonhosted[.]org|registry[.]npmjs|registry[.]yarnpkg"
    ),
    "a path of somebody's machine": re.compile(r"/[r]oot/|/[w]ork/|/[h]ome/[a-z]+/|/opt/[v]ppbuild"),
}


def _walk(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name in NOT_SOURCE or (path.name.startswith(".") and path.name not in HIDDEN_SOURCE):
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _walk(path)
        elif path.is_file():
            yield path


@cache
def sources() -> tuple[Path, ...]:
    """Every file of the repository that a person wrote."""
    return tuple(_walk(ROOT))


@cache
def python_sources() -> tuple[tuple[Path, ast.Module], ...]:
    """Every Python file with its syntax tree."""
    return tuple((path, ast.parse(path.read_text(), str(path))) for path in sources() if path.suffix == ".py")


def _at(path: Path, node: ast.AST | int) -> str:
    return f"{path.relative_to(ROOT)}:{node if isinstance(node, int) else getattr(node, 'lineno', 0)}"


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [name.name for name in node.names]
    if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
        return [node.module]
    return []


def test_no_shell_string_is_run() -> None:
    """No ``shell=True``, ``os.system`` or ``os.popen``, anywhere, tests included: argument lists only."""
    found = []
    for path, tree in python_sources():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                shell = any(
                    word.arg == "shell"
                    and not (isinstance(word.value, ast.Constant) and word.value.value is False)
                    for word in node.keywords
                )
                named = ast.unparse(node.func)
                if shell or named in {"os.system", "os.popen", "asyncio.create_subprocess_shell"}:
                    found.append(_at(path, node))
    assert found == []


def _most_lines(path: Path) -> int:
    return MAX_LINES_OF_TESTS if path.is_relative_to(ROOT / "tests") else MAX_LINES


def test_files_are_short() -> None:
    """A longer file holds more than one thing."""
    long = {
        str(path.relative_to(ROOT)): lines
        for path in sources()
        if path.suffix in CODE and (lines := path.read_text().count("\n")) > _most_lines(path)
    }
    assert long == {}


_BLOCK_TAG = re.compile(
    r"<(?:article|aside|dd|details|dialog|div|dl|dt|fieldset|figure|footer|form|h[1-6]|header|legend|li|main|nav|ol"
    r"|option|p|section|table|tbody|td|tfoot|th|thead|tr|ul)\b"
)


def test_templates_have_one_element_a_line() -> None:
    """A line of a template is short and opens at most one block element: a diff shows what changed."""
    lines = [
        (_at(path, number), line)
        for path in sources()
        if path.suffix == ".html"
        for number, line in enumerate(path.read_text().splitlines(), 1)
    ]
    assert len(lines) > 1000, "the templates are where this test looks for them"
    assert [place for place, line in lines if len(line) > 140] == []
    assert [place for place, line in lines if len(_BLOCK_TAG.findall(line)) > 1] == []


def test_no_catch_all_names() -> None:
    """A module or folder is named by what it holds."""
    found = [
        str(path.relative_to(ROOT))
        for path in sources()
        if CATCH_ALL_NAMES & {part.removesuffix(path.suffix) for part in path.relative_to(ROOT).parts}
    ]
    assert found == []


@pytest.mark.parametrize("what", FORBIDDEN_TEXT)
def test_no_text_ties_us_to_a_place(what: str) -> None:
    """A mirror has to serve as well as the original, and any machine as well as the author's."""
    pattern = FORBIDDEN_TEXT[what]
    found = [
        _at(path, number)
        for path in sources()
        if path.suffix in TEXT
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if pattern.search(line)
    ]
    assert found == []


def test_npm_lock_names_no_address() -> None:
    """npm takes the tarballs from whatever registry it is configured for, and checks their hashes."""
    packages = json.loads((ROOT / "package-lock.json").read_text())["packages"]
    assert [name for name, package in packages.items() if "resolved" in package] == []
    assert [name for name, package in packages.items() if name and "integrity" not in package] == []


def test_every_locked_requirement_has_hashes() -> None:
    """A line of requirements/*.txt is a comment, a pinned package or one of its hashes."""
    line = re.compile(r"#|\s+(#|--hash=sha256:[0-9a-f]{64})|[a-z0-9.-]+(\[[a-z,]+\])?==\S+( ; .*)? \\$|$")
    found = [
        _at(path, number)
        for path in sorted((ROOT / "requirements").glob("*.txt"))
        for number, text in enumerate(path.read_text().splitlines(), 1)
        if not line.match(text)
    ]
    assert found == []


def test_frr_is_never_imported() -> None:
    """From the root ``import frr`` silently gives an empty namespace package; the package is frr_config."""
    found = [
        _at(path, node)
        for path, tree in python_sources()
        for node in ast.walk(tree)
        if any(name.partition(".")[0] == "frr" for name in _imported(node))
    ]
    assert found == []


PRODUCT = ("appliance/src", "webui/src", "frr/src", "vpp-config/src")
MOST_PARAMETERS = 7


def _is_product(path: Path) -> bool:
    return any(path.is_relative_to(ROOT / folder) for folder in PRODUCT)


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Their names, without ``self`` and ``cls``."""
    given = function.args
    every = [*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg]
    names = [one.arg for one in every if one is not None]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def test_functions_take_few_parameters() -> None:
    """Values that go through several functions together are one value; constructors join parts."""
    functions = [
        (_at(path, node), node)
        for path, tree in python_sources()
        if _is_product(path)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name != "__init__"
    ]
    assert len(functions) > 1000, "the product is where this test looks for it"
    assert [place for place, node in functions if len(_parameters(node)) > MOST_PARAMETERS] == []


def test_the_options_of_a_commit_are_passed_whole() -> None:
    """Only those who write, choose or keep an option name it; all others pass ``CommitOptions``."""
    naming = [
        str(path.relative_to(ROOT))
        for path in sources()
        if path.suffix in CODE and _is_product(path) and "watch_s" in path.read_text()
    ]
    assert "appliance/src/appliance/state/commit_options.py" in naming
    assert len(naming) <= 10, naming


def test_nothing_is_left_unwritten() -> None:
    """No stub: what is not there is not named either."""
    found = [
        _at(path, node)
        for path, tree in python_sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise)
        and node.exc is not None
        and "NotImplementedError" in ast.unparse(node.exc)
    ]
    assert found == []


def test_planning_does_no_io() -> None:
    """Plans are decided purely: they reach neither VPP's binding nor the operating system."""
    source = ROOT / "vpp-config" / "src"
    files = [source / "vpp_config" / "plan.py", *(source / "planner").glob("*.py")]
    forbidden = {"vpp_papi", "vpp_config.papi_client", "os", "subprocess", "socket", "pyroute2", "asyncio"}
    found = [
        _at(path, node)
        for path in files
        for node in ast.walk(ast.parse(path.read_text()))
        if forbidden & set(_imported(node))
    ]
    assert found == []


_BLIND = (
    "vpp-config/src/planner/*.py",
    *(f"vpp-config/src/vpp_config/{name}.py" for name in ("access", "dumps", "leftover", "observation")),
    *(f"vpp-config/src/vpp_config/{name}.py" for name in ("plan", "session", "step")),
    "appliance/src/appliance/compile.py",
    "appliance/src/appliance/dataplane/*/plan.py",
    "appliance/src/appliance/dataplane/*/compile.py",
    "appliance/src/appliance/dataplane/*/backend.py",
    "appliance/src/appliance/dataplane/nic.py",
    "appliance/src/appliance/config/*.py",
    "appliance/src/appliance/dataplane/linux/access.py",
    "appliance/src/appliance/dataplane/linux/dump.py",
)
"""Machinery that knows no kind of object: it asks the object, never what the object is."""
_KINDS = (
    "vpp-config/src/vpp_config/objects/*.py",
    "appliance/src/appliance/dataplane/linux/objects/*.py",
    "appliance/src/appliance/features/*/model.py",
)
_BASES = {"VppObject", "LinuxObject", "Declared", "InterfaceSettings", "Interface", "Link"}


def _kinds() -> set[str]:
    """Every class that is an object of a plane or an interface of the document, by name."""
    bases: dict[str, set[str]] = {}
    for path in (path for pattern in _KINDS for path in ROOT.glob(pattern)):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                bases.setdefault(node.name, set()).update(ast.unparse(base) for base in node.bases)
    kinds = set(_BASES)
    while new := {name for name, above in bases.items() if above & kinds} - kinds:
        kinds |= new
    return kinds


def _asks_for_a_kind(node: ast.AST, kinds: set[str]) -> bool:
    """``isinstance(x, Kind)``, ``type(x) is Kind``, ``case Kind()`` and tables keyed by a class."""
    asked: list[ast.AST] = []
    if isinstance(node, ast.Call) and ast.unparse(node.func) in {"isinstance", "issubclass"}:
        asked = [node.args[1]]
    elif isinstance(node, ast.Compare) and ast.unparse(node.left).startswith("type("):
        asked = [part for part in node.comparators if isinstance(part, ast.Name)]
    elif isinstance(node, ast.MatchClass):
        asked = [node.cls]
    elif isinstance(node, ast.Dict):
        asked = [key for key in node.keys if key is not None]
    return any(
        ast.unparse(part).rpartition(".")[2] in kinds
        for item in asked
        for part in ast.walk(item)
        if isinstance(part, ast.Name | ast.Attribute)
    )


def test_planners_compilers_and_backends_know_no_kind() -> None:
    """A new kind of object is a file and a line in a list: no ladder of classes is to be climbed."""
    kinds = _kinds()
    assert {"Acl", "Ethernet", "Loopback", "LcpPair", "FilterBinding", "VlanLink", "SubInterface"} <= kinds
    found = [
        _at(path, node)
        for pattern in _BLIND
        for path in ROOT.glob(pattern)
        for node in ast.walk(ast.parse(path.read_text()))
        if _asks_for_a_kind(node, kinds)
    ]
    assert found == []


WRITES_A_FILE = {
    "chmod", "chown", "fchmod", "fchown", "lchmod", "lchown", "copyfile", "copy2", "copytree", "hardlink_to",
    "mkdir", "makedirs", "mkstemp", "mkdtemp", "NamedTemporaryFile", "symlink", "symlink_to", "touch",
    "truncate", "write_bytes", "write_text",
}  # fmt: skip
RENAMES = {"rename", "renames", "replace"}
"""Of ``os`` and of paths; strings and dataclasses have a ``replace`` too, with other arguments."""
ROOTS_CODE = ROOT / "appliance" / "src" / "appliance"
NOT_BY_DURABLE = {
    "engine/durable.py": "it is the one way",
    "cli/capture.py": "a capture, for whoever sits at the command line and names the file",
    "dataplane/namespace.py": "settings of the kernel, in /proc/sys",
    "dataplane/vpp/kept_mirrors.py": "the kernel's device of taps",
    "platform/binding.py": "drivers of NICs, in /sys",
    "platform/cpu_sets.py": "interrupts, in /proc/irq",
    "platform/hugepages.py": "huge pages, in /sys",
    "platform/links.py": "settings of the kernel, in /proc/sys",
    "upgrade/grubenv.py": "GRUB's block has to be changed in place; the ESP is root's and knows no links",
    "upgrade/image_writer.py": "the partition of a slot",
    "upgrade/make.py": "makes upgrade files, on the machine of whoever builds them",
    "upgrade/signing.py": "makes the key, on the machine of whoever builds",
}
"""Where a file is written, or its owner set, without ``engine/durable.py``, and why that is right."""


def test_root_writes_files_in_one_way_only() -> None:
    """All but ``engine/durable.py`` name a file by its path, which another user may redirect."""
    found = {
        _at(path, node): str(path.relative_to(ROOTS_CODE))
        for path, tree in python_sources()
        if path.is_relative_to(ROOTS_CODE)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _writes_by_path(node)
    }
    assert [place for place, module in found.items() if module not in NOT_BY_DURABLE] == []
    assert set(NOT_BY_DURABLE) - set(found.values()) == set(), "these exceptions are no longer needed"


def _writes_by_path(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Attribute):
        return isinstance(call.func, ast.Name) and call.func.id == "open"
    name, whose = call.func.attr, ast.unparse(call.func.value)
    if name in RENAMES and not call.keywords:
        # os.replace(a, b), path.replace(b); text.replace(a, b) and links.rename(mapping) are something else.
        return whose in {"os", "shutil"} or (len(call.args) == 1 and name == "replace")
    if name == "open":
        said = " ".join(ast.unparse(argument) for argument in [*call.args, *(k.value for k in call.keywords)])
        return bool(re.search(r"O_WRONLY|O_RDWR|O_CREAT|'[rwax]b?\+?[wax]?b?'", said)) and not re.search(
            r"'rb?'|'r:'", said
        )
    return name in WRITES_A_FILE
