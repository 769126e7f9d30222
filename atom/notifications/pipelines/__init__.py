"""What sends notifications out of the house."""
