"""The two engines that maintain views, and what they share."""
