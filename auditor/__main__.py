"""The command ``bufgate``, which is also ``python -m auditor``."""

from __future__ import annotations

import signal


def main() -> None:
    """Load the command line and run it; until it is there, Ctrl-C ends the process without a word."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # not where a shell has it ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from auditor.interfaces.cli import main as command_line

    signal.signal(signal.SIGINT, handler)
    command_line(prog_name="bufgate")


if __name__ == "__main__":
    main()
