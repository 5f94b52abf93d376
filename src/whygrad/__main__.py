"""``python -m whygrad``."""

from whygrad.cli import main

main()
