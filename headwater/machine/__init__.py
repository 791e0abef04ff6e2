"""What Headwater needs of the machine: Python environments, a Java, packages, room on the disk.

In: the environment and the system. Out: paths of programs, or errors that say what to install.
"""
