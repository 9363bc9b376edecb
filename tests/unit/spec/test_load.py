"""A pack is read as written, or refused with every fault at its place."""

from pathlib import Path

import pytest

from auditor.errors import AuditError
from auditor.spec import (
    Arming,
    Assumption,
    GatePrimitive,
    Kernel,
    PackError,
    UnknownPack,
    built_in_packs,
    data,
    find_pack,
    load_pack,
    parse_pack,
)

EXAMPLE = Path(__file__).parent / "example.toml"
HEAD = """\
schema = 1
[engine]
name = "e"
why = "Because."
[[recognise]]
identifiers = ["Pool"]
why = "Because."
"""


def faults(text):
    """The faults of a pack as (line, column, what)."""
    with pytest.raises(PackError) as caught:
        parse_pack(text, "pack.toml")
    return [fault[1:] for fault in caught.value.faults]


def added(text):
    """The faults of lines after a valid head; line 1 is the first of them."""
    height = HEAD.count("\n")
    return [(line - height, column, what) for line, column, what in faults(HEAD + text)]


class TestGoodPacks:
    def test_every_table_of_the_example_is_read(self):
        pack = load_pack(EXAMPLE)
        assert pack.name == "example"
        assert pack.origin == EXAMPLE.as_posix()
        assert [group.patterns for group in pack.accessors] == [
            ("get_*_buffer", "get_*buffer*"),
            ("gather_index", "take[12]"),
        ]
        assert pack.gates == (
            GatePrimitive("wait_until", "layer_counter", 0, "local", "Makes the current stream wait for a layer."),
        )
        assert pack.arming == (Arming("register_counter", 1, "Sets the counter of a pool."),)
        assert pack.kernels == (Kernel("copy_blocks", ("destination", 2), "Reads its source only."),)
        assert pack.uses.metadata == ("shape", "dtype")

    def test_no_table_of_the_example_is_empty(self):
        pack = load_pack(EXAMPLE)
        assert all(getattr(pack, name) for name in pack.__slots__)

    def test_tables_that_are_left_out_are_empty(self):
        pack = parse_pack(HEAD, "pack.toml")
        assert pack.gates == ()
        assert pack.uses.views == ()
        assert pack.version_file == ""

    def test_the_text_form_does_not_matter(self):
        text = 'schema = 1\nengine = {name = "e", why = "w"}\nrecognise = [{identifiers = ["P"], why = "w"}]\n'
        assert parse_pack(text, "x") == parse_pack(HEAD.replace("Because.", "w").replace("Pool", "P"), "x")

    def test_windows_files_are_read(self, tmp_path):
        (tmp_path / "pack.toml").write_bytes(b"\xef\xbb\xbf" + HEAD.replace("\n", "\r\n").encode())
        assert load_pack(str(tmp_path / "pack.toml")).name == "e"

    def test_an_assumption_is_read(self):
        assert isinstance(load_pack(EXAMPLE).assumptions[0], Assumption)


class TestFaults:
    def test_an_unknown_key_is_told_with_its_likely_name(self):
        assert added('[[pools]]\npattern = ["A"]\nwhy = "w"\n') == [
            (1, 1, "'patterns' is missing in pools"),
            (2, 1, "unknown key 'pattern' in pools (did you mean 'patterns'?)"),
        ]

    def test_an_unknown_table_is_told_with_its_likely_name(self):
        assert added('[[gate]]\nmethod = "m"\n') == [(1, 1, "unknown key 'gate' (did you mean 'gates'?)")]

    def test_a_wrong_type_is_told_at_the_key(self):
        text = '[[gates]]\nmethod = "m"\n  argument = "0"\ncounter = "c"\nwhy = "w"\n'
        assert added(text) == [(3, 3, "argument must be a position (a whole number from 0), not '0'")]

    def test_a_bool_is_no_number(self):
        text = '[[arming]]\nmethod = "m"\nargument = true\nwhy = "w"\n'
        assert added(text) == [(3, 1, "argument must be a position (a whole number from 0), not true")]

    def test_an_empty_why_is_a_fault(self):
        assert added('[[pools]]\npatterns = ["A"]\nwhy = " "\n') == [
            (3, 1, "why must be a text that says something, not ' '")
        ]

    def test_an_empty_list_of_patterns_is_a_fault(self):
        [(line, _, what)] = added('[[pools]]\npatterns = []\nwhy = "w"\n')
        assert line == 2
        assert what.startswith("patterns must be a list (not empty)")

    def test_a_dotted_pattern_could_never_match(self):
        [(line, _, what)] = added('[[pools]]\npatterns = ["a.B"]\nwhy = "w"\n')
        assert line == 2
        assert "no dots" in what

    def test_a_value_outside_a_closed_set_is_told_with_the_likely_one(self):
        text = '[[entries]]\nfunction = "f"\nmode = "eagre"\nphase = "no-load"\nwhy = "w"\n'
        assert added(text) == [(3, 1, "mode must be one of 'eager', 'replay', not 'eagre' (did you mean 'eager'?)")]

    def test_an_id_is_given_once(self):
        row = '[[assumptions]]\nid = "a"\nfact = "f"\nscope = "s"\nverdict = "store"\nwhy = "w"\nupstream = "u"\n'
        assert added(row + row) == [(9, 1, "'a' is already in assumptions (line 8)")]

    def test_a_pattern_is_given_once_in_its_table(self):
        text = '[[pools]]\npatterns = ["A"]\nwhy = "w"\n[[pools]]\npatterns = ["B", "A"]\nwhy = "w"\n'
        assert added(text) == [(5, 1, "'A' is already in pools (line 8)")]

    def test_the_two_shapes_of_a_table_are_not_confused(self):
        assert added('[pools]\npatterns = ["A"]\n') == [(1, 1, "pools must be a list of tables: write [[pools]]")]
        assert added('[[uses]]\nwhy = "w"\n') == [(1, 1, "uses must be one table: write [uses]")]

    def test_every_fault_is_told_at_once_in_the_order_of_the_file(self):
        text = 'schema = 2\nfoo = 1\n[engine]\nname = "Big Name"\n[[recognise]]\nidentifiers = "Pool"\nwhy = ""\n'
        found = faults(text)
        assert [line for line, _, _ in found] == [1, 2, 3, 4, 6, 7]

    def test_a_missing_head_is_told(self):
        assert [what for _, _, what in faults("")] == [
            "'engine' is missing",
            "'recognise' is missing",
            "schema = 1 is missing (the version of the pack format)",
        ]

    def test_a_fault_inside_an_inline_table_is_told_at_the_key_around_it(self):
        text = 'schema = 1\n\nengine = {name = 1, why = "w"}\nrecognise = [{identifiers = ["P"], why = "w"}]\n'
        assert [fault[:2] for fault in faults(text)] == [(3, 1)]

    def test_a_syntax_fault_has_its_place(self):
        [(line, column, what)] = faults('schema = 1\nname = "open\n')
        assert (line, column) == (2, 13)
        assert what.startswith("not TOML: ")

    def test_a_syntax_fault_at_the_end_has_its_place(self):
        assert faults("schema = 1\nname = [1,\n")[0][0] >= 2

    def test_a_file_made_to_break_the_reader_is_a_fault(self):
        assert faults("a = " + "[" * 100_000) == [(1, 1, "nested too deeply to be read")]

    def test_the_text_is_a_list_that_editors_jump_to(self):
        with pytest.raises(AuditError, match=r"^pack.toml:1:1: 'engine' is missing\npack.toml:1:1: "):
            parse_pack("", "pack.toml")

    def test_a_file_that_is_not_there_is_a_fault(self, tmp_path):
        with pytest.raises(PackError, match="cannot read it: No such file"):
            load_pack(tmp_path / "none.toml")

    def test_a_file_that_is_not_text_is_a_fault(self, tmp_path):
        (tmp_path / "pack.toml").write_bytes(b"\xff\xfe")
        with pytest.raises(PackError, match="not UTF-8"):
            load_pack(tmp_path / "pack.toml")


class TestFinding:
    def test_the_built_in_packs_are_valid_and_have_names_of_their_own(self):
        names = [pack.name for pack in built_in_packs()]
        assert len(names) == len(set(names)) == len([f for f in data("rules").iterdir() if f.name.endswith(".toml")])

    def test_the_origin_of_a_built_in_pack_is_the_same_on_every_machine(self):
        assert all(pack.origin.startswith("rules/") for pack in built_in_packs())

    def test_a_pack_of_the_user_goes_before_a_built_in_one(self):
        mine = load_pack(EXAMPLE)
        assert find_pack("example", (mine,)) is mine

    def test_a_pack_may_be_named_by_its_file(self):
        assert find_pack(str(EXAMPLE)) == load_pack(EXAMPLE)

    def test_an_unknown_name_is_told_with_its_likely_one(self):
        with pytest.raises(UnknownPack, match="no rule pack 'exmaple' \\(did you mean 'example'\\?\\)"):
            find_pack("exmaple", (load_pack(EXAMPLE),))
