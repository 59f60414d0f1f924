"""Reproduce the printed hit ratios of LIRS, ARC, CAR and CLOCK-Pro on the traces of their authors."""
