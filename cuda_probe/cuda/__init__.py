"""The same experiments on a GPU: the load is delayed, the reader runs at once, and what it saw is compared.

A GPU shows what happens, not what may: nothing wrong in N trials is evidence, no proof, and only where the positive
control was caught each time. Written against the documentation and driven through the simulated device in tests.
"""

from cuda_probe.cuda.capability import ARCHITECTURES, why_not
from cuda_probe.cuda.compile import NvrtcMissing, compile_kernels
from cuda_probe.cuda.experiment import CudaExperiment

__all__ = ["ARCHITECTURES", "CudaExperiment", "NvrtcMissing", "compile_kernels", "why_not"]
