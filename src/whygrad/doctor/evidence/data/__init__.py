"""What the data say by themselves, without any model."""
