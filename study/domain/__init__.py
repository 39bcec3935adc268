"""The shared words: frozen types that cross from room to room. No room is imported here."""
