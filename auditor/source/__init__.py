"""Room ``source``: find, select and read the files of the audited tree. The only room that reads it.

*Path*: the POSIX path of a file relative to ``SourceTree.root``; the key everywhere. Files of an extra root
(``--with``) carry the prefix ``<with:NAME>/``, which no path of the audited tree can have. *Role*: what a file is for
(``product``, ``test``, ``benchmark``, ``example``, ``vendored``). *Problem*: something that could not be read, as data.
*Skipped*: what was left out on purpose, by reason.

Invariants: nothing of the tree is imported or run; no link out of the audited root is followed and no FIFO, socket or
device is opened for real; every file is read at most once, so that what is analysed is what is displayed; the answer
does not depend on argument order, working directory or file-system order. It knows no syntax.
"""

from auditor.source.display import display
from auditor.source.reading import declared_encoding, decode, digest_of
from auditor.source.release import cache_home, fetch_release, release_folder
from auditor.source.revisions import INDEX, Revisions, Snapshot
from auditor.source.roles import ROLES
from auditor.source.stamps import Stamps
from auditor.source.tree import Problem, SourceTree, open_tree
from auditor.source.words import mentions

__all__ = [
    "INDEX",
    "ROLES",
    "Problem",
    "Revisions",
    "Snapshot",
    "SourceTree",
    "Stamps",
    "cache_home",
    "declared_encoding",
    "decode",
    "digest_of",
    "display",
    "fetch_release",
    "mentions",
    "open_tree",
    "release_folder",
]
