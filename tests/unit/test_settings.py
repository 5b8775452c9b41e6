"""Settings from the environment, from `.env`, and from nowhere."""

import os
from pathlib import Path

import pytest

from pgrag.ground.errors import SettingsError
from pgrag.ground.settings import Settings, describe_settings, load_settings, masked_url, processors

#: By the rule that users know, with one name that is older, and one of uvicorn.
OTHERS = {"HYBRID_ALPHA", "FORWARDED_ALLOW_IPS"}
NAMES = {name.upper() for name in Settings.model_fields}
VARIABLES = {f"PGRAG_{name}" for name in NAMES - OTHERS} | OTHERS


@pytest.fixture(autouse=True)
def working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PGRAG_HOME")
    return tmp_path


def described(settings: Settings) -> dict[str, tuple[str, str]]:
    return {line.name: (line.value, line.source) for line in describe_settings(settings)}


def test_defaults_are_used_where_nothing_or_nothing_but_blanks_is_set(monkeypatch):
    settings = load_settings()
    assert settings.database_url is None
    assert settings.home.is_absolute()
    assert (settings.home.name, settings.hybrid_alpha) == ("pgrag", None)
    assert settings.embedding_url is None
    assert (settings.embedding_batch_size, settings.embedding_concurrency) == (64, 4)
    assert (settings.embedding_retries, settings.embedding_timeout) == (5, 60.0)
    assert settings.pool_size == min(max(2 * processors(), 4), 20)
    lines = describe_settings(settings)
    assert sorted(line.name for line in lines) == sorted(VARIABLES)
    assert {line.source for line in lines} == {"default"}
    assert all(line.description for line in lines)
    texts = {line.name: line.description for line in lines}
    assert texts["PGRAG_HOME"] == "Folder of the embedded server"
    assert texts["PGRAG_LOG_LEVEL"] == "debug, info, warning or error"
    for name in VARIABLES:
        monkeypatch.setenv(name, "")
    settings = load_settings()
    assert settings.model_fields_set == set()
    assert {source for _, source in described(settings).values()} == {"default"}
    monkeypatch.setenv("PGRAG_LOG_LEVEL", "WARNING")
    assert load_settings().log_level == "warning"


def test_environment_goes_before_file_and_file_before_default(working_directory, monkeypatch):
    (working_directory / ".env").write_text(
        "PGRAG_POOL_SIZE=3\nHYBRID_ALPHA=0.6\nPGRAG_EMBEDDING_QUERY_PREFIX='Frage: ü '\nOTHER=1\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("PGRAG_POOL_SIZE", "4")
    settings = load_settings()
    assert (settings.pool_size, settings.hybrid_alpha) == (4, 0.6)
    assert settings.embedding_query_prefix == "Frage: ü "
    found = described(settings)
    assert found["PGRAG_POOL_SIZE"] == ("4", "environment")
    assert (found["HYBRID_ALPHA"], found["PGRAG_LOG_LEVEL"][1]) == (("0.6", ".env"), "default")
    (working_directory / ".env").write_bytes(b"PGRAG_EMBEDDING_MODEL=\xff\n")
    with pytest.raises(SettingsError, match=r"\.env cannot be read"):
        load_settings()


def test_folders_are_absolute_and_roots_are_written_as_path_is(working_directory, monkeypatch):
    monkeypatch.setenv("PGRAG_HOME", "data/../here")
    assert load_settings().home == working_directory / "here"
    monkeypatch.setenv("PGRAG_HOME", "~/there")
    assert load_settings().home == Path.home() / "there"
    monkeypatch.setenv("PGRAG_MCP_ROOTS", os.pathsep.join(["docs", "/srv/a b", ""]))
    settings = load_settings()
    assert settings.mcp_roots == (working_directory / "docs", Path("/srv/a b"))
    shown = os.pathsep.join([str(working_directory / "docs"), "/srv/a b"])
    assert described(settings)["PGRAG_MCP_ROOTS"] == (shown, "environment")
    monkeypatch.setenv("PGRAG_MCP_ROOTS", os.pathsep)
    with pytest.raises(SettingsError, match=r"PGRAG_MCP_ROOTS=.* must name a folder"):
        load_settings()


def test_outgoing_addresses_are_public_unless_they_are_listed(monkeypatch):
    assert load_settings().outgoing_allow == ("public",)
    monkeypatch.setenv("PGRAG_OUTGOING_ALLOW", "Public, *.Docs.example 10.0.0.0/8,fd00::1")
    settings = load_settings()
    listed = ("public", "*.docs.example", "10.0.0.0/8", "fd00::1/128")
    assert settings.outgoing_allow == listed
    assert described(settings)["PGRAG_OUTGOING_ALLOW"] == (" ".join(listed), "environment")
    for wrong in ("10.0.0.1/8", "10.*", "fe80:*", "http://docs.example", "docs.example.", "bücher"):
        monkeypatch.setenv("PGRAG_OUTGOING_ALLOW", wrong)
        with pytest.raises(SettingsError, match=r"PGRAG_OUTGOING_ALLOW=.* must "):
            load_settings()


def test_all_bad_values_are_named(monkeypatch):
    for name in ("PGRAG_HOME", "PGRAG_MCP_ROOTS"):
        monkeypatch.setenv(name, "~nobody-of-this-name/docs")
        with pytest.raises(SettingsError, match=rf"{name}=.* somebody unknown"):
            load_settings()
        monkeypatch.delenv(name)
    monkeypatch.setenv("PGRAG_POOL_SIZE", "ten")
    monkeypatch.setenv("HYBRID_ALPHA", "two")
    with pytest.raises(SettingsError, match=r"(?s)PGRAG_POOL_SIZE.*HYBRID_ALPHA"):
        load_settings()


@pytest.mark.parametrize(("given", "used"), [
    ("postgresql://u:p@h:5433/d?sslmode=require", "postgresql://u:p@h:5433/d?sslmode=require"),
    ("postgres://h/d", "postgresql://h/d"),
    ("postgresql+psycopg://h/d", "postgresql://h/d"),
    ("host=/run/x dbname=d", "host=/run/x dbname=d"),
])  # fmt: skip
def test_forms_of_the_database_url(monkeypatch, given, used):
    monkeypatch.setenv("PGRAG_DATABASE_URL", given)
    assert load_settings().database_url.get_secret_value() == used


@pytest.mark.parametrize(("name", "value", "wanted"), [
    ("PGRAG_DATABASE_URL", "mysql://h/d", "postgresql://user:password@host:5432/database"),
    ("PGRAG_DATABASE_URL", "somewhere", "postgresql://user:password@host:5432/database"),
    ("PGRAG_POOL_SIZE", "0", "greater than or equal to 1"),
    ("PGRAG_POOL_SIZE", "ten", "valid integer"),
    ("HYBRID_ALPHA", "1.1", "less than or equal to 1"),
    ("HYBRID_ALPHA", "nan", "less than or equal to 1"),
    ("PGRAG_EMBEDDING_URL", "localhost:8080", "https://host/v1"),
    ("PGRAG_EMBEDDING_URL", "https://", "https://host/v1"),
    ("PGRAG_EMBEDDING_DIMENSIONS", "-1", "greater than or equal to 1"),
    ("PGRAG_EMBEDDING_BATCH_SIZE", "0", "greater than or equal to 1"),
    ("PGRAG_EMBEDDING_RETRIES", "-1", "greater than or equal to 0"),
    ("PGRAG_EMBEDDING_TIMEOUT", "inf", "finite"),
    ("PGRAG_LOG_LEVEL", "loud", "'debug', 'info', 'warning' or 'error'"),
])  # fmt: skip
def test_bad_value_is_named_with_what_is_right(monkeypatch, name, value, wanted):
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert f"{name}={value!r}" in str(caught.value)
    assert wanted in str(caught.value)


def test_secrets_are_never_shown_right_or_wrong(monkeypatch):
    monkeypatch.setenv("PGRAG_DATABASE_URL", "postgresql://u:geheim@h/d?sslpassword=geheim")
    monkeypatch.setenv("PGRAG_EMBEDDING_API_KEY", "geheim")
    monkeypatch.setenv("PGRAG_EMBEDDING_URL", "https://u:geheim@h/v1")
    settings = load_settings()
    assert settings.embedding_api_key is not None
    assert settings.embedding_api_key.get_secret_value() == "geheim"
    found = described(settings)
    assert found["PGRAG_EMBEDDING_API_KEY"] == ("********", "environment")
    assert found["PGRAG_DATABASE_URL"][0] == "postgresql://u:********@h/d?sslpassword=********"
    assert "geheim" not in repr(found)
    assert "geheim" not in repr(settings)
    monkeypatch.setenv("PGRAG_DATABASE_URL", "mysql://u:geheim@h/d")
    monkeypatch.setenv("PGRAG_EMBEDDING_URL", "ftp://u:geheim@h/v1")
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert "mysql://u:********@h/d" in str(caught.value)
    assert "geheim" not in str(caught.value)
    for url, shown in [
        ("postgresql://h/d", "postgresql://h/d"),
        ("postgresql://u@h1,h2/d", "postgresql://u@h1,h2/d"),
        (
            "postgresql://u:p%40p@h/d?password=q&x=1",
            "postgresql://u:********@h/d?password=********&x=1",
        ),
        ("host=h password='a b\\'c' user=u", "host=h password=******** user=u"),
        ("host=h sslpassword = x", "host=h sslpassword = ********"),
        ("host=h pasword=x", "host=h pasword=********"),
        ("host=h password=two words", "********"),
        ("postgresql://u@h:5432/d", "postgresql://u@h:5432/d"),
        ("postgresql://u:a/b@c@h/d", "postgresql://u:********@h/d"),
        ("https://h/v1?api_key=k&x=1", "https://h/v1?api_key=********&x=1"),
        ("u:p@h", "u:********@h"),
    ]:
        assert masked_url(url) == shown


def test_the_host_of_an_endpoint_is_the_one_that_browsers_see(monkeypatch):
    monkeypatch.setenv("PGRAG_LLM_URL", "http://u:p@faß。example:8080/v1?a=b")
    assert load_settings().llm_url == "http://u:p@xn--fa-hia.example:8080/v1?a=b"
    monkeypatch.setenv("PGRAG_LLM_URL", "http://℀.example/v1")
    with pytest.raises(SettingsError, match="must be like https://host/v1"):
        load_settings()
