"""Real classes from an unpacked tree, without what the tree depends on.

Modules of the *focus* are executed as they are; every other module of the tree, and every package that is not
installed, is replaced by a *stub*, and each stub is told with its reason: evidence carries the list. Executing a tree
runs its code.
"""

from cuda_probe.loading.importer import TreeImporter, imported_tree
from cuda_probe.loading.stubs import Stub, kernel_calls

__all__ = ["Stub", "TreeImporter", "imported_tree", "kernel_calls"]
