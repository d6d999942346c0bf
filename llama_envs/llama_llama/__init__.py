"""Llama Llama: the card-passing game with its decks, goals and dummy hands."""
