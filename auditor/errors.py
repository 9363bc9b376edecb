"""The one base of every error that the user can mend."""


class AuditError(Exception):
    """Indicates that the audit cannot go on, and its text says what the user can do about it."""
