"""Arguments in an address are read as those in a body."""

from typing import Any

from pydantic import TypeAdapter

from pgrag.api.fields import fields
from pgrag.ground.arguments import SearchArguments


def test_json_in_an_address_may_have_a_mark_of_the_byte_order():
    filters: Any = fields(SearchArguments, in_json=False)["filters"][0]
    assert TypeAdapter(filters).validate_python('\ufeff{"library": "a"}') == {"library": "a"}
