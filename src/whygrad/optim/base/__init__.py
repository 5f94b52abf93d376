"""What optimizers are made of: options, state, loops over parameters, formulas per element."""
