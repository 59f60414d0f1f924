"""Find dead links on a site's pages."""

import html
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

LINK = re.compile(r"<[^>]+?\s(?:href|src)=\"([^\"]*)\"")
ANCHOR = re.compile(r"\s(?:id|name)=\"([^\"]+)\"")
CODE = re.compile(r"<script\b[^>]*>.*?</script>|<style\b[^>]*>.*?</style>|<!--.*?-->", re.DOTALL)


def dead_links(site):
    """Return the links of a site that lead to missing files or anchors; links to other hosts are not followed.

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
            if not _leads(link, path, anchors, site):
                found.append((path.relative_to(site).as_posix(), link))
    return found


def _leads(link, path, anchors, site):
    """Tell whether a link on a page leads to a file of the site and, if it names an anchor, whether the anchor exists.

    A link to another host is assumed to work. A fragment with an equals sign is a setting of the page, such as
    a filter, and not an anchor.
    """
    try:
        parts = urlsplit(html.unescape(link))
        if parts.scheme or parts.netloc:
            return True
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        found = target.is_file() and target.is_relative_to(site)
    except (ValueError, OSError):  # the link is not a URL, or its path cannot be that of a file
        return False
    lost = parts.fragment and target in anchors and unquote(parts.fragment) not in anchors[target]
    return found and (not lost or "=" in parts.fragment)
