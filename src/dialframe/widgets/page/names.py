"""Names that the page's server and its kernels share; knows neither."""

from __future__ import annotations

from typing import Final

#: Tells the kernel the folder that the page works in.
FOLDER: Final = "DIALFRAME_APP_FOLDER"
