"""The course: quizzes, drills and labs, in English and in Spanish.

The content is data (``data/`` in the repository, one YAML file per quiz and deck); what is here
reads it, asks it, schedules it and grades it.  Needs ``pip install 'whygrad[learn]'``.
"""
