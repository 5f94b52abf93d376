"""Pictures as files: endings, atomic writes, with and without Graphviz and Pillow."""

from __future__ import annotations

import builtins
import os
import stat
from xml.etree import ElementTree

import pytest

from tests.why import flows
from whygrad.why.drawing import draw, files, paint_png, svg, to_dot
from whygrad.why.drawing.content import compose
from whygrad.why.drawing.scene import Scene, stage


@pytest.fixture(autouse=True)
def no_graphviz(monkeypatch, tmp_path):
    """An empty PATH: what the machine has installed must not decide these tests."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


def install_dot(tmp_path, script: str) -> None:
    program = tmp_path / "bin" / "dot"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


class TestKinds:
    def test_svg_and_dot_are_what_the_functions_return(self, tmp_path):
        assert draw(flows.diamond(), tmp_path / "a.svg").read_text() == svg(flows.diamond())
        assert draw(flows.diamond(), str(tmp_path / "a.dot")).read_text() == to_dot(flows.diamond())

    @pytest.mark.parametrize("make", [flows.diamond, flows.mlp, lambda: flows.random_flow(2, 200)])
    def test_png(self, tmp_path, make):
        image = pytest.importorskip("PIL.Image")
        scene = stage(compose(make()))
        with image.open(draw(make(), tmp_path / "a.PNG")) as picture:
            picture.load()
            assert picture.format == "PNG"
            assert picture.size == pytest.approx((2 * scene.width, 2 * scene.height), abs=2)
            assert len(picture.getcolors(1 << 20)) > 20

    def test_the_number_of_boxes_can_be_chosen(self, tmp_path):
        assert (
            "+ 192 more boxes not drawn"
            in draw(flows.fan(200), tmp_path / "a.svg", most=10).read_text()
        )

    def test_an_unknown_ending_names_the_known_ones(self, tmp_path):
        with pytest.raises(
            ValueError, match=r"no pictures are written as '.pdf'\n  fix:   .*\.dot, \.png, \.svg"
        ):
            draw(flows.diamond(), tmp_path / "a.pdf")
        with pytest.raises(ValueError, match="the name has no ending"):
            draw(flows.diamond(), tmp_path / "picture")

    def test_a_missing_directory_is_named(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"there is no directory '.*nowhere'"):
            draw(flows.diamond(), tmp_path / "nowhere" / "a.svg")

    def test_a_directory_is_not_a_file(self, tmp_path):
        (tmp_path / "a.svg").mkdir()
        with pytest.raises(IsADirectoryError, match="is a directory\n  fix:   name a file"):
            draw(flows.diamond(), tmp_path / "a.svg")


class TestAtomicity:
    def test_a_failed_write_leaves_the_old_file_and_nothing_else(self, tmp_path, monkeypatch):
        goal = tmp_path / "a.svg"
        goal.write_text("old")

        def refuse(source, target):
            assert os.path.dirname(source) == os.path.dirname(target)
            raise OSError("disk full")

        monkeypatch.setattr(files.os, "replace", refuse)
        with pytest.raises(OSError, match="disk full"):
            draw(flows.diamond(), goal)
        assert goal.read_text() == "old"
        assert sorted(os.listdir(tmp_path)) == ["a.svg", "bin"]

    def test_nothing_is_left_beside_the_file(self, tmp_path):
        draw(flows.diamond(), tmp_path / "a.svg")
        assert sorted(os.listdir(tmp_path)) == ["a.svg", "bin"]

    def test_the_file_has_ordinary_permissions(self, tmp_path):
        (tmp_path / "plain").touch()
        drawn = draw(flows.diamond(), tmp_path / "a.svg")
        assert drawn.stat().st_mode == (tmp_path / "plain").stat().st_mode


class TestGraphviz:
    def test_it_gets_the_source_and_its_answer_is_kept(self, tmp_path):
        install_dot(tmp_path, f'[ "$1" = -Tpng ] && /bin/cat > "{tmp_path}/seen" && printf picture')
        assert draw(flows.diamond(), tmp_path / "a.png").read_bytes() == b"picture"
        assert (tmp_path / "seen").read_text() == to_dot(flows.diamond())

    def test_its_svg_becomes_accessible(self, tmp_path):
        made = (
            '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"\n width="9"><g/></svg>'
        )
        (tmp_path / "made").write_text(made)
        install_dot(tmp_path, f'/bin/cat > /dev/null; /bin/cat "{tmp_path}/made"')
        root = ElementTree.fromstring(draw(flows.diamond(), tmp_path / "a.svg").read_text())
        assert (root.get("role"), root.get("width")) == ("img", "9")
        assert root[0].text == "Backward from L, asked about a"
        assert "7 boxes" in root[1].text

    @pytest.mark.parametrize("script", ["exit 1", "/bin/cat > /dev/null; exit 3", "kill -9 $$"])
    def test_if_it_fails_our_own_layout_steps_in(self, tmp_path, script):
        install_dot(tmp_path, script)
        assert draw(flows.diamond(), tmp_path / "a.svg").read_text() == svg(flows.diamond())


class TestPillow:
    def test_without_it_the_error_names_the_extra_and_no_file_appears(self, tmp_path, monkeypatch):
        real = builtins.__import__

        def refuse(name, *rest):
            if name.split(".")[0] == "PIL":
                raise ImportError(name)
            return real(name, *rest)

        monkeypatch.setattr(builtins, "__import__", refuse)
        with pytest.raises(
            ImportError, match=r"fix:   pip install 'whygrad\[draw\]', or draw into an \.svg"
        ):
            draw(flows.diamond(), tmp_path / "a.png")
        assert draw(flows.diamond(), tmp_path / "a.svg").exists()
        assert not (tmp_path / "a.png").exists()

    def test_without_a_system_font_its_own_serves(self, monkeypatch):
        font = pytest.importorskip("PIL.ImageFont")

        def refuse(font=None, *rest, **more):
            if isinstance(font, str):
                raise OSError(font)
            return real(font, *rest, **more)

        real = font.truetype
        monkeypatch.setattr(font, "truetype", refuse)
        assert paint_png.paint(stage(compose(flows.mlp()))).startswith(b"\x89PNG")

    def test_a_picture_too_large_for_pixels_is_refused(self):
        pytest.importorskip("PIL")
        with pytest.raises(
            ValueError, match=r"90000 × 90000 units .*\n  fix:   draw into an \.svg file"
        ):
            paint_png.paint(Scene("", "", 90_000, 90_000, []))
