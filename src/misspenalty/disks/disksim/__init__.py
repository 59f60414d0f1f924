"""Import DiskSim 4.0's parameter files, and document where the model departs from DiskSim's."""
