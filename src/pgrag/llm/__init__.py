"""Language models: one protocol, and the servers that speak OpenAI's chat completions."""

from pgrag.llm.messages import Completion, CompletionStream, LanguageModel, Message, ToolCall, Usage
from pgrag.llm.openai import ChatModel

__all__ = [
    "ChatModel",
    "Completion",
    "CompletionStream",
    "LanguageModel",
    "Message",
    "ToolCall",
    "Usage",
]
