"""``python -m auditor`` is the command ``bufgate``."""

from auditor.interfaces.cli import main

main(prog_name="bufgate")
