"""What `import dialframe` puts on frames: `Series.dial` and `DataFrame.dial`: numbers of a frame of one's own, normalized where they stand."""

from __future__ import annotations

import pandas as pd

from dialframe import phones
from dialframe.errors import ConfigError

__all__ = ["Dial"]


class Dial:
    """What dialframe does to a frame or series: `.normalize()`.

    Args:
        given: The frame or series that it was asked of.
    """

    def __init__(self, given: pd.DataFrame | pd.Series[str]) -> None:
        self._given = given

    def normalize(self, column: str = "phone", *, region: str | None = None) -> pd.DataFrame:
        """The numbers in E.164, as `dialframe.phones.normalize` gives them, on the index of the frame.

        Args:
            column: Column of the numbers; a series has none.
            region: ISO 3166 region of numbers that name no country.

        Raises:
            ConfigError: The frame has no such column.

        Example:
            >>> pd.DataFrame({"phone": ["(212) 555-0101"]}).dial.normalize(region="US")["e164"].tolist()
            ['+12125550101']
        """
        values = self._given
        if isinstance(values, pd.DataFrame):
            if column not in values.columns:
                raise ConfigError(
                    f"the frame has no column {column!r}; it has {', '.join(map(str, values.columns[:6]))}"
                )
            values = values[column]
        return phones.normalize(list(values), region=region).set_index(values.index)
