"""``python -m cuda_probe``."""

import sys

from cuda_probe.cli import main

sys.exit(main())
