"""What ends a run before it has an answer. The command line turns each of these into exit status 2.

A message says what happened and what to do next. Code that cannot be understood is never an error: it is data.
"""


class AuditError(Exception):
    """Indicates that the run cannot go on until the user mends something; the base of all the others."""


class UsageError(AuditError):
    """Indicates that an argument is not one that the program takes; the user can write it as the message shows."""


class UnreadableRoot(AuditError):
    """Indicates that a path cannot be audited (missing, not readable, no Python in it); the user can name another."""


class ReleaseUnavailable(AuditError):
    """Indicates that a release could not be fetched or kept; the user can mend the network, the name or the cache."""


class UnknownRevision(AuditError):
    """Indicates that git does not know a revision here; the user can name another, or fetch it."""
