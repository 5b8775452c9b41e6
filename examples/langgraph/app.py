"""A graph: search, ask again in fewer words if the best passage is poor, give up after that.

Usage: python app.py QUESTION …
"""

import sys
from typing import Literal, TypedDict

from langchain_core.documents import Document
from langgraph.graph import END, START, StateGraph

from pgrag.integrations.langchain import PgragRetriever

GOOD = 0.3
retriever = PgragRetriever(library="kestrel", k=3)


class State(TypedDict):
    """What the nodes hand on."""

    question: str
    query: str
    tries: int
    passages: list[Document]
    answer: str


def search(state: State) -> dict[str, object]:
    """Look for passages."""
    passages = retriever.invoke(state["query"])
    best = max((each.metadata["confidence"] for each in passages), default=0.0)
    print(f"  search {state['query']!r}: {len(passages)} passages, confidence {best:.2f}")
    return {"passages": passages, "tries": state["tries"] + 1}


def judge(state: State) -> Literal["answer", "shorten", "give_up"]:
    """Go where the best passage leads."""
    best = max((each.metadata["confidence"] for each in state["passages"]), default=0.0)
    if best >= GOOD:
        return "answer"
    return "shorten" if state["tries"] == 1 else "give_up"


def shorten(state: State) -> dict[str, object]:
    """Keep the long words; a language model would rephrase."""
    return {"query": " ".join(word for word in state["query"].split() if len(word) > 5)}


def answer(state: State) -> dict[str, object]:
    """Quote the best passage; a language model would write from all of them."""
    best = state["passages"][0]
    text = " ".join(best.page_content.split())[:200]
    return {"answer": f"{text}\n  {best.metadata['url']}"}


def give_up(state: State) -> dict[str, object]:
    """Say so, and name the nearest page."""
    near = state["passages"][0].metadata["title"] if state["passages"] else "none"
    return {"answer": f"The handbook does not say. Nearest page: {near}"}


def graph() -> StateGraph:
    """Return the nodes and edges."""
    made = StateGraph(State)
    for node in (search, shorten, answer, give_up):
        made.add_node(node.__name__, node)
    made.add_edge(START, "search")
    made.add_conditional_edges("search", judge)
    made.add_edge("shorten", "search")
    made.add_edge("answer", END)
    made.add_edge("give_up", END)
    return made


if __name__ == "__main__":
    app = graph().compile()
    for asked in sys.argv[1:] or sys.exit(__doc__):
        print(f"? {asked}")
        done = app.invoke({"question": asked, "query": asked, "tries": 0})
        print(done["answer"])
    retriever.close()
