"""``SummaryWriter``: PyTorch's methods, over TensorBoard's own writer of event files."""

from __future__ import annotations

import os
import socket
import time
import warnings
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from whygrad.errors import fail
from whygrad.utils.tensorboard import summaries
from whygrad.utils.tensorboard.numbers import as_array, figure_pixels, picture

__all__ = ["FileWriter", "SummaryWriter"]


class FileWriter:
    """One file of events in a folder."""

    def __init__(
        self, log_dir: Any, max_queue: int = 10, flush_secs: int = 120, filename_suffix: str = ""
    ) -> None:
        self.event_writer = EventFileWriter(str(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        """The folder."""
        return str(self.event_writer.get_logdir())

    def add_event(self, event: Any, step: Any = None, walltime: float | None = None) -> None:
        """Write an event at a step and a time."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, summary: Any, global_step: Any = None, walltime: Any = None) -> None:
        """Write a summary as an event."""
        self.add_event(Event(summary=summary), global_step, walltime)

    def flush(self) -> None:
        """Bring to the disk what waits."""
        self.event_writer.flush()

    def close(self) -> None:
        """Flush, and write no more."""
        self.event_writer.close()

    def reopen(self) -> None:
        """Write on after ``close()``, in a new file."""
        self.event_writer.reopen()


class SummaryWriter:
    """Writes what a run shows to ``log_dir``, for ``tensorboard --logdir``.

    Without ``log_dir`` it is ``runs/`` with the date, the name of the machine and ``comment``.
    """

    def __init__(
        self,
        log_dir: Any = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            now = datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = Path("runs") / f"{now}_{socket.gethostname()}{comment}"
        self.log_dir = str(log_dir)
        self.purge_step = purge_step
        self._settings = max_queue, flush_secs, filename_suffix
        self.file_writer: FileWriter | None = None
        self.all_writers: dict[str, FileWriter] | None = None
        self._get_file_writer()

    def _get_file_writer(self) -> FileWriter:
        """The file of this run; a new one after ``close()``."""
        if self.file_writer is None or self.all_writers is None:
            self.file_writer = FileWriter(self.log_dir, *self._settings)
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            if self.purge_step is not None:
                step = self.purge_step
                self.file_writer.add_event(Event(step=step, file_version="brain.Event:2"))
                again = SessionLog(status=SessionLog.START)
                self.file_writer.add_event(Event(step=step, session_log=again))
                self.purge_step = None
        return self.file_writer

    def _add(self, summary: Any, step: Any, walltime: Any) -> None:
        self._get_file_writer().add_summary(summary, step, walltime)

    def get_logdir(self) -> str:
        """The folder of the event files."""
        return self.log_dir

    # --- numbers ----------------------------------------------------------------------------------

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """One point of the curve ``tag``."""
        summary = summaries.scalar(tag, scalar_value, as_tensor=new_style, double=double_precision)
        self._add(summary, global_step, walltime)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: dict[str, Any],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Points of several curves in one chart; each curve gets a folder of its own."""
        walltime = time.time() if walltime is None else walltime
        folder = self._get_file_writer().get_logdir()
        assert self.all_writers is not None
        for tag, value in tag_scalar_dict.items():
            place = os.path.join(folder, f"{main_tag.replace('/', '_')}_{tag}")
            if place not in self.all_writers:
                self.all_writers[place] = FileWriter(place, *self._settings)
            summary = summaries.scalar(main_tag, value, as_tensor=False, double=False)
            self.all_writers[place].add_summary(summary, global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: int | None = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """How the values are distributed."""
        self._add(summaries.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_histogram_raw(
        self,
        tag: str,
        min: float,
        max: float,
        num: int,
        sum: float,
        sum_squares: float,
        bucket_limits: Any,
        bucket_counts: Any,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """A histogram that was counted before."""
        if len(bucket_limits) != len(bucket_counts):
            raise fail(
                ValueError,
                call=f"add_histogram_raw({tag!r}, …)",
                cause="len(bucket_limits) != len(bucket_counts): each bucket has one upper limit",
                fix="pass as many limits as counts",
            )
        numbers = min, max, num, sum, sum_squares, bucket_limits, bucket_counts
        self._add(summaries.raw_histogram(tag, *numbers), global_step, walltime)

    def add_pr_curve(
        self,
        tag: str,
        labels: Any,
        predictions: Any,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Precision and recall of ``predictions`` (probabilities) of ``labels`` (0 or 1)."""
        thresholds = int(np.minimum(num_thresholds, 127))  # TensorBoard shows no more
        summary = summaries.precision_recall(tag, labels, predictions, thresholds, weights)
        self._add(summary, global_step, walltime)

    def add_pr_curve_raw(
        self,
        tag: str,
        true_positive_counts: Any,
        false_positive_counts: Any,
        true_negative_counts: Any,
        false_negative_counts: Any,
        precision: Any,
        recall: Any,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Precision and recall that were counted before."""
        rows = (
            true_positive_counts, false_positive_counts, true_negative_counts,
            false_negative_counts, precision, recall,
        )  # fmt: skip
        table = np.stack([as_array(row) for row in rows])
        self._add(summaries.raw_precision_recall(tag, table), global_step, walltime)

    def add_hparams(
        self,
        hparam_dict: dict[str, Any],
        metric_dict: dict[str, Any],
        hparam_domain_discrete: dict[str, list[Any]] | None = None,
        run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:
        """The settings of a run and what came of them, as a run of its own."""
        from whygrad.utils.tensorboard.hyperparameters import hyperparameters

        records = hyperparameters(hparam_dict, metric_dict, hparam_domain_discrete)
        folder = str(time.time()) if run_name is None else run_name
        place = os.path.join(self._get_file_writer().get_logdir(), folder)
        with SummaryWriter(log_dir=place) as writer:
            for record in records:
                writer._add(record, global_step, None)
            for name, value in metric_dict.items():
                writer.add_scalar(name, value, global_step)

    # --- pictures, sounds, words ------------------------------------------------------------------

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """A picture: floats from 0 to 1, or uint8."""
        pixels = picture(img_tensor, dataformats)
        self._add(summaries.image(tag, pixels), global_step, walltime)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Several pictures of one size, side by side."""
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_figure(
        self,
        tag: str,
        figure: Any,
        global_step: int | None = None,
        close: bool = True,
        walltime: float | None = None,
    ) -> None:
        """A figure of Matplotlib's, or a list of them; ``close`` closes it afterwards."""
        order = "NCHW" if isinstance(figure, list) else "CHW"
        self.add_image(tag, figure_pixels(figure, close), global_step, walltime, order)

    def add_audio(
        self,
        tag: str,
        snd_tensor: Any,
        global_step: int | None = None,
        sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:
        """A sound of one channel, from −1 to 1."""
        self._add(summaries.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    def add_text(
        self,
        tag: str,
        text_string: str,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """A text, which may be Markdown."""
        self._add(summaries.text(tag, text_string), global_step, walltime)

    # --- what there is no way to write ------------------------------------------------------------

    def add_graph(
        self,
        model: Any,
        input_to_model: Any = None,
        verbose: bool = False,
        use_strict_trace: bool = True,
    ) -> None:
        """Warns and writes nothing: TensorBoard's graphs are traces of PyTorch's compiler."""
        warnings.warn(
            "add_graph writes nothing: TensorBoard's graphs are made by PyTorch's tracer. "
            "whygrad.summary(model) lists the layers, whygrad.explain(loss) draws the graph",
            UserWarning,
            stacklevel=2,
        )

    def add_embedding(self, *args: Any, **kwargs: Any) -> None:
        """Raises: TensorBoard's projector is not written."""
        raise _unwritten("add_embedding", "project to two dimensions and use add_figure")

    def add_mesh(self, *args: Any, **kwargs: Any) -> None:
        """Raises: TensorBoard's meshes are not written."""
        raise _unwritten("add_mesh", "draw it with Matplotlib and use add_figure")

    def add_video(self, *args: Any, **kwargs: Any) -> None:
        """Raises: videos are not written."""
        raise _unwritten("add_video", "write single frames with add_image and global_step")

    # --- the end ----------------------------------------------------------------------------------

    def flush(self) -> None:
        """Bring to the disk what waits."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self) -> None:
        """Flush and close the files; a later ``add_…`` begins a new one."""
        for writer in (self.all_writers or {}).values():
            writer.flush()
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _unwritten(name: str, instead: str) -> NotImplementedError:
    return fail(
        NotImplementedError,
        call=f"SummaryWriter.{name}(…)",
        cause="whygrad's writer has no such summary",
        fix=instead,
    )
