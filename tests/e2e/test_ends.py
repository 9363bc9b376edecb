"""How a run ends that is disturbed from outside: nobody reads, nothing can be written, somebody presses Ctrl-C."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys

import pytest

from tests.e2e.process import LIMIT, ROOT, command, environment, run


def start(*arguments, disturb="", **options):
    line = command(*arguments, disturb=disturb)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen(line, cwd=ROOT, env=environment(), encoding="utf-8", **pipes)


@pytest.mark.parametrize("format_", ["text", "json"])
def test_a_reader_that_is_gone(tree, format_):
    process = start("check", tree, "--quiet", "--jobs", "1", "-o", format_)
    process.stdout.close()
    told = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=LIMIT) == 141
    assert told == ""


def test_files_are_written_although_the_reader_is_gone(tree, tmp_path):
    file = tmp_path / "r.json"
    process = start("check", tree, "--quiet", "-o", "text", "-o", f"json:{file}", stderr=subprocess.DEVNULL)
    process.stdout.close()
    process.wait(timeout=LIMIT)
    assert file.read_text(encoding="utf-8").rstrip().endswith("}")


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a folder in which nobody may write")
def test_a_folder_in_which_nobody_may_write(tree):
    done = run("check", tree, "-o", "json:/proc/self/report.json")
    assert done.exit == 2
    assert "/proc/self/report.json" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere; the test above holds for root too")
def test_a_read_only_folder(tree, tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0o555)
    done = run("check", tree, "-o", f"json:{folder / 'r.json'}")
    assert done.exit == 2
    assert "ermission denied" in done.stderr
    assert list(folder.iterdir()) == []


def test_an_output_folder_that_is_not_there_is_refused_before_the_work(tree, tmp_path):
    done = run("check", tree, "-o", f"json:{tmp_path / 'nowhere' / 'r.json'}")
    assert done.exit == 2
    assert "does not exist" in done.stderr


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("before", [None, "the report of yesterday\n"], ids=["no report", "an older report"])
def test_ctrl_c_leaves_no_half_report_and_no_process(tree, tmp_path, jobs, before):
    """SIGINT goes to the whole group, as a terminal sends it."""
    out = tmp_path / "out"
    out.mkdir()
    file = out / "r.json"
    if before is not None:
        file.write_text(before)
    arguments = ("check", tree, "--jobs", jobs, "-o", f"json:{file}")
    process = start(*arguments, disturb="slow:", start_new_session=True)
    assert process.stderr.readline() == "reading\n"
    os.killpg(process.pid, signal.SIGINT)
    stdout, told = process.communicate(timeout=LIMIT)
    assert (process.returncode, stdout) == (130, "")
    assert "Traceback" not in told
    assert "interrupted" in told
    assert [path.name for path in out.iterdir()] == ([] if before is None else ["r.json"])
    assert before is None or file.read_text() == before
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_stream_that_the_caller_has_closed(tree, tmp_path, closed):
    """It is nobody's concern: the report is written, and no file takes the place of the stream."""
    file = tmp_path / "r.json"
    line = f"{shlex.join(map(str, command('check', tree, '--no-timing', '-o', f'json:{file}')))} {closed}"
    shell = ["sh", "-c", line]
    done = subprocess.run(shell, cwd=ROOT, env=environment(), capture_output=True, timeout=LIMIT, check=False)
    assert (done.returncode, b"internal error" in done.stderr) == (1, False)
    assert file.read_bytes() == run("check", tree, "--no-timing", "-o", "json").stdout.encode()


def test_ctrl_c_while_the_command_is_loaded():
    """The process ends by the signal, as shells expect it, and prints no traceback of imports."""
    code = """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, *_):
        if name == "auditor.interfaces.cli":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
from auditor.__main__ import main
main()
"""
    line = [sys.executable, "-c", code]
    done = subprocess.run(line, cwd=ROOT, env=environment(), capture_output=True, timeout=LIMIT, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")
