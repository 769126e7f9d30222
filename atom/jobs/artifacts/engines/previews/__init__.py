"""What a file holds, as a page can show it: bounded in bytes, rows, depth and points.

The bytes are a program's, and may be made to do harm: nothing here runs, includes or fetches what
they say, and no markup of theirs leaves as markup.
"""
