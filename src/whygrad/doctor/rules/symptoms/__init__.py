"""What a run looks like from outside, whatever the reason."""
