"""What we promise to keep on doing when an API server behaves in every way it may.

Here: a small API server in memory whose answers can be scripted (`api_server`), clocks (`clocks`), and the tests of
watch, election and writes against it. Not here: what a real API server does (tests/integration).
"""
