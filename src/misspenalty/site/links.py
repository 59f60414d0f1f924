"""Links of a site's pages that lead nowhere."""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

LINK = re.compile(r"<[^>]+?\s(?:href|src)=\"([^\"]*)\"")
ANCHOR = re.compile(r"\s(?:id|name)=\"([^\"]+)\"")
CODE = re.compile(r"<script\b[^>]*>.*?</script>|<style\b[^>]*>.*?</style>|<!--.*?-->", re.DOTALL)


def dead_links(site):
    """Links that lead to no file of a site, or to no place on a page; links to other hosts are not followed.

    Parameters
    ----------
    site : path-like
        Folder of the site.

    Returns
    -------
    list of (str, str)
        Page and link, by page.
    """
    site = Path(site).resolve()
    texts = {path.resolve(): path.read_text(encoding="utf-8") for path in sorted(site.rglob("*.html"))}
    anchors = {path: set(ANCHOR.findall(text)) for path, text in texts.items()}
    found = []
    for path, text in texts.items():
        for link in LINK.findall(CODE.sub("", text)):
            parts = urlsplit(link.replace("&amp;", "&"))
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            missing = not target.is_file()
            lost = parts.fragment and target in anchors and unquote(parts.fragment) not in anchors[target]
            if missing or (lost and "=" not in parts.fragment):
                found.append((path.relative_to(site).as_posix(), link))
    return found
