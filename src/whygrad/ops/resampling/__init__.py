"""Images and signals read at other places than their own: resizing, and sampling on a grid."""

from whygrad.ops.resampling import grid, interpolate, resample
