"""Module names and roles."""

from __future__ import annotations

import pytest

from auditor.errors import UsageError
from auditor.source import open_tree


def modules(root, **options):
    tree = open_tree([root], **options)
    return {path: tree.module(path) for path in tree.files}


def test_the_topmost_package_names_the_module(plant):
    root = plant("python/sglang/__init__.py", "python/sglang/srt/__init__.py", "python/sglang/srt/x.py", "setup.py")
    assert modules(root) == {
        "python/sglang/__init__.py": "sglang",
        "python/sglang/srt/__init__.py": "sglang.srt",
        "python/sglang/srt/x.py": "sglang.srt.x",
        "setup.py": "setup",
    }
    assert open_tree([root]).is_package("python/sglang/__init__.py")
    assert not open_tree([root]).is_package("python/sglang/srt/x.py")


def test_folders_without_init_below_a_package_keep_the_chain(plant):
    root = plant(
        "sglang/__init__.py", "sglang/srt/models/llama.py", "sglang/srt/layers/__init__.py", "sglang/srt/layers/a.py"
    )
    names = modules(root)
    assert names["sglang/srt/models/llama.py"] == "sglang.srt.models.llama"
    assert names["sglang/srt/layers/a.py"] == "sglang.srt.layers.a"


def test_a_root_inside_a_package_has_full_names(plant):
    root = plant("python/sglang/__init__.py", "python/sglang/srt/mem_cache/pool.py", "pyproject.toml")
    assert modules(root / "python/sglang/srt/mem_cache") == {"pool.py": "sglang.srt.mem_cache.pool"}
    assert modules(root / "python/sglang/srt/mem_cache/pool.py") == {"pool.py": "sglang.srt.mem_cache.pool"}
    assert modules(root / "python/sglang")["srt/mem_cache/pool.py"] == "sglang.srt.mem_cache.pool"


def test_nothing_above_the_root_is_read(plant, monkeypatch):
    root = plant("pkg/__init__.py", "pkg/sub/a.py")
    (root / "pkg/__init__.py").chmod(0)
    tree = open_tree([root / "pkg/sub"])
    assert tree.module("a.py") == "pkg.sub.a"
    assert tree.problems == ()


@pytest.mark.parametrize(
    ("files", "path", "module"),
    [
        (["a/b/x.py"], "a/b/x.py", "a.b.x"),
        (["src/pkg/__init__.py", "src/pkg/x.py", "__init__.py"], "src/pkg/x.py", "pkg.x"),
        (["pkg/__init__.py", "pkg/lib/x.py"], "pkg/lib/x.py", "pkg.lib.x"),
        (
            ["pkg/__init__.py", "pkg/plug/pyproject.toml", "pkg/plug/inner/__init__.py"],
            "pkg/plug/inner/__init__.py",
            "inner",
        ),
        (["pkg/__init__.py", "pkg/sub/setup.py", "pkg/sub/a/__init__.py"], "pkg/sub/a/__init__.py", "pkg.sub.a"),
        (["pkg/__init__.py", "pkg/sub/__init__.py", "pkg/sub/pyproject.toml"], "pkg/sub/__init__.py", "pkg.sub"),
        (["__init__.py", "pyproject.toml", "pkg/__init__.py"], "pkg/__init__.py", "pkg"),
        (["rel-1.0/pkg/__init__.py", "__init__.py"], "rel-1.0/pkg/__init__.py", "pkg"),
        (["my-plugin/__init__.py", "my-plugin/x.py"], "my-plugin/x.py", "my-plugin.x"),
        (["my-plugin/__init__.py", "my-plugin/pkg/__init__.py", "my-plugin/pkg/x.py"], "my-plugin/pkg/x.py", "pkg.x"),
        (["my-cases/__init__.py", "my-cases/one/x.py"], "my-cases/one/x.py", "my-cases.one.x"),
        (["my-plugin/__init__.py", "my-plugin/x.py"], "my-plugin/__init__.py", "my-plugin"),
    ],
)
def test_packages_end_where_projects_begin(plant, files, path, module):
    assert modules(plant(*files, root="t-0"))[path] == module


def test_files_of_extra_roots_have_their_own_names(plant):
    engine = plant("sglang/__init__.py", "sglang/x.py", "loose/y.py", root="engine-1")
    tree = open_tree([plant("a.py")], extra=[engine])
    assert tree.module("<with:engine-1>/sglang/x.py") == "sglang.x"
    assert tree.module("<with:engine-1>/loose/y.py") == "loose.y"


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("sglang/srt/x.py", "product"),
        ("tests/a.py", "test"),
        ("sglang/test/kits/a.py", "test"),
        ("a/testing/b.py", "test"),
        ("a/conftest.py", "test"),
        ("a/test_x.py", "test"),
        ("a/x_test.py", "test"),
        ("a/latest.py", "product"),
        ("contest/a.py", "product"),
        ("benchmark/a.py", "benchmark"),
        ("a/benchmarks/b.py", "benchmark"),
        ("sglang/bench_serving.py", "benchmark"),
        ("examples/a.py", "example"),
        ("docs/conf.py", "example"),
        ("playground/a.py", "example"),
        ("a/third_party/b.py", "vendored"),
        ("a/_vendor/tests/b.py", "vendored"),
        ("vendor/b.py", "vendored"),
    ],
)
def test_roles_are_told_by_paths(plant, path, role):
    assert open_tree([plant(path)]).role(path) == role


@pytest.mark.parametrize(
    ("patterns", "path", "matches"),
    [
        ("kit/", "a/kit/b/c.py", True),
        ("kit/", "a/kit.py", False),
        ("gen_*.py", "a/gen_x.py", True),
        ("gen_*.py", "gen_x/a.py", False),
        ("sglang/lab/**", "python/sglang/lab/a/b.py", True),
        ("sglang/**/lab/*.py", "sglang/x/y/lab/a.py", True),
        ("sglang/**/lab/*.py", "sglang/lab/a.py", True),
        ("sglang/**/lab/*.py", "sglang/lab/b/a.py", False),
        ("a?.py", "ab.py", True),
        ("a.b/", "axb/c.py", False),
        ("a\nb/", "a\nb/c.py", True),
    ],
)
def test_configured_roles(plant, patterns, path, matches):
    assert (open_tree([plant(path)], roles={"benchmark": (patterns,)}).role(path) == "benchmark") is matches


def test_configured_roles_go_before_the_built_in_ones(plant):
    root = plant("tests/engine/a.py", "tests/b.py")
    tree = open_tree([root], roles={"product": ("tests/engine/",), "vendored": ()})
    assert (tree.role("tests/engine/a.py"), tree.role("tests/b.py")) == ("product", "test")


def test_an_unknown_role_is_an_error(plant):
    with pytest.raises(UsageError, match="'tests' is no role"):
        open_tree([plant("a.py")], roles={"tests": ("a/",)})


def test_the_role_of_an_extra_file_is_told_by_its_path_below_its_root(plant):
    engine = plant("sglang/test/x.py", "sglang/y.py", root="tests/engine")
    tree = open_tree([plant("a.py")], extra=[engine])
    assert tree.role("<with:engine>/sglang/test/x.py") == "test"
    assert tree.role("<with:engine>/sglang/y.py") == "product"
