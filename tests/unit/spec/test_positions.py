"""Keys are found where they stand, whatever the values around them look like."""

import tomllib

from auditor.spec.positions import locate, positions

TEXT = '''\
# [not] a = "table"
schema = 1
text = """
[not.a.table]
key = 1
"""
list = [
  "]", # ] key = 2
  ['x = 3'],
]
[head] # comment
  "quoted key" = 'a # b'
a.b = { c = [1,
2], d = 3 }
[[row]]
x = 1
[[row]]
x = """ "" """
  y = 2
[row.sub]
z = 1
'''


def test_every_key_is_found_where_it_stands():
    tomllib.loads(TEXT)
    assert positions(TEXT) == {
        ("schema",): (2, 1),
        ("text",): (3, 1),
        ("list",): (7, 1),
        ("head",): (11, 1),
        ("head", "quoted key"): (12, 3),
        ("head", "a", "b"): (13, 1),
        ("row",): (15, 1),
        ("row", 0): (15, 1),
        ("row", 0, "x"): (16, 1),
        ("row", 1): (17, 1),
        ("row", 1, "x"): (18, 1),
        ("row", 1, "y"): (19, 3),
        ("row", 1, "sub"): (20, 1),
        ("row", 1, "sub", "z"): (21, 1),
    }


def test_what_has_no_position_has_that_of_what_is_around_it():
    found = positions(TEXT)
    assert locate(found, ("row", 1, "missing")) == (17, 1)
    assert locate(found, ("head", "a", "b", "d")) == (13, 1)
    assert locate(found, ("nowhere",)) == (1, 1)
