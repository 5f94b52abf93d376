"""Programs over the whole op table: values, gradients and second derivatives, nothing written."""
