# ruff: noqa: E501  # a program a line reads better than a program torn apart
"""Which objects come to a place: conditions from allocation to site, and what they are taken from."""

from __future__ import annotations

import pytest

from auditor.errors import UsageError
from tests.unit.conditions.programs import PACK, ask

POOLS = """
import torch

def is_npu():
    return hasattr(torch, "npu")

def is_cuda():
    return torch.version.cuda is not None

class Pool:
    def get_it(self):
        return self

class LeftPool(Pool):
    only_left = 1

class RightPool(Pool):
    pass

class Args:
    def __init__(self, **given):
        self.__dict__.update(given)

def load_args() -> Args:
    return Args()

class Runner:
    def __init__(self, args: Args, wanted):
        self.args = args
        self.wanted = wanted
        self.use_left = args.kind == "left"
        self.pool = self._build()
    def _build(self):
        BUILD

def main(wanted):
    return Reader(Runner(load_args(), wanted))
"""
BUILD = """if self.use_left:
            pool = LeftPool()
        else:
            pool = RightPool()
        return pool"""


def program(reader: str, build: str = BUILD) -> str:
    return POOLS.replace("BUILD", build) + reader


READ = """
class Reader:
    def __init__(self, runner: Runner):
        self.runner = runner
        self.pool = runner.pool
        self.use_left = runner.use_left
    def read(self):
        TEST
"""

SAME = {
    "the field": "if self.use_left:\n            self.pool.get_it()",
    "not": "if not self.use_left:\n            return\n        self.pool.get_it()",
    "else": "if not self.use_left:\n            pass\n        else:\n            self.pool.get_it()",
    "assert": "assert self.use_left\n        self.pool.get_it()",
    "raise": "if not self.use_left:\n            raise ValueError\n        self.pool.get_it()",
    "what the field was read from": "if self.runner.args.kind == 'left':\n            self.pool.get_it()",
    "of one": "if self.runner.args.kind in ('left',):\n            self.pool.get_it()",
    "a local": "wanted = self.use_left\n        if wanted:\n            self.pool.get_it()",
    "and": "if self.use_left and self.runner.wanted:\n            self.pool.get_it()",
    "bool": "if bool(self.use_left):\n            self.pool.get_it()",
    "getattr": "if self.runner.args.kind != 'left':\n            return\n        getattr(self, 'pool').get_it()",
}


@pytest.mark.parametrize("test", SAME.values(), ids=SAME)
def test_what_is_made_otherwise_does_not_come(test):
    answer = ask(program(READ.replace("TEST", test)))
    assert answer.classes == {"LeftPool"}
    assert "Args.kind" in answer.why_not("RightPool")
    assert "Args.kind == 'left'" in answer.when("LeftPool")


OTHER = {
    "no test": "self.pool.get_it()",
    "another setting": "if self.runner.args.other:\n            self.pool.get_it()",
    "of two": "if self.runner.args.kind in ('left', 'both'):\n            self.pool.get_it()",
    "or": "if self.use_left or self.runner.wanted:\n            self.pool.get_it()",
    "after the join": "if self.use_left:\n            print()\n        self.pool.get_it()",
    "something that changes": "if self.runner.wanted.mode == 'left':\n            self.pool.get_it()",
    "in a loop": "while self.runner.wanted:\n            self.pool.get_it()",
}


@pytest.mark.parametrize("test", OTHER.values(), ids=OTHER)
def test_what_may_be_made_under_it_stays(test):
    assert ask(program(READ.replace("TEST", test))).classes == {"LeftPool", "RightPool"}


def test_the_class_is_a_value():
    build = "cls = RightPool\n        if self.use_left:\n            cls = LeftPool\n        return cls()"
    answer = ask(program(READ.replace("TEST", SAME["the field"]), build))
    assert answer.classes == {"LeftPool"}


def test_a_reader_that_is_built_under_a_condition():
    build = READ.replace("TEST", "self.pool.get_it()") + (
        "\ndef make(runner: Runner):\n    if not runner.use_left:\n        raise ValueError\n    return Reader(runner)\n"
    )
    source = program(build).replace(
        "return Reader(Runner(load_args(), wanted))", "return make(Runner(load_args(), wanted))"
    )
    answer = ask(source)
    assert answer.classes == {"LeftPool"}
    assert answer.when("LeftPool") == ("Args.kind == 'left'",)


def test_platforms_exclude_each_other():
    build = "if is_npu():\n            return LeftPool()\n        return RightPool()"
    answer = ask(program(READ.replace("TEST", "if is_cuda():\n            self.pool.get_it()"), build))
    assert answer.classes == {"RightPool"}
    assert answer.why_not("LeftPool") == (
        "it is made only where platform == npu, control comes here only where platform == cuda"
    )


def test_a_variable_of_the_module_is_what_it_was_bound_to():
    build = "if IS_NPU:\n            return LeftPool()\n        return RightPool()"
    reader = READ.replace("TEST", "if not is_npu():\n            self.pool.get_it()") + "\nIS_NPU = is_npu()\n"
    assert ask(program(reader, build)).classes == {"RightPool"}


def test_a_switch_that_objects_of_a_class_have_differently_says_nothing():
    """One runner with it reads the pool of another without."""
    source = """
class Pool:
    def get_it(self):
        return self
class LeftPool(Pool): pass
class RightPool(Pool): pass
class Runner:
    def __init__(self, draft):
        self.draft = draft
        if draft:
            self.pool = LeftPool()
        else:
            self.pool = RightPool()
    def _read(self, other):
        if self.draft:
            other.pool.get_it()
def main():
    one, other = Runner(True), Runner(False)
    one._read(other)
"""
    assert ask(source).classes == {"LeftPool", "RightPool"}


def test_a_public_method_may_be_called_with_anything():
    reader = READ.replace("def read(self):", "def read(self, flag=False):").replace(
        "TEST", "if flag:\n            self.pool.get_it()"
    )
    assert ask(program(reader)).classes == {"LeftPool", "RightPool"}


def test_a_switch_that_nothing_turns_may_be_turned_by_others():
    reader = READ.replace("self.runner = runner", "self.runner = runner\n        self.on = False").replace(
        "TEST", "if self.on:\n            self.pool.get_it()"
    )
    assert ask(program(reader)).classes == {"LeftPool", "RightPool"}


def test_what_a_method_sets_is_no_condition():
    for change in ("self.use_left = wanted", "setattr(self, 'use_left', wanted)"):
        reader = READ.replace("TEST", "if self.use_left:\n            self.pool.get_it()") + (
            f"    def turn(self, wanted):\n        {change}\n"
        )
        assert ask(program(reader)).classes == {"LeftPool", "RightPool"}


def test_what_was_read_before_must_be_there():
    answer = ask(program(READ.replace("TEST", "size = self.pool.only_left\n        self.pool.get_it()")))
    assert answer.classes == {"LeftPool"}
    assert answer.why_not("RightPool").startswith("it has no `only_left`, which is read before in line ")


def test_what_a_class_body_binds_is_there():
    nested = POOLS.replace("    only_left = 1", "    class Inner: pass\n    made = Inner()")
    for name in ("Inner", "made", "__class__"):
        reader = READ.replace("TEST", f"self.pool.{name}\n        self.pool.get_it()")
        answer = ask(nested.replace("BUILD", BUILD) + reader)
        assert "LeftPool" in answer.classes


def test_what_is_read_later_or_with_a_handler_need_not_be():
    for test in (
        "self.pool.get_it()\n        self.pool.only_left",
        "try:\n            self.pool.only_left\n        except AttributeError:\n            pass\n        self.pool.get_it()",
        "if self.runner.wanted:\n            self.pool.only_left\n        self.pool.get_it()",
    ):
        assert ask(program(READ.replace("TEST", test))).classes == {"LeftPool", "RightPool"}


class TestImplications:
    """What a pack knows."""

    READER = READ.replace("TEST", "self.pool.get_it()")

    def test_where_code_runs(self):
        pack = f"""{PACK}
[[implications]]
scope = ["m.Reader.*"]
then = ["Args.kind == 'left'"]
why = "It reads nothing else."
"""
        assert ask(program(self.READER), pack).classes == {"LeftPool"}

    def test_what_a_class_is_for(self):
        pack = f"""{PACK}
[[implications]]
classes = ["Right*"]
then = ["platform == npu"]
why = "Its layout."
"""
        reader = READ.replace("TEST", "if is_cuda():\n            self.pool.get_it()")
        assert ask(program(reader), pack).classes == {"LeftPool"}

    def test_one_condition_follows_from_another(self):
        pack = f"""{PACK}
[[implications]]
when = "Args.kind == *"
then = ["platform == npu"]
why = "Kinds are of that card."
"""
        reader = READ.replace("TEST", "if is_cuda():\n            self.pool.get_it()")
        assert ask(program(reader), pack).classes == {"RightPool"}


class TestAssumed:
    """``--assume K=V``."""

    READER = READ.replace("TEST", "self.pool.get_it()")

    @pytest.mark.parametrize("assumed", ["use_left=true", "kind=left", "use_left = true"])
    def test_it_prunes(self, assumed):
        answer = ask(program(self.READER), assumed=[assumed])
        assert answer.classes == {"LeftPool"}
        assert answer.why_not("RightPool").startswith("it is assumed that Args.kind == 'left'")

    def test_the_contrary(self):
        assert ask(program(self.READER), assumed=["use_left=false"]).classes == {"RightPool"}

    def test_a_platform(self):
        build = "if is_npu():\n            return LeftPool()\n        return RightPool()"
        assert ask(program(self.READER, build), assumed=["platform=cuda"]).classes == {"RightPool"}

    @pytest.mark.parametrize(
        ("assumed", "said"),
        [
            ("use_lef=true", "did you mean 'use_left'?"),
            ("platform=cudda", "did you mean 'cuda'?"),
            ("use_left", "write NAME=VALUE"),
            ("=true", "write NAME=VALUE"),
        ],
    )
    def test_mistakes_say_what_to_do(self, assumed, said):
        with pytest.raises(UsageError) as error:
            ask(program(self.READER), assumed=[assumed])
        assert said.lower() in str(error.value).lower()

    def test_two_that_exclude_each_other(self):
        with pytest.raises(UsageError, match="cannot hold together"):
            ask(program(self.READER), assumed=["use_left=true", "use_left=false"])


def test_proved_is_what_assignments_lead_to():
    declared = """
class Pool:
    def get_it(self):
        return self
class LeftPool(Pool): pass
def read(pool: LeftPool):
    pool.get_it()
"""
    assert not ask(declared).meetings["LeftPool"].proved
    assert ask(declared + "\nread(LeftPool())\n").meetings["LeftPool"].proved
