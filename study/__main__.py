"""`python -m study` is `study`."""

from study.cli import main

if __name__ == "__main__":
    main()
