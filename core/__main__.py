"""`python -m core`: the whole program without a browser."""

from core.cli.main import main

if __name__ == "__main__":
    main()
