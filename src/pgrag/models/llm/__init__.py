"""Language models behind servers that speak OpenAI's chat completions."""

from pgrag.ground.values.answers import Usage
from pgrag.models.llm.openai import ChatModel, ChatStream
from pgrag.models.llm.protocol import Completion, Message, ToolCall

__all__ = ["ChatModel", "ChatStream", "Completion", "Message", "ToolCall", "Usage"]
