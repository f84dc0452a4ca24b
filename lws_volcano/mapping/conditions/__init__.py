"""The state of groups in words: one row a group, one condition an LWS.

Here: counting pods, naming what a group waits for, the condition. Not here: what a PodGroup must look like (the
policies one level up), writing status (`controller`).
"""
