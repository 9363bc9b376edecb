"""The GPU backend, without a GPU: its kernels compile, its refusals are told, and its trials run on the simulated
device."""

# ruff: noqa: E402 -- what needs PyTorch is imported once it is known to be there

from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from cuda_probe.cuda import ARCHITECTURES, CudaExperiment, NvrtcMissing, capability, compile_kernels, why_not
from cuda_probe.cuda.compile import CompileError
from cuda_probe.dispatch import Machine, running
from cuda_probe.evidence import Backend
from cuda_probe.labels import label
from cuda_probe.loading import imported_tree
from cuda_probe.objects import instances, tensors
from cuda_probe.recipe import Reader, Wanted
from cuda_probe.recipes.minikv import MiniKV
from cuda_probe.scenarios import SCENARIOS
from cuda_probe.sim import Latest

ENGINE = Path(__file__).parents[2] / "fixtures/engine"


# ---------------------------------------------------------------- kernels


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_kernels_compile(architecture):
    """For Hopper and each Blackwell; nothing of it is run here."""
    try:
        cubin = compile_kernels(architecture)
    except NvrtcMissing as missing:
        pytest.skip(str(missing))
    assert cubin.startswith(b"\x7fELF")
    assert b"probe_delay" in cubin


def test_a_kernel_that_does_not_compile_is_told_in_the_words_of_the_compiler():
    """And an architecture that there is none of."""
    try:
        with pytest.raises(CompileError, match=r"sm_90: .*undefined_name"):
            compile_kernels("sm_90", "__global__ void f() { undefined_name(); }")
        with pytest.raises(CompileError, match="sm_1"):
            compile_kernels("sm_1")
    except NvrtcMissing as missing:
        pytest.skip(str(missing))


# ---------------------------------------------------------------- refusals


@pytest.fixture
def gpu(monkeypatch):
    """A GPU that exists on paper."""

    def of(capability_, built_for=("sm_90", "sm_100")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: capability_)
        monkeypatch.setattr(torch.cuda, "get_arch_list", lambda: list(built_for))
        monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "NVIDIA B200")

    return of


def test_without_a_gpu_it_says_so():
    """Nothing is emulated in its place."""
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    assert why_not({}) == "no GPU: torch.cuda.is_available() says no"


@pytest.mark.parametrize("variable", capability.SERIALISING)
def test_where_streams_do_not_run_side_by_side_it_refuses(gpu, variable):
    """Under launch blocking, sanitizers and profilers nothing would be seen."""
    gpu((10, 0))
    assert why_not({}) is None
    assert why_not({variable: "0"}) is None
    assert str(why_not({variable: "1"})).startswith(f"{variable} is set")


@pytest.mark.parametrize(
    ("capability_", "built_for", "runs"),
    [
        ((9, 0), ("sm_90",), True),
        ((10, 3), ("sm_100",), True),
        ((12, 1), ("sm_120",), True),
        ((12, 0), ("sm_90", "sm_100"), False),
        ((10, 0), ("sm_90", "compute_90"), True),  # PTX is compiled by the driver
    ],
)
def test_the_torch_of_the_machine_has_to_have_code_for_its_gpu(gpu, capability_, built_for, runs):
    """Its own architecture, one of its family, or PTX."""
    gpu(capability_, built_for)
    assert (why_not({}) is None) is runs


def test_evidence_names_the_exact_architecture(gpu):
    """And the device by its name."""
    gpu((10, 3))
    backend = capability.backend()
    assert (backend.kind, backend.sm, backend.device) == ("cuda", "sm_103", "NVIDIA B200")


# ---------------------------------------------------------------- trials, driven through the simulated device

H200 = Backend("cuda", torch="0", device="NVIDIA H200", sm="sm_90")


@contextmanager
def experiment(configuration, class_, method):
    """On the adversary's schedule, which is what a long delay makes of a real one."""
    recipe = MiniKV()
    with imported_tree(recipe.importer(ENGINE)), running(Machine(Latest()), available=True) as machine:
        builds = dict(recipe.builds(Wanted(object)))

        def make():
            rig = builds[configuration](machine)
            (target,) = (
                one for _, one in instances(rig.pool, "minikv", type(rig.pool)) if type(one).__name__ == class_
            )
            return rig, Reader(target, method, partial(recipe.values, rig), "minikv")

        rig, _ = make()
        buffers = tuple(path for path, _ in tensors(rig.pool, "minikv"))
        yield lambda layer: CudaExperiment(make, layer, buffers, H200)


@pytest.mark.parametrize(
    ("configuration", "class_", "method", "scenario", "expected"),
    [
        ("latent, some layers", "RouterPool", "get_mla_kv_buffer", "base", "confirmed on sm_90"),
        ("latent, some layers", "RouterPool", "get_key_buffer", "base", "ordered in 3 trials on sm_90"),
        ("pair", "PairPool", "get_key_buffer", "base", "ordered in 3 trials on sm_90"),
        ("pair", "PairPool", "get_key_buffer", "counter-disarmed", "confirmed on sm_90"),
        ("pair", "PairPool", "get_key_buffer", "stale-consumer", "confirmed on sm_90"),
        ("pair", "PairPool", "get_key_buffer", "other-stream", "confirmed on sm_90"),
        ("pair", "PairPool", "get_key_buffer", "captured", "confirmed on sm_90"),
    ],
)
def test_its_logic_on_a_device_where_the_load_is_always_late(configuration, class_, method, scenario, expected):
    """Wrong bytes, a reader that is done before its load, controls: the same verdicts as the clocks give. No GPU was
    seen."""
    with experiment(configuration, class_, method) as made:
        observation = made(2).run(SCENARIOS[scenario], trials=3, delay_ms=1e6)
    assert observation.doubt is None
    assert observation.controls.positive.wrong == 3
    assert observation.controls.negative.wrong == 0
    assert label(observation) == expected
    if expected.startswith("confirmed") and scenario == "base":
        assert observation.trials.early == 3


def test_a_delay_that_is_too_short_is_doubted():
    """If launching the reader takes as long, nothing wrong read means nothing."""
    with experiment("pair", "PairPool", "get_key_buffer") as made:
        observation = made(3).run(SCENARIOS["base"], trials=2, delay_ms=0.001)
    assert label(observation).startswith("inconclusive: launching took")
