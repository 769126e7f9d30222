"""Thin views: parse, permit, act, render."""
