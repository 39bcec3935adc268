"""The models: plain modules that know nothing of strategies."""
