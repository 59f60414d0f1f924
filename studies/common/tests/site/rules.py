"""Find the accessibility rules that a page breaks."""


def broken(page, axe):
    """Return the rules that a page breaks, with the elements that break them."""
    page.evaluate(axe)
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    return {one["id"]: [node["html"][:120] for node in one["nodes"]][:3] for one in found}
