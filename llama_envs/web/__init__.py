"""The table in the browser (extra ``web``): play, watch, replay, and be told what a move was worth.

``table``, ``advisor`` and ``replay`` hold all that is decided, and know no browser; ``lobby`` keeps the tables of a
server and moves them on; ``page`` shows them; ``server`` lets only its own pages in.
"""
