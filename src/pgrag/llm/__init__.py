"""Language models behind servers that speak OpenAI's chat completions."""

from pgrag.llm.openai import ChatModel, ChatStream
from pgrag.llm.protocol import Completion, Message, ToolCall
from pgrag.values.answers import Usage

__all__ = [
    "ChatModel",
    "ChatStream",
    "Completion",
    "Message",
    "ToolCall",
    "Usage",
]
