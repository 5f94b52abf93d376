"""What pyproject.toml cannot say: the course and the stubs of aliases go into the wheel."""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

COPIED = {"data": "whygrad/learn/course", "src/whygrad-stubs": "whygrad-stubs"}


class BuildWithCopies(build_py):
    """Copies folders that are no packages; an editable install reads them where they are."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            for source, target in COPIED.items():
                place = Path(self.build_lib, target)
                shutil.rmtree(place, ignore_errors=True)  # a build before may have had other files
                shutil.copytree(source, place, ignore=shutil.ignore_patterns("__pycache__"))


setup(cmdclass={"build_py": BuildWithCopies})
