"""Writers and write jobs: versions that programs build file by file.

They stage on branches of their own and commit one version.
"""
