"""The kernels, compiled by NVRTC: no GPU is needed, so every architecture can be checked anywhere (extra
``bufgate[nvrtc]``)."""

from __future__ import annotations

from importlib.resources import files
from typing import Any


class NvrtcMissing(RuntimeError):
    """Indicates that NVRTC is not installed (pip install 'bufgate[nvrtc]')."""


class CompileError(RuntimeError):
    """Indicates kernels that do not compile, with the compiler's own words."""


def source() -> str:
    """Return the source of the kernels."""
    return files("cuda_probe.cuda").joinpath("kernels.cu").read_text(encoding="utf-8")


def compile_kernels(architecture: str, text: str | None = None) -> bytes:
    """Compile the kernels for an architecture (``sm_100``); return the cubin.

    Raises:
        NvrtcMissing: NVRTC is not installed.
        CompileError: the compiler refuses.
    """
    try:
        from cuda.bindings import nvrtc

        nvrtc.nvrtcVersion()
    except (ImportError, RuntimeError) as error:
        raise NvrtcMissing(f"NVRTC is not installed (pip install 'bufgate[nvrtc]'): {error}") from error
    code = (source() if text is None else text).encode()
    program = _checked(nvrtc.nvrtcCreateProgram(code, b"kernels.cu", 0, [], []))
    (status,) = nvrtc.nvrtcCompileProgram(program, 1, [f"--gpu-architecture={architecture}".encode()])
    if int(status) != 0:
        log = b" " * _checked(nvrtc.nvrtcGetProgramLogSize(program))
        nvrtc.nvrtcGetProgramLog(program, log)
        raise CompileError(f"{architecture}: {log.decode(errors='replace').strip() or status}")
    cubin = b" " * _checked(nvrtc.nvrtcGetCUBINSize(program))
    nvrtc.nvrtcGetCUBIN(program, cubin)
    return cubin


def _checked(result: Any) -> Any:
    status, value = result
    if int(status) != 0:
        raise CompileError(f"NVRTC: {status}")
    return value
