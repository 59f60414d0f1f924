"""Write files atomically, read documents and external files, load plug-ins, run threads, and typeset papers."""
