"""What values and gradients do on their way through the model."""
