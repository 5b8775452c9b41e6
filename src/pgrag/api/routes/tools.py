"""`/v1/tools`: what a language model looks for its sources with."""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from pgrag.answer.tool_arguments import definitions
from pgrag.api.exchange import Database
from pgrag.api.models.arguments import NoParameters
from pgrag.api.models.tools import ToolBody, ToolName, ToolResult, Tools, ToolsParameters
from pgrag.api.openapi import problems

router = APIRouter(prefix="/tools", tags=["answers"])


@router.get("", response_model=Tools)
def tools(parameters: Annotated[ToolsParameters, Query()], database: Database) -> Response:
    """List the tools in OpenAI's format, for a loop of one's own."""
    return database.answer({"tools": definitions(scoped=parameters.scoped)})


@router.post("/{name}", response_model=ToolResult, responses=problems(400, 404, 413))
def use_tool(
    name: Annotated[ToolName, Path(description="Which tool.")],
    body: ToolBody,
    database: Database,
    _: NoParameters,
) -> Response:
    """Run a tool for a model; what it did wrong is in the text, in words that it can mend it by."""
    written = body.arguments if isinstance(body.arguments, str) else json.dumps(body.arguments)
    toolbox = database.toolbox(
        library=body.library, version=body.version, first_number=body.first_number
    )
    used = toolbox.use(name, written, body.token_budget)
    return database.answer(
        {
            "outcome": used.outcome,
            "text": used.text,
            "sources": toolbox.sources,
            "search_id": used.search_id,
        }
    )
