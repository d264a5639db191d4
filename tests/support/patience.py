"""How many times as long as usual tests wait before they give up (PLEAT_TEST_PATIENCE): scripts/test finds out how slowly this
machine starts processes. What a test waits for does not change, and no test that passes takes longer."""

import os

PATIENCE = float(os.environ.get("PLEAT_TEST_PATIENCE", "1"))
