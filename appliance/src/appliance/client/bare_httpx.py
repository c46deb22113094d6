"""httpx without its command line: imported before httpx, for its side effect.

httpx imports that command line wherever click, rich and pygments are installed, and goes on without it
where the import fails. It would be 3 to 6 MB of each process, and nothing here uses it.
"""

from __future__ import annotations

import sys
from typing import Any, cast

# None says that there is no such module.
cast(dict[str, Any], sys.modules).setdefault("httpx._main", None)
