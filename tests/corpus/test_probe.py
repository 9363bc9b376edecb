"""The probe on real releases: what was broken is confirmed, what was fixed is ordered."""

from __future__ import annotations

import pytest

from auditor.errors import ReleaseUnavailable

pytest.importorskip("torch", reason="PyTorch is not installed (make probe installs it)")

from tests.probed_releases import FEW, RELEASES, probed  # needs PyTorch

pytestmark = [pytest.mark.corpus, pytest.mark.xdist_group("probe")]


@pytest.mark.parametrize(("package", "release"), RELEASES)
def test_a_release_earns_the_labels_that_it_should(package: str, release: str) -> None:
    """Before a fix: a race whatever the schedule, and a witness that reads wrong bytes. After it: none."""
    try:
        seen = {
            case.experiment.id: (record.to_json()["label"], case.expected)
            for case, record in probed(package, release, FEW)
        }
    except ReleaseUnavailable as error:
        pytest.skip(str(error))
    assert {name: label for name, (label, _) in seen.items()} == {
        name: expected for name, (_, expected) in seen.items()
    }


def test_the_loader_is_the_engines_own_where_it_can_be_built() -> None:
    """Controller, host pool and counter of 0.5.10; only its copy kernels are replaced, and the evidence says so."""
    try:
        records = {case.method: record for case, record in probed("sglang", "0.5.10", FEW)}
    except ReleaseUnavailable as error:
        pytest.skip(str(error))
    fidelity = records["get_index_k_scale_buffer"].fidelity
    assert fidelity is not None
    assert (fidelity.loader, fidelity.kernels, fidelity.counter) == ("real-controller", "reference", "real")
