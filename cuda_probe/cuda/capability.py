"""Which GPU this is, and whether what is measured on it would mean anything."""

from __future__ import annotations

import os
from collections.abc import Mapping

import torch

from cuda_probe.evidence import Backend

ARCHITECTURES = ("sm_90", "sm_100", "sm_103", "sm_120", "sm_121")
"""For which the kernels are compiled in tests."""

SERIALISING: Mapping[str, str] = {
    "CUDA_LAUNCH_BLOCKING": "every launch waits for the one before",
    "TORCH_CUDA_SANITIZER": "the sanitizer of PyTorch watches every operator",
    "CUDA_INJECTION64_PATH": "a profiler or sanitizer is injected into the driver",
    "COMPUTE_SANITIZER_INJECTION64_PATH": "compute-sanitizer is injected into the driver",
}
"""Environment variables under which streams do not run side by side as they would."""


def why_not(environment: Mapping[str, str] = os.environ) -> str | None:
    """Return why no experiment can be run on the GPU of this machine; None if it can."""
    if not torch.cuda.is_available():
        return "no GPU: torch.cuda.is_available() says no"
    for variable, why in SERIALISING.items():
        if environment.get(variable, "0") not in ("", "0"):
            return f"{variable} is set: {why}"
    sm, built_for = architecture(), torch.cuda.get_arch_list()
    family = sm[: len("sm_10")] if len(sm) > len("sm_90") else sm[: len("sm_9")]
    if not any(one == sm or one.startswith((family, "compute_")) for one in built_for):
        return f"this PyTorch has no code for {sm} (it has {', '.join(built_for)})"
    return None


def architecture() -> str:
    """Return the exact architecture of the current GPU: ``sm_90``."""
    major, minor = torch.cuda.get_device_capability()
    return f"sm_{major}{minor}"


def backend() -> Backend:
    """Return what evidence says of the current GPU."""
    driver = getattr(torch._C, "_cuda_getDriverVersion", lambda: None)()
    return Backend(
        "cuda",
        torch=str(torch.__version__),
        device=str(torch.cuda.get_device_name()),
        sm=architecture(),
        driver=None if driver is None else str(driver),
        cuda=torch.version.cuda,
    )
