"""The configuration: where it is found, what is wrong with it, what it changes, how it is shown."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator

from auditor.interfaces import configuration
from auditor.interfaces.cli import main
from auditor.interfaces.configuration import FIELDS, ConfigurationError, find, read, schema
from tests.unit.interfaces import fake
from tests.unit.render import sample

WHOLE = """\
paths = ["src"]
engine = "sglang"
rules = ["packs/mine.toml"]
assumptions = false
fail-on = "warning"
min-confidence = "low"
strict = true
baseline = "accepted.json"

[roles]
test = ["checks/", "*_spec.py"]
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a package in it; the working directory."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "src/pkg").mkdir(parents=True)
    (tmp_path / "src/pkg/m.py").write_text("x = 1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, text: str, name: str = "bufgate.toml") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def pyproject(text: str) -> str:
    top = re.sub(r"^\[roles\]$", "[tool.bufgate.roles]", text, flags=re.MULTILINE)
    return f'[project]\nname = "x"\n\n[tool.bufgate]\n{top}'


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, prog_name="bufgate")


def refused(folder: Path, text: str, name: str = "bufgate.toml") -> str:
    with pytest.raises(ConfigurationError) as error:
        read(write(folder, text, name))
    return str(error.value)


# ---------------------------------------------------------------- reading


def test_both_files_say_the_same(project: Path) -> None:
    one = read(write(project, WHOLE))
    other = read(write(project, pyproject(WHOLE), "pyproject.toml"))
    assert one is not None
    assert other is not None
    assert (one.values, one.roles) == (other.values, other.roles)
    assert one["fail-on"] == "warning"
    assert one.roles == {"test": ("checks/", "*_spec.py")}


def test_every_key_is_in_the_example() -> None:
    assert [line.split(" = ")[0] for line in WHOLE.split("\n") if " = " in line][: len(FIELDS)] == [
        one.name for one in FIELDS
    ]


def test_defaults() -> None:
    assert (find([])["fail-on"], find([])["paths"]) == ("error", (".",))


# ---------------------------------------------------------------- finding


def test_the_nearest_above_the_paths(project: Path) -> None:
    write(project, "strict = true\n")
    assert find(["src/pkg"]).file == project / "bufgate.toml"
    write(project / "src", "strict = false\n")
    assert find(["src/pkg"]).file == project / "src/bufgate.toml"
    assert find(["src/pkg/m.py"]).file == project / "src/bufgate.toml"
    assert find(["src/pkg", "src"]).file == project / "src/bufgate.toml"
    assert find([]).file == project / "bufgate.toml"


def test_bufgate_toml_goes_before_pyproject(project: Path) -> None:
    write(project, "strict = true\n", "pyproject.toml")
    write(project, pyproject("strict = false\n"), "pyproject.toml")
    assert find([]).file == project / "pyproject.toml"
    write(project, "strict = true\n")
    assert find([]).file == project / "bufgate.toml"


def test_a_pyproject_that_does_not_speak_of_it_is_passed(project: Path) -> None:
    write(project, "strict = true\n")
    write(project / "src", '[project]\nname = "x"\n', "pyproject.toml")
    assert find(["src"]).file == project / "bufgate.toml"
    write(project / "src", "[tool.bufgate]\n", "pyproject.toml")
    assert find(["src"]).file == project / "src/pyproject.toml"


def test_nothing_above_the_repository_is_taken(project: Path) -> None:
    (project / "src/.git").mkdir()
    write(project, "strict = true\n")
    assert find(["src/pkg"]).file is None


def test_outside_a_repository_the_working_directory_is_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here/src").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    write(tmp_path, "strict = true\n")
    assert find(["src"]).file is None
    write(tmp_path / "here", "strict = true\n")
    assert find(["src"]).file == tmp_path / "here/bufgate.toml"
    assert find([str(tmp_path)]).file == tmp_path / "bufgate.toml"


# ---------------------------------------------------------------- faults


def test_all_faults_at_once_each_with_its_line(project: Path) -> None:
    told = refused(project, 'fial-on = "error"\nfail-on = "eror"\nstrict = 1\n\n[roles]\ntests = ["a"]\n')
    assert told.split("\n") == [
        "bufgate.toml:1:1: unknown key 'fial-on' (did you mean 'fail-on'?)",
        '  1 | fial-on = "error"',
        "    | ^^^^^^^",
        "bufgate.toml:2:1: fail-on must be one of 'error', 'warning', 'note', 'never', not 'eror' "
        "(did you mean 'error'?)",
        '  2 | fail-on = "eror"',
        "    | ^^^^^^^",
        "bufgate.toml:3:1: strict must be true or false, not 1",
        "  3 | strict = 1",
        "    | ^^^^^^",
        "bufgate.toml:6:1: unknown key 'tests' in roles (did you mean 'test'?)",
        '  6 | tests = ["a"]',
        "    | ^^^^^",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("strict = \n", "bufgate.toml:1:10: not TOML"),
        ("fail_on = 'error'\n", "did you mean 'fail-on'?"),
        ("paths = 'src'\n", "paths must be a list (not empty), each a text that says something, not 'src'"),
        ("paths = []\n", "paths must be"),
        ("roles = 1\n", "bufgate.toml:1:1: roles must be a table"),
        ("roles.test = 'x'\n", "bufgate.toml:1:1: test must be a list"),
        ("role.test = ['x']\n", "did you mean 'roles'?"),
        ("engine = ' '\n", "engine must be"),
        ("strict = true\nstrict = true\n", "bufgate.toml:2"),
        ("x = " + "[" * 100_000, "nested too deeply"),
        ("\tstrictt = true\n", "\n  1 |  strictt = true\n    |  ^^^^^^^"),
    ],
)
def test_faults(project: Path, text: str, told: str) -> None:
    assert told in refused(project, text)


def test_faults_in_pyproject_have_their_lines(project: Path) -> None:
    told = refused(project, pyproject("strictt = true\n"), "pyproject.toml")
    assert told.startswith("pyproject.toml:5:1: unknown key 'strictt' in tool.bufgate (did you mean 'strict'?)")
    assert "tool.bufgate must be a table" in refused(project, "[tool]\nbufgate = 1\n", "pyproject.toml")


def test_a_file_that_is_not_utf8(project: Path) -> None:
    (project / "bufgate.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError, match="not UTF-8"):
        find([])


def test_a_broken_pyproject_is_not_passed_over(project: Path) -> None:
    write(project, "[tool.bufgate\n", "pyproject.toml")
    with pytest.raises(ConfigurationError, match=r"pyproject\.toml:1"):
        find([])


def test_the_command_ends_with_2_and_shows_the_frame(project: Path) -> None:
    write(project, "strictt = true\n\x1b = 1\n")
    result = run("check")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "bufgate.toml:" in result.stderr
    assert "\x1b" not in result.stderr


# ---------------------------------------------------------------- the schema


def documents() -> list[tuple[str, bool]]:
    good = [WHOLE, "", "rules = []\n", "[roles]\nproduct = ['x']\n"]
    bad = ["strictt = 1\n", "strict = 1\n", "paths = []\n", "paths = [1]\n", "fail-on = 'x'\n", "[roles]\nx = ['y']\n"]
    return [*((text, True) for text in good), *((text, False) for text in bad)]


@pytest.mark.parametrize(("text", "good"), documents())
def test_the_schema_says_what_the_reader_says(project: Path, text: str, good: bool) -> None:
    import tomllib

    Draft202012Validator.check_schema(schema())
    errors = list(Draft202012Validator(schema()).iter_errors(tomllib.loads(text)))
    assert (not errors) == good
    if good:
        assert read(write(project, text)) is not None
    else:
        refused(project, text)


def test_config_schema_prints_it(project: Path) -> None:
    printed = json.loads(run("config", "schema").stdout)
    assert printed == schema()
    assert all(one["description"] for one in printed["properties"].values())


# ---------------------------------------------------------------- showing


def test_config_show_tells_every_origin(project: Path) -> None:
    write(project, "strict = true\n\n[roles]\ntest = ['a/']\n")
    lines = run("config", "show", "src").stdout.split("\n")
    assert lines[0] == "# bufgate.toml"
    assert re.fullmatch(r'fail-on +  *= "error" +# default', next(line for line in lines if line.startswith("fail-on")))
    assert re.fullmatch(r"strict += true +# bufgate.toml:1", next(line for line in lines if line.startswith("strict")))
    assert 'roles.test     = ["a/"]' in "\n".join(lines)
    assert len([line for line in lines if " = " in line]) == len(FIELDS) + 1


def test_config_show_is_toml_again(project: Path) -> None:
    write(project, WHOLE)
    shown = run("config", "show").stdout
    again = read(write(project / "src", shown))
    assert again is not None
    assert again.values == read(project / "bufgate.toml").values  # type: ignore[union-attr]


def test_config_show_without_one(project: Path) -> None:
    assert run("config", "show").stdout.startswith("# no configuration found\n")


def test_a_named_file_that_is_not_there(project: Path) -> None:
    result = run("config", "show", "--config", "nowhere.toml")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "nowhere.toml:1:1: cannot read it: No such file" in result.stderr


def test_a_named_pyproject_has_to_speak_of_it(project: Path) -> None:
    write(project, "", "pyproject.toml")
    assert "has no [tool.bufgate]" in run("config", "show", "--config", "pyproject.toml").stderr


def test_paths_are_meant_from_the_folder_of_the_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, WHOLE)
    monkeypatch.chdir(project / "src/pkg")
    assert find([]).path("packs/mine.toml") == Path("../../packs/mine.toml")


def test_the_current_folder_unless_paths_are_said(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Below the top of a repository, too: nobody who stands in a package means all of the repository."""
    made: list[Any] = []
    monkeypatch.setitem(sys.modules, fake.NAME, fake.spine(sample.REPORT, made))
    (project / ".git").mkdir(exist_ok=True)
    for file in ("src/pkg/here.py", "src/above.py"):
        (project / file).write_text("x = 1\n", encoding="utf-8")
    monkeypatch.chdir(project / "src/pkg")
    run("check")
    write(project, "fail-on = 'error'\n")
    run("check")
    write(project, "paths = ['src']\n")
    run("check")
    assert [Path(call[0].root).name for call in made] == ["pkg", "pkg", "src"]


# ---------------------------------------------------------------- what it changes


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """A spine that finds one warning; what it was called with."""
    made: list[Any] = []
    warning = replace(sample.REPORT, findings=sample.FINDINGS[:1], problems=sample.REPORT.problems[1:])
    monkeypatch.setitem(sys.modules, fake.NAME, fake.spine(warning, made))
    return made


@pytest.mark.parametrize(
    ("text", "arguments", "status"),
    [
        ("", [], 0),
        ("fail-on = 'warning'\n", [], 1),
        ("fail-on = 'warning'\n", ["--fail-on", "error"], 0),
        ("fail-on = 'warning'\nmin-confidence = 'high'\n", [], 0),
        ("fail-on = 'warning'\nmin-confidence = 'high'\n", ["--min-confidence", "low"], 1),
        ("strict = true\n", [], 2),
    ],
)
def test_exit_status(project: Path, calls: list[Any], text: str, arguments: list[str], status: int) -> None:
    write(project, text)
    assert run("check", *arguments).exit_code == status


def test_it_reaches_the_spine(project: Path, calls: list[Any]) -> None:
    """Engine, rules and assumptions as options, paths and roles as the tree; the report names the file."""
    write(project, WHOLE.replace("baseline", "# baseline") + "product = ['pkg/m.py']\n")
    told = run("check")
    tree, options = calls[0]
    assert tree.root == project / "src"
    assert tree.role("pkg/m.py") == "product"
    assert (options.engine, options.rules, options.assumptions) == ("sglang", (Path("packs/mine.toml"),), False)
    assert "config     bufgate.toml" in told.stdout, "as it is found from here"
    run("check", "src/pkg", "--engine", "other")
    tree, options = calls[1]
    assert (tree.root, options.engine) == (project / "src/pkg", "other")


def test_a_release_has_no_configuration(project: Path, calls: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    import auditor.source

    monkeypatch.setattr(auditor.source, "fetch_release", lambda _requirement: project / "src")
    write(project, "strict = true\n")
    assert run("check", "--release", "sglang==0.5.23").exit_code == 0
    assert run("check", "--release", "sglang==0.5.23", "--config", "bufgate.toml").exit_code == 2


def test_a_pack_of_the_project_is_recognised_first(project: Path) -> None:
    """Its origin is the path that the configuration gives."""
    example = Path(__file__).parents[1] / "spec" / "example.toml"
    write(project, f"rules = ['{example.name}']\n")
    write(project, example.read_text(), example.name)
    assert f"({example.name}): not recognised" in run("doctor", "src").stdout


def test_module_has_no_key_that_nothing_uses() -> None:
    """Every key is read somewhere."""
    folder = Path(configuration.__file__).parent
    texts = "".join(file.read_text() for file in folder.glob("*.py") if file.name != "configuration.py")
    unused = [one.name for one in FIELDS if f'configuration["{one.name}"]' not in texts]
    assert not unused
