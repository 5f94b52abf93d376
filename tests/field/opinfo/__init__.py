"""The samples of PyTorch's op tests on both libraries.

PyTorch ships the inputs with which it tests its operators (``OpInfo``): thousands of calls that
nobody here wrote.  Each runs on both libraries: values, dtypes, gradients, gradients of gradients,
forward mode, the method and the in-place form, and the calls that must be refused.

``translation`` makes PyTorch's arguments whygrad's, ``judgement`` says what counts as a difference,
``on_purpose`` which ones are meant, ``checks`` what is compared of a call.
"""
