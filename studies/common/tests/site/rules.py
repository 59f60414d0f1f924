"""Find the accessibility rules that a page breaks."""

DRAWN = "!document.querySelector('.chart:not([data-drawn])')"  # all charts of a page are drawn


def broken(page, axe):
    """Return the rules that a page breaks, with the elements that break them."""
    page.wait_for_function(DRAWN)
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    return {one["id"]: [node["html"][:120] for node in one["nodes"]][:3] for one in found}
