"""The settings of a run and what came of them, for TensorBoard's table of runs."""

from __future__ import annotations

from typing import Any

from google.protobuf import struct_pb2
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.plugins.hparams.api_pb2 import (
    DataType,
    Experiment,
    HParamInfo,
    MetricInfo,
    MetricName,
    Status,
)
from tensorboard.plugins.hparams.metadata import (
    EXPERIMENT_TAG,
    PLUGIN_DATA_VERSION,
    PLUGIN_NAME,
    SESSION_END_INFO_TAG,
    SESSION_START_INFO_TAG,
)
from tensorboard.plugins.hparams.plugin_data_pb2 import (
    HParamsPluginData,
    SessionEndInfo,
    SessionStartInfo,
)

from whygrad.errors import fail
from whygrad.tensor import Tensor

__all__ = ["hyperparameters"]


def hyperparameters(
    settings: dict[str, Any], metrics: dict[str, Any], choices: dict[str, list[Any]] | None
) -> list[Any]:
    """The three records of a run: what can be set, what was set, and that it ended well."""
    for name, given in (("hparam_dict", settings), ("metric_dict", metrics)):
        if not isinstance(given, dict):
            raise fail(
                TypeError,
                call=f"add_hparams({name}={type(given).__name__})",
                cause=f"{name} should be a dictionary",
                fix="pass names and values: {'lr': 0.1}",
            )
    start = SessionStartInfo()
    infos = []
    for name, value in settings.items():
        if value is None:
            continue
        field, kind, content = _entry(name, value)
        setattr(start.hparams[name], field, content)
        domain = None if choices is None else choices.get(name)
        allowed = None
        if domain is not None:
            allowed = struct_pb2.ListValue(values=[_as_value(each) for each in domain])
        infos.append(HParamInfo(name=name, type=kind, domain_discrete=allowed))
    experiment = Experiment(
        hparam_infos=infos,
        metric_infos=[MetricInfo(name=MetricName(tag=name)) for name in metrics],
    )
    end = SessionEndInfo(status=Status.Value("STATUS_SUCCESS"))
    return [
        _record(EXPERIMENT_TAG, HParamsPluginData(experiment=experiment)),
        _record(SESSION_START_INFO_TAG, HParamsPluginData(session_start_info=start)),
        _record(SESSION_END_INFO_TAG, HParamsPluginData(session_end_info=end)),
    ]


def _entry(name: str, value: Any) -> tuple[str, Any, Any]:
    if isinstance(value, Tensor):
        value = value.item()
    if isinstance(value, str):
        return "string_value", DataType.Value("DATA_TYPE_STRING"), value
    if isinstance(value, (int, float)):  # PyTorch's writer takes bool for a number, too
        return "number_value", DataType.Value("DATA_TYPE_FLOAT64"), value
    raise fail(
        ValueError,
        call=f"add_hparams with {name}={value!r}",
        cause="value should be one of int, float, str, bool, or a tensor of one element",
        fix=f"write str({name})",
    )


def _as_value(each: Any) -> Any:
    if isinstance(each, str):
        return struct_pb2.Value(string_value=each)
    if isinstance(each, bool):
        return struct_pb2.Value(bool_value=each)
    return struct_pb2.Value(number_value=each)


def _record(tag: str, data: Any) -> Any:
    data.version = PLUGIN_DATA_VERSION
    content = SummaryMetadata.PluginData(plugin_name=PLUGIN_NAME, content=data.SerializeToString())
    metadata = SummaryMetadata(plugin_data=content)
    return Summary(value=[Summary.Value(tag=tag, metadata=metadata)])
