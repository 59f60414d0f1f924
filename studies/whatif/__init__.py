"""Test the five conclusions on the machines of 1997 to 2025."""
