"""Study an anomaly of FIFO (Belady, Nelson, Shedler, 1969)."""
