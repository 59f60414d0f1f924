"""What a run was made from (provenance), and the paper that shows what came out."""
