"""LMCache 0.5.6 by its pack: the readers of what its connectors stage are few, and each is exempt for a reason; what is
told is of its loaders (docs/audit-lmcache-0.5.6.md)."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.corpus.audits import audit_release

pytestmark = pytest.mark.corpus


def test_every_read_of_a_staging_buffer_is_accounted_for(release) -> None:
    release("lmcache==0.5.6")
    done = audit_release("lmcache==0.5.6")
    assert done.exit == 0, done.stderr
    report = done.report
    assert report["engine"]["name"] == "lmcache"
    assert {finding["check"] for finding in report["findings"]} == {"unfenced-transfer"}
    reasons = Counter(site["bindings"][0]["reason"] for site in report["sites"])
    assert reasons == {"no-load": 5, "metadata": 4, "transfer-side": 2, "store": 2}
