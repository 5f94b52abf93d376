"""Asking the course's quizzes: judging, the terminal, what is remembered, and the exports."""
