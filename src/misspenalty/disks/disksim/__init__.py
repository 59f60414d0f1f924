"""DiskSim 4.0: its parameter files, their import, and every departure from its model."""
