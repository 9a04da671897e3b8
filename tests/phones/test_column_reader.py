"""Many texts of unusual shapes take the compiled way, few do not, and nobody can tell by the answer."""

from __future__ import annotations

import importlib
import pickle
import random
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

from dialframe.phones import COLUMNS, column_reader, normalize
from dialframe.phones.column_reader import MANY, VERY_MANY
from dialframe.phones.column_reader import pays as really_pays
from phones.samples import REGIONS, written

pytestmark = pytest.mark.skipif(
    find_spec("numba") is None, reason="the kernel is compiled by the extra `fast`"
)


@pytest.fixture(autouse=True)
def _kernel(monkeypatch):
    """Columns are messy enough for the kernel here, however few rows they have."""
    monkeypatch.setattr(column_reader, "is_loaded", lambda: True)


@pytest.fixture
def long():
    """A column of few enough texts to be quick without the kernel."""
    rng = random.Random(11)
    texts = [written(rng, "US") for _ in range(1_500)]
    texts += ["(212) 555-0142", None, "", "020 7946 0123"]
    return texts * 2


def slowly(values, region, monkeypatch):
    """The answer where numba is not installed."""
    with monkeypatch.context() as own:
        own.setattr(column_reader, "is_loaded", lambda: False)
        own.setattr(column_reader, "pays", lambda texts: False)
        return normalize(values, region=region)


@pytest.mark.parametrize("region", ["US", "gb", None])
def test_long_columns_are_answered_alike_with_and_without_numba(long, region, monkeypatch):
    """Values, dtypes and index are the same in both ways."""
    fast = normalize(long, region=region)

    assert {name: str(dtype) for name, dtype in fast.dtypes.items()} == COLUMNS
    pd.testing.assert_frame_equal(fast, slowly(long, region, monkeypatch))


def test_a_series_of_text_is_read_in_place_and_keeps_its_index(long, monkeypatch):
    """A slice of a column of strings is read from where it begins."""
    series = pd.Series(long, dtype="str", index=np.arange(len(long)) * 2).iloc[5:]

    pd.testing.assert_frame_equal(
        normalize(series, region="US"), slowly(series, "US", monkeypatch)
    )


def test_a_region_for_each_of_many_values(long, monkeypatch):
    """Regions that are no country are as good as none, in the kernel as elsewhere."""
    rng = random.Random(2)
    regions = [rng.choice([*REGIONS[:12], "gb", "nowhere", None]) for _ in long]

    pd.testing.assert_frame_equal(
        normalize(long, region=regions), slowly(long, regions, monkeypatch)
    )


def test_numbers_among_many_values_are_the_digits_that_a_person_sees(monkeypatch):
    """A long column of floats or mixed objects is read as it is shown."""
    values = [2125550142.0, 2125550142, float("nan"), pd.NA, "212-555-0142"] * 1_000

    frame = normalize(values, "US")

    assert frame["e164"].value_counts(dropna=False).to_dict() == {
        "+12125550142": len(values) * 3 // 5,
        np.nan: len(values) * 2 // 5,
    }


def test_text_that_is_no_unicode_is_left_to_phonenumbers():
    """Half of a surrogate pair cannot be in an Arrow column, and is still read."""
    values = ["212-555-0142"] * 100 + ["\ud800 212-555-0142"]

    assert normalize(values, "US")["e164"].tolist() == ["+12125550142"] * len(values)


def test_few_values_load_neither_numba_nor_a_plan():
    """A short command does not wait for a compiler."""
    code = (
        "import sys; from dialframe.phones import normalize; normalize(['212-555-0142'] * 1000, 'US');"
        "sys.exit('numba' in sys.modules or 'dialframe.phones.parsing' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_texts_of_all_blocks_are_counted_together(monkeypatch):
    """Those of one block are too few to load or compile for; all of them are not."""
    answers = {}
    for kept, most in ((True, MANY), (False, VERY_MANY)):
        monkeypatch.setattr(column_reader, "is_kept", lambda *_, kept=kept: kept)
        monkeypatch.setattr(column_reader, "_read_without", column_reader._ReadWithout())
        answers[kept] = [really_pays(1_000) for _ in range(most // 1_000)].index(True)

    assert answers == {True: MANY // 1_000 - 1, False: VERY_MANY // 1_000 - 1}


def test_no_folder_for_compiled_code_is_needed(monkeypatch):
    """A read-only installation compiles in memory."""
    import numba

    from dialframe.phones.kernel import Jitted

    def njit(*, cache=False, nogil=False):
        if cache:
            raise RuntimeError("no locator available")
        return numba.jit(nopython=True, nogil=nogil)

    monkeypatch.setattr(numba, "njit", njit)

    assert Jitted(lambda value: 2 * value)(4) == 8


def test_kept_code_that_cannot_be_loaded_is_compiled_anew(tmp_path, monkeypatch):
    """Empty, damaged, or of a module that is not here."""
    import numba

    from dialframe.phones.kernel import Jitted

    (tmp_path / "thrice.py").write_text("def thrice(value):\n    return 3 * value\n")
    monkeypatch.syspath_prepend(tmp_path)
    thrice = importlib.import_module("thrice").thrice
    monkeypatch.delitem(sys.modules, "thrice")
    assert Jitted(thrice)(4) == 12
    (index,) = (tmp_path / "__pycache__").glob("thrice.thrice-*.nbi")
    version = pickle.dumps(numba.__version__, pickle.HIGHEST_PROTOCOL)
    assert index.read_bytes().startswith(version)

    for damage in (b"", version, version + b"no code", version + b"cnowhere\nName\n."):
        index.write_bytes(damage)
        assert Jitted(thrice)(5) == 15
