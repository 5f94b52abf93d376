"""Solvers and decompositions; each file is declared when one of its ops is first asked for."""
