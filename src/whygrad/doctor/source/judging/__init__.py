"""How the text of a program judges its model: what is compared, ranked, averaged, in what units."""
