"""Plays recorded objects and events of controllers into the stand-in, which has none of them."""
