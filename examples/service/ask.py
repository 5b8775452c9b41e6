"""Ask the service some questions.

Usage: python ask.py URL QUESTION …
"""

import sys
import time

import httpx

address, *questions = sys.argv[1:]
for _ in range(300):  # it may still start
    try:
        httpx.get(f"{address}/openapi.json")
        break
    except httpx.ConnectError:
        time.sleep(0.2)
for question in questions:
    reply = httpx.get(f"{address}/ask", params={"q": question}, timeout=120).raise_for_status()
    said = reply.json()
    print(f"? {question}\n{said['answer'] or 'The handbook does not say.'}")
    for source in said["sources"]:
        print(f"  [{source['number']}] {source['title']}  {source['url']}")
    for sentence in said["to_check"]:
        print(f"  check: {sentence}")
