"""What the text of the program shows: its calls, their order, their shapes, their arithmetic."""
