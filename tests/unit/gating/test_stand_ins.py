"""What stands for an object of a class, where nobody is known to make one."""

from __future__ import annotations

from tests.fixtures.test_fixtures import FIXTURES, run


def test_a_stand_in_adds_no_binding_beside_the_objects_of_its_class() -> None:
    """The helper that a pool builds is a pool's, whoever else might make one: nothing says that it is none."""
    report = run(FIXTURES / "delegation" / "sidecar")
    reads = [site for site in report.sites if site.kind == "attribute" and site.name == "index_k_buffer"]
    reasons = {one.reason for site in reads for one in site.bindings if "engine.IndexKeys" in one.classes}
    assert reasons == {"", "store"}
