"""`python -m lws_volcano` is `lws-volcano`."""

from lws_volcano.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
