"""What people are told: in the portal and by mail."""
