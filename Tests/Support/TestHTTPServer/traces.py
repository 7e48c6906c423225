"""A collector of traces: reads OTLP's JSON by the protocol's own definitions (the package opentelemetry-proto)."""
import base64
import json

ZEROS = {b"\0" * 8, b"\0" * 16}


def read(headers, body):
    """The body as `fault`, or `spans` and `resource` with plain values."""
    from google.protobuf import json_format
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    try:
        assert headers.get("content-type") == "application/json", "content type"
        document = json.loads(body)
        for span in (s for r in document["resourceSpans"] for scope in r["scopeSpans"] for s in scope["spans"]):
            # OTLP has ids in hexadecimal digits where protobuf's own JSON has base64.
            for name in {"traceId", "spanId", "parentSpanId"} & span.keys():
                span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
        request = json_format.ParseDict(document, ExportTraceServiceRequest())
        [group] = request.resource_spans
        [scope] = group.scope_spans
        return {"spans": [plain(span) for span in scope.spans], "resource": attributes(group.resource)}
    except Exception as error:  # noqa: BLE001 — every fault is the sender's
        return {"fault": repr(error)}


def plain(span):
    assert len(span.trace_id) == 16 and len(span.span_id) == 8 and len(span.parent_span_id) in (0, 8), "length of ids"
    assert not {span.trace_id, span.span_id, span.parent_span_id} & ZEROS, "ids without bits"
    assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano, "times"
    return {
        "trace": span.trace_id.hex(), "span": span.span_id.hex(), "parent": span.parent_span_id.hex(), "name": span.name,
        "kind": span.kind, "status": span.status.code, "attributes": attributes(span),
    }


def attributes(holder):
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in holder.attributes}
