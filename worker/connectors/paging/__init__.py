"""Paging strategies: pure, resumable, one way of walking through a marketplace's pages per module."""
