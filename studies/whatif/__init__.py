"""Test whether the conclusions of the five papers hold on the machines of 1997 to 2025."""
