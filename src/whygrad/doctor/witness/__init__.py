"""The parts of the :class:`~whygrad.doctor.observer.Observer`, one kind of event each."""
