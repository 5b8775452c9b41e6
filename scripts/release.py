"""Build what is released into dist/: wheel, sdist, SBOM, image, and the checksums of all.

Usage: PYTHON scripts/release.py [--no-image], by a Python that has `build` and `cyclonedx-bom`;
`make release` makes one. Wheel, sdist and SBOM have the time of the commit, so that all who build
it get the same bytes. A tree that is not the commit is refused, and versions that contradict each
other are.
"""

import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: The registry of MCP, and the plugin of Claude; they name the version of pgrag.
_MANIFESTS = re.compile(r"(?:^|/)(?:server|plugin|marketplace)\.json$")


def main(arguments: list[str]) -> int:
    """Build it all; return the exit status."""
    if faults := [*faults_of(ROOT)]:
        print("Not released:", *faults, sep="\n- ", file=sys.stderr)
        return 1
    version, commit = version_of(ROOT), _git(ROOT, "rev-parse", "HEAD")
    variables = os.environ | {"SOURCE_DATE_EPOCH": _git(ROOT, "log", "-1", "--format=%ct")}
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    _say(f"pgrag {version}, commit {commit[:12]}: wheel and sdist")
    _run([sys.executable, "-m", "build", "--outdir", dist, ROOT], variables)
    [wheel] = dist.glob("*.whl")
    _say("the list of all packages that come with the wheel (CycloneDX)")
    write_bom(wheel, dist / f"pgrag_search-{version}.cdx.json", variables)
    if "--no-image" not in arguments:
        _say("the image for this processor")
        save_image(version, commit, dist)
    files = sorted(dist.iterdir())
    sums = "".join(
        f"{hashlib.sha256(each.read_bytes()).hexdigest()}  {each.name}\n" for each in files
    )
    (dist / "SHA256SUMS").write_text(sums, "utf-8")
    print(sums, end="")
    _say(f"in {dist}. To release it: git tag v{version} && git push origin v{version}")
    return 0


def version_of(root: Path) -> str:
    """Return the version that pyproject.toml states."""
    return str(tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"])


def faults_of(root: Path) -> Iterator[str]:
    """Yield why a checkout cannot be released."""
    version = version_of(root)
    if changed := _git(root, "status", "--porcelain"):
        names = ", ".join(line[3:] for line in changed.splitlines()[:5])
        yield f"Files differ from the commit: {names}. Commit or remove them."
    tag = f"v{version}"
    # The workflow builds what the tag names.
    if tag in _git(root, "tag", "--list", tag, "--no-contains", "HEAD").splitlines():
        yield f"The tag {tag} is another commit. Raise the version in pyproject.toml."
    yield from _changelog_faults((root / "CHANGELOG.md").read_text("utf-8"), version)
    for name in _git(root, "ls-files").splitlines():
        if _MANIFESTS.search(name):
            stated = set(_versions_in(json.loads((root / name).read_text("utf-8"))))
            for other in sorted(stated - {version}):
                yield f"{name} says {other}, pyproject.toml {version}. Make them equal."


def _changelog_faults(text: str, version: str) -> Iterator[str]:
    headings = re.findall(r"^## (.+?)(?: \((.+)\))?$", text, re.MULTILINE)
    dates = [date for name, date in headings if name == version]
    if not dates:
        named = ", ".join(name for name, _ in headings[:3])
        yield f"CHANGELOG.md has no section {version}, only {named}. Describe what is new in it."
    elif not re.fullmatch(r"\d{4}-\d\d-\d\d", dates[0]):
        yield (
            f"CHANGELOG.md calls {version} {dates[0] or 'undated'}. Put the day of the release into"
            f" its heading: ## {version} (2027-01-31)"
        )


def _versions_in(value: object) -> Iterator[str]:
    """Yield every value of a key `version`, however deep."""
    if isinstance(value, dict):
        for key, each in value.items():
            if key == "version" and isinstance(each, str):
                yield each
            else:
                yield from _versions_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from _versions_in(each)


def write_bom(wheel: Path, file: Path, variables: Mapping[str, str]) -> None:
    """Write the packages that come with a wheel at the pinned versions, as an SBOM."""
    with tempfile.TemporaryDirectory() as folder:
        _run([sys.executable, "-m", "venv", "--without-pip", folder], variables)
        python = Path(folder) / "bin" / "python"
        pinned = ["--constraint", ROOT / "constraints.txt", wheel]
        if uv := shutil.which("uv"):
            _run([uv, "pip", "install", "--quiet", "--python", python, *pinned], variables)
        else:
            pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]
            _run([*pip, "--no-compile", *pinned], variables)
        listing = [sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible"]
        project = ["--mc-type", "application", "--pyproject", ROOT / "pyproject.toml"]
        _run([*listing, *project, "--output-file", file, python], variables)


def save_image(version: str, commit: str, dist: Path) -> None:
    """Build the image of the checkout, and save it as `docker load` reads it."""
    name = f"pgrag:{version}"
    labels = {"version": version, "revision": commit, "licenses": "Apache-2.0"}
    options = [f"--label=org.opencontainers.image.{key}={each}" for key, each in labels.items()]
    base = os.environ.get("PGRAG_BASE_IMAGE")
    options += [f"--build-arg=BASE_IMAGE={base}"] if base else []
    _run(["docker", "build", "--file", ROOT / "docker/Dockerfile", "--tag", name, *options, ROOT])
    architecture = _output(["docker", "image", "inspect", "--format", "{{.Architecture}}", name])
    saved = dist / f"pgrag-{version}-linux-{architecture}.tar.gz"
    with (
        subprocess.Popen(["docker", "save", name], stdout=subprocess.PIPE) as saving,
        gzip.GzipFile(saved, "wb", compresslevel=6, mtime=0) as packed,
    ):
        shutil.copyfileobj(saving.stdout, packed, 1 << 20)  # type: ignore[type-var]
    if saving.returncode:
        raise SystemExit("docker save failed")


def _git(root: Path, *arguments: str) -> str:
    return _output(["git", "-C", str(root), *arguments])


def _output(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _run(command: list[object], variables: Mapping[str, str] | None = None) -> None:
    """Run a command; what it says is shown if it fails, and ends this program."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words, check=False, env=variables, capture_output=True, text=True, errors="replace"
        )
    except FileNotFoundError:
        raise SystemExit(
            f"There is no {words[0]}. Install it, or leave out the image: make release IMAGE=0"
        ) from None
    if done.returncode:
        raise SystemExit(f"{done.stdout}{done.stderr}\n{' '.join(words[:4])} … failed")


def _say(text: str) -> None:
    print(f"  {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
