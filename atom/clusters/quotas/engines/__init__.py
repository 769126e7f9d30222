"""Pure rules of quotas."""
