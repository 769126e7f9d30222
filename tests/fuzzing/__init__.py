"""Requests made up from the API's description; `make fuzz` makes many more of them."""
