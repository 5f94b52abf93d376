"""The course: quizzes, drills and labs, in English and in Spanish.

The content is data (``data/`` in the repository: a YAML file for each quiz and deck, a folder for
each lab); what is here reads it, asks it, schedules it and grades it.  Needs
``pip install 'whygrad[learn]'``.
"""
