"""Where flows come from: one module per engine writes its backward pass down."""
