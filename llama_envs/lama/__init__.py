"""L.L.A.M.A. (Reiner Knizia): shed cards, or quit in time."""
