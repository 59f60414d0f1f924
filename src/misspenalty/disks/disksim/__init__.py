"""Import DiskSim 4.0's parameter files, and state every departure from its model."""
