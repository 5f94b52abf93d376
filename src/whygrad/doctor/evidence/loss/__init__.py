"""What a loss means: contrasts, formulas by hand, answers that are exchanged."""
