"""Other ways to place a group, to measure the planner against: one a file, all on the same plain fleet."""
