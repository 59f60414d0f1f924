"""One module a paper: traces and parameters in, tidy tables out. A study knows nothing of files or of the workflow."""
