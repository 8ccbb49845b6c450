"""JSON columns that come back as they went in, in any database.

PostgreSQL's own JSON type refuses NaN, which traces hold, so there the column is text; no query looks into it.
"""

import json
from typing import Any

from sqlalchemy import JSON, Dialect, String, TypeDecorator
from sqlalchemy.types import TypeEngine


class ExactJSON(TypeDecorator[Any]):
    impl = JSON
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(String() if _is_text(dialect) else JSON())

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        return json.dumps(value) if _is_text(dialect) else value

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        return json.loads(value) if _is_text(dialect) else value


def _is_text(dialect: Dialect) -> bool:
    return dialect.name == "postgresql"
