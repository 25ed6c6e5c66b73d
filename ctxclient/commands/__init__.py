"""One module per group of commands; do_* = arguments -> request -> print -> exit code."""
