"""bufgate: does every read of a transferred buffer wait for its transfer?

Start reading at ``auditor.audit``: the whole program is the one function there.
"""

__version__ = "0.1.0"
