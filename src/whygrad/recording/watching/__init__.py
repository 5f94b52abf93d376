"""What a run is written down by: :mod:`.observer` puts the parts together."""
