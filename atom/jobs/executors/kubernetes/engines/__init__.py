"""Pure parts: objects to ask for, and the meaning of objects that were read."""
