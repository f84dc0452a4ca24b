"""The command line, one file a command; `main` finds them by name and imports only the one that was asked for.

Here: reading arguments and files, printing. Not here: decisions (`mapping`, `placement`, `topology`).
"""
