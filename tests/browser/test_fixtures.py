"""What the fixtures of these tests promise: a fault in a page fails its test."""

import re

import httpx
import pytest
from hostile import ATTACKS, RUN, WORD
from page_faults import PageFaults


@pytest.fixture
def faulty(new_page, service, page_faults):
    """A page whose faults do not end this test, and these faults."""
    page_faults.allow(service.url)
    page_faults.expect(".")
    page = new_page(base_url=service.url, is_fresh=True)
    own = PageFaults()
    own.allow(service.url)
    own.watch(page.context)
    return page, own


@pytest.mark.parametrize(
    ("address", "script", "fault"),
    [
        ("/healthz", "console.error('out of tea')", "console: out of tea"),
        ("/healthz", "setTimeout(() => { throw Error('thrown') })", "uncaught: .*thrown"),
        ("/healthz", "setTimeout(() => Promise.reject(Error('let down')))", "uncaught: .*let down"),
        ("/healthz", "setTimeout(() => alert('hello'))", "dialog: hello"),
        ("/healthz", RUN, "a script of an attack ran"),
        ("/healthz", "document.body.innerHTML = '<p style=top:0>'", "refused by style-src-attr"),
        ("/v1/libraries/none", "", "console: .*404"),
        ("about:blank", "new Image().src = 'https://evil.example/x'", "another host: .*evil"),
    ],
)
def test_a_fault_is_found(faulty, address, script, fault):
    page, faults = faulty
    page.goto(address)
    page.evaluate(f"() => {{ {script} }}")
    page.wait_for_timeout(100)
    faults.stop()
    assert re.search(fault, "\n".join(faults.found))
    with pytest.raises(AssertionError):
        faults.check()


def test_a_fault_that_is_expected_must_come(page_faults):
    faults = PageFaults()
    faults.expect("429")
    with pytest.raises(AssertionError, match="did not come"):
        faults.check()


def test_services_are_slow_and_down_when_asked_to_be(service, page, page_faults):
    page_faults.allow(service.url)
    found = page.request.get(f"{service.url}/v1/search?q={WORD}&library=attacks&top_k=100").json()
    assert len({hit["page_id"] for hit in found["hits"]}) == len(ATTACKS)
    with service.slow(), pytest.raises(httpx.ReadTimeout):
        httpx.get(f"{service.url}/v1/libraries", timeout=1, trust_env=False)
    with service.down():
        assert page.request.get(f"{service.url}/v1/libraries").status == 503
    assert page.request.get(f"{service.url}/v1/libraries").status == 200


def test_axe_finds_faults(page, check_axe):
    page.set_content("<p style='color: #ddd; background: #fff'>pale</p><img src='data:,'>")
    with pytest.raises(AssertionError, match=r"(?s)color-contrast.*image-alt"):
        check_axe(page)
