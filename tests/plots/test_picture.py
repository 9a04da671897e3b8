"""Every picture can be seen, read aloud and written twice to the same bytes."""

from __future__ import annotations

import base64
import subprocess
import sys
from xml.etree import ElementTree

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from dialframe.plots import Picture
from plots.examples import EMPTY, FULL, Draw, light, shown, written
from plots.looked_at import Image, has_color, overlapping, pixels, small, words

drawn = pytest.mark.parametrize("draw", FULL.values(), ids=FULL)
anything = pytest.mark.parametrize(
    "draw",
    [*FULL.values(), *EMPTY.values()],
    ids=[*FULL, *(f"empty-{name}" for name in EMPTY)],
)


@anything
def test_size_and_content(draw: Draw) -> None:
    """A picture is 1,600 pixels wide, on its own background, and not blank."""
    seen = pixels(written(draw))
    height, width, _ = seen.shape
    assert width == 1600
    assert 400 <= height <= 2000
    assert (seen[0, 0] == 1).all()
    assert 0.005 < (seen < 0.9).any(axis=2).mean() < 0.6


@anything
def test_text_stands_clear(draw: Draw) -> None:
    """No text stands on another or off the page."""
    assert overlapping(light(draw)) == []


@drawn
def test_dark(draw: Draw) -> None:
    """The dark look has its own background, lighter text, and is another picture."""
    dark = draw("dark")
    seen = small(dark)
    assert has_color(dark, "#15191E")
    assert not (seen == 255).all(axis=2).any()
    assert seen.mean() < 100
    assert dark.alt == light(draw).alt


@drawn
def test_same_bytes(draw: Draw) -> None:
    """Drawn again and written again, it is the same to the byte."""
    assert draw("light").png() == written(draw)


def test_same_bytes_in_the_dark() -> None:
    """The look does not change that."""
    assert FULL["coverage"]("dark").png() == FULL["coverage"]("dark").png()


def test_writing_changes_nothing() -> None:
    """One picture written twice, and as SVG in between, is the same to the byte."""
    picture = shown("calling_hours")
    picture.svg()
    assert picture.png() == written(FULL["calling_hours"])


def test_same_svg() -> None:
    """The SVG has no date and no random names, so it is the same every time."""
    first, second = shown("coverage"), FULL["coverage"]("light")
    assert first.svg() == first.svg() == second.svg()
    assert "<dc:date>" not in first.svg()


def test_svg_has_a_name() -> None:
    """The SVG is an image with the alternative text as its name, quotes and all."""
    picture = Picture(shown("outcomes").figure, 'a "quoted" <name> & more')
    root = ElementTree.fromstring(picture.svg())  # noqa: S314 - our own text
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == 'a "quoted" <name> & more'
    assert root.tag.endswith("svg")


@anything
def test_alt_is_there(draw: Draw) -> None:
    """The words are a sentence of their own and not the title alone."""
    picture = light(draw)
    assert picture.alt.endswith(".")
    assert len(picture.alt) > 20
    assert str(picture) == picture.alt


def test_html_is_one_image_with_words() -> None:
    """A notebook gets an image with alternative text and its size on the page."""
    picture = shown("listed_calls")
    (image,) = Image(picture._repr_html_()).images
    assert image["alt"] == picture.alt
    assert image["width"] == "800"
    kind, _, data = str(image["src"]).partition(",")
    assert kind == "data:image/png;base64"
    assert base64.b64decode(data) == picture.png()
    assert int(str(image["height"])) * 2 == pixels(picture.png()).shape[0]


def test_html_escapes_the_words() -> None:
    """Data in the words cannot leave the attribute."""
    picture = Picture(Figure(figsize=(1, 1)), '"><script>alert(1)</script>')
    (image,) = Image(picture.html()).images
    assert image["alt"] == '"><script>alert(1)</script>'
    assert "<script>" not in picture.html()


def test_mimebundle() -> None:
    """A notebook gets the image, a terminal the words, and each only what it asks for."""
    picture = shown("listed_calls")
    bundle, about = picture._repr_mimebundle_()
    assert bundle["text/plain"] == f"<Picture: {picture.alt}>"
    assert bundle["text/html"] == picture.html()
    assert base64.b64decode(bundle["image/png"]) == picture.png()
    assert about == {"image/png": {"alt": picture.alt}}
    assert list(picture._repr_mimebundle_(include={"text/plain"})[0]) == ["text/plain"]
    assert "text/html" not in picture._repr_mimebundle_(exclude={"text/html"})[0]


def test_settings_of_the_reader_do_not_matter_and_stay() -> None:
    """The reader's own style changes nothing, and is unchanged afterwards."""
    plain = shown("funnel").png()
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "red", "text.color": "green"}):
        before = dict(mpl.rcParams)
        assert FULL["funnel"]("light").png() == plain
        assert dict(mpl.rcParams) == before


def test_pyplot_is_not_loaded() -> None:
    """Drawing needs no pyplot, so it opens no window and keeps no figure."""
    script = (
        "import sys, pandas; from dialframe import plots; "
        "plots.listed_calls(pandas.DataFrame({'grade': ['proven']})).png(); "
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.parametrize("draw", EMPTY.values(), ids=EMPTY)
def test_nothing_says_so(draw: Draw) -> None:
    """Without data the picture says that there is none."""
    picture = light(draw)
    assert any(f"There are no {what} to show." in words(picture) for what in
               ("calls", "leads", "numbers"))  # fmt: skip
    assert ": no " in picture.alt
