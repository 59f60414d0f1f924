"""What a command prints: a table or an object, as text, JSON or CSV."""

import json
import sys

import pandas as pd

MOST_ROWS = 200  # of a table printed as text


def show(result, options):
    """Print what a command returned in the form that its options name."""
    frame = result if isinstance(result, pd.DataFrame) else pd.DataFrame([result])
    if options.json:
        rows = [
            {key: None if pd.isna(value) else value for key, value in row.items()} for row in frame.to_dict("records")
        ]
        print(json.dumps(rows if isinstance(result, pd.DataFrame) else rows[0], indent=1))
    elif options.csv:
        frame.to_csv(sys.stdout, index=False, lineterminator="\n")
    elif isinstance(result, dict):
        width = max(map(len, result))
        print("\n".join(f"{key:{width}}  {'-' if value is None else value}" for key, value in result.items()))
    else:
        print(frame.head(MOST_ROWS).to_string(index=False))
        if len(frame) > MOST_ROWS:
            print(f"… {len(frame) - MOST_ROWS} more rows: print them all with --csv or --json")
