"""Speed against every installed peer, in the same run, as ratios."""
