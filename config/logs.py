"""Logs as one JSON object a line, with codes and numbers only: never a name, address or secret."""

import json
import logging
import traceback
from datetime import UTC, datetime

# What every record has; the rest came as ``extra``.
STANDARD = frozenset(vars(logging.makeLogRecord({})))
# Extra words that are codes of ours or of the payment provider, never what somebody typed.
CODES = frozenset({"reason", "request_id"})


class JsonFormatter(logging.Formatter):
    """Format a record as JSON with its extra numbers and codes.

    Exception texts and other words are left out, since they may hold personal data.
    """

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {
            name: value
            for name, value in vars(record).items()
            if name not in STANDARD and (isinstance(value, int) or name in CODES)
        }
        reference = getattr(getattr(record, "request", None), "failure_reference", "")
        if reference:
            line["reference"] = reference
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            line["where"] = [
                f"{frame.filename}:{frame.lineno} {frame.name}"
                for frame in traceback.extract_tb(record.exc_info[2])[-8:]
            ]
        return json.dumps(line, ensure_ascii=False)
