"""What pyproject.toml cannot say: the course in ``data/`` goes into the wheel."""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithCourse(build_py):
    """Copies ``data/`` to ``whygrad/learn/course``; an editable install reads it where it is."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            course = Path(self.build_lib, "whygrad", "learn", "course")
            shutil.rmtree(course, ignore_errors=True)  # a build before may have had other files
            shutil.copytree("data", course, ignore=shutil.ignore_patterns("__pycache__"))


setup(cmdclass={"build_py": BuildWithCourse})
