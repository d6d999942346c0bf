"""Pictures of card games."""
