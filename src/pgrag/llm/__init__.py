"""Language models: one protocol, and the servers that speak OpenAI's chat completions."""

from pgrag.llm.messages import Completion, CompletionStream, LanguageModel, Message, ToolCall, Usage

__all__ = ["Completion", "CompletionStream", "LanguageModel", "Message", "ToolCall", "Usage"]
