"""Speed beside the peers, in one run on one core."""
