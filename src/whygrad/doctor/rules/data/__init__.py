"""What the program was given: inputs, targets and labels."""
