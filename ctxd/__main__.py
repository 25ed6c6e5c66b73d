"""`python -m ctxd`: how a client starts its daemon, whatever scripts are on the path."""

from ctxd.main import main

if __name__ == "__main__":
    main()
