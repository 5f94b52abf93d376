"""whygrad under suites that nobody here wrote."""
