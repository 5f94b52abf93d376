"""What the model is before its first update: its layers and initial weights."""
