"""The reason why an attempt ended: class, code, sentence, next step and buttons.

Pure rules over an exit report. It reads no table.
"""
