"""The functions of `db.tools` with scripted models, and the page that shows them."""

import asyncio
import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from agents import Agent as OpenAIAgent
from agents import Runner, function_tool
from agents.items import ModelResponse
from agents.models.interface import Model
from agents.usage import Usage
from haystack.tools import create_tool_from_function
from langchain_core.tools import StructuredTool
from llama_index.core.tools import FunctionTool
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)  # fmt: skip
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse as Said
from pydantic_ai.messages import TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

import pgrag

QUESTION = "how do I restore a folder?"
ANSWER = "beside the present ones"
NAMES = ["search_docs", "read_docs", "find_library", "compare_versions", "query_pages"]


@pytest.fixture
def db(url):
    with pgrag.connect(url) as db:
        yield db


@pytest.fixture(autouse=True)
def loop():
    """What `run_sync` of the frameworks uses, and would leave open if it had to make one."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    loop.close()
    asyncio.set_event_loop(None)


class ScriptedModel(Model):
    """Searches, then repeats what it has read."""

    async def get_response(self, system_instructions, input, model_settings, tools, *_, **__):
        outputs = [each["output"] for each in input if "output" in each] if input else []
        if outputs:
            text = ResponseOutputText(annotations=[], text=str(outputs[-1]), type="output_text")
            said = ResponseOutputMessage(
                id="1", content=[text], role="assistant", status="completed", type="message"
            )
        else:
            said = ResponseFunctionToolCall(
                arguments=json.dumps({"query": QUESTION}), call_id="1", name=tools[0].name,
                type="function_call",
            )  # fmt: skip
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    def stream_response(self, *_, **__):
        raise NotImplementedError


def test_the_functions_say_what_they_take(db):
    tools = db.tools("kestrel", "2.0")
    assert [tool.__name__ for tool in tools] == NAMES
    search_docs = tools[0]
    assert ANSWER in search_docs(QUESTION) == search_docs(query=QUESTION)
    assert "library" not in search_docs.__annotations__
    assert "query: A question or key terms" in search_docs.__doc__
    [free, *_] = db.tools()
    assert ANSWER in free(QUESTION, "kestrel")
    # The model can correct what it did wrong; a database that is down is the program's matter.
    assert "Did you mean kestrel?" in free(QUESTION, library="kestral")
    assert "top_k: " in free(QUESTION, top_k=0)
    assert "there is no such argument. Did you mean 'query'?" in free(quary=QUESTION)
    nowhere = pgrag.connect("postgresql://127.0.0.1:9/none")
    with nowhere, pytest.raises(pgrag.DatabaseUnavailable):
        nowhere.tools()[0](QUESTION)


def test_every_framework_makes_tools_of_them(db):
    schemas = {
        "langchain": lambda tool: StructuredTool.from_function(tool).args,
        "llamaindex": lambda tool: FunctionTool.from_defaults(tool).metadata.get_parameters_dict()[
            "properties"
        ],
        "haystack": lambda tool: create_tool_from_function(tool).parameters["properties"],
        "openai": lambda tool: function_tool(tool, strict_mode=False).params_json_schema[
            "properties"
        ],
    }
    for name, schema in schemas.items():
        for tool in db.tools("kestrel"):
            assert set(schema(tool)) == set(tool.__annotations__) - {"return"}, (name, tool)
    tool = StructuredTool.from_function(db.tools("kestrel")[0])
    assert ANSWER in tool.invoke({"query": QUESTION})
    assert ANSWER in str(FunctionTool.from_defaults(db.tools("kestrel")[0]).call(query=QUESTION))
    assert ANSWER in create_tool_from_function(db.tools("kestrel")[0]).invoke(query=QUESTION)


def scripted(messages, info):
    """Searches, reads on at the best passage, and repeats what it has read."""
    told = {tool.name: tool.parameters_json_schema["properties"] for tool in info.function_tools}
    assert list(told) == NAMES
    assert told["search_docs"]["query"]["description"].startswith("A question or key terms")
    replies = [
        part.content for message in messages for part in message.parts
        if part.part_kind == "tool-return"
    ]  # fmt: skip
    if not replies:
        return Said(parts=[ToolCallPart("search_docs", {"query": QUESTION, "top_k": 1})])
    if len(replies) == 1:
        passage = int(re.search(r'<passage id="(\d+)"', str(replies[0]))[1])
        return Said(parts=[ToolCallPart("read_docs", {"ids": [passage], "expand": "page"})])
    return Said(parts=[TextPart(str(replies[1]))])


def test_an_agent_of_pydantic_ai_searches_and_reads_on(db):
    agent = Agent(FunctionModel(scripted), tools=db.tools("kestrel"))
    assert ANSWER in agent.run_sync(QUESTION).output
    assert ANSWER in asyncio.run(agent.run(QUESTION)).output


def test_an_agent_of_openai_searches(db):
    tools = [function_tool(tool, strict_mode=False) for tool in db.tools("kestrel")]
    agent = OpenAIAgent("docs", tools=tools, model=ScriptedModel())
    assert ANSWER in asyncio.run(Runner.run(agent, QUESTION)).final_output


def test_the_examples_of_the_documentation_run(url, service, monkeypatch, capsys):
    """Each prints something, when they are run in the order of the page."""
    text = (Path(__file__).parents[2] / "docs" / "frameworks.md").read_text("utf-8")
    examples = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(examples) == 11
    monkeypatch.setenv("PGRAG_DATABASE_URL", url)
    names = {"model": ScriptedModel(), "chat": FunctionModel(scripted)}
    address, key = service
    for example in examples:
        if "import dspy" in example and not find_spec("dspy"):
            continue
        if "import dspy" in example:
            configure_dspy()
        here = example.replace("http://127.0.0.1:8000", address)
        exec(here.replace("key=None", f"key={key!r}"), names)
        out = capsys.readouterr().out
        assert out.strip(), example
    names["db"].close()


def configure_dspy():
    import dspy  # noqa: PLC0415 - only with DSPY=1
    from dspy.utils import DummyLM  # noqa: PLC0415

    calls = [
        {"next_thought": "search", "next_tool_name": "search_docs",
         "next_tool_args": json.dumps({"query": QUESTION})},
        {"next_thought": "done", "next_tool_name": "finish", "next_tool_args": "{}"},
        {"reasoning": "read", "answer": "They are put beside the present ones."},
    ]  # fmt: skip
    dspy.configure(lm=DummyLM(calls))
