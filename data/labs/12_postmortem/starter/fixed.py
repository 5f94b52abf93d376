"""«fixed_module»"""

raise NotImplementedError("fixed.py")
