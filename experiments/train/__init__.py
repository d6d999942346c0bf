"""Training by self-play: who the opponents are, how one learns, and what is seen of it meanwhile."""
