"""Rules of thumb, one file for each game."""
