"""Git bundles that nobody should unpack."""
import os
import shutil
import subprocess


def hostile(place, skill):
    """Git bundles with a link, with what would be unpacked to far more, without a HEAD, and cut off."""
    made = {}
    for kind in ("link", "bomb", "headless"):
        repository = place.path / f"bundle-{kind}"
        place.put(f"bundle-{kind}/kit/SKILL.md", skill)
        git = lambda *words: subprocess.run(["git", "-C", repository, *words], check=True, capture_output=True)  # noqa: E731
        if kind == "link":
            os.symlink("/etc/passwd", repository / "kit/passwd")
        if kind == "bomb":
            with open(repository / "kit/zeros", "wb") as zeros:
                zeros.truncate(100 << 20)
        git("init", "-q", "-b", "main")
        git("add", ".")
        git("-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-qm", "x")
        git("bundle", "create", place.path / "hostile.bundle", "main" if kind == "headless" else "HEAD")
        made["a bundle: " + kind] = (place.path / "hostile.bundle").read_bytes()
        shutil.rmtree(repository)
    made["a bundle: cut off"] = made["a bundle: link"][:-30]
    return made
