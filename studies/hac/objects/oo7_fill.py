"""Fill in the contents of the objects of an OO7 database after placement: fields, arrays of references and texts."""

import numpy as np

from misspenalty_studies.hac.objects.oo7_plan import (
    BASE,
    CHUNK,
    CLASSES,
    COMPLEX,
    COMPOSITE,
    CONNECTION,
    DOCUMENT,
    MANUAL,
    MODULE,
    PART,
    TYPES,
)


def _fill_named(pages, serials, kind, types):
    """Fill in each object's reference to its type's name, and that name itself, which is the next object."""
    pages.fill(serials, CLASSES[kind].word("type"), pages.orefs[serials + 1])
    for number in range(TYPES):
        pages.fill_text((serials + 1)[types == number], b"type%03d\0\0\0" % number)


def _fill_text_tree(pages, serials, first, chunks, size, what):
    """Fill in a long text: the array that refers to its strings, and the characters of these strings."""
    text = (b"I am the %s of this part of the database. " % what) * (CHUNK // 40 + 1)
    pieces = first[:, None] + np.arange(chunks)
    for i in range(chunks):
        pages.fill(serials, 2 + i, pages.orefs[pieces[:, i]])
    for i in range(chunks):
        pages.fill_text(pieces[:, i], text[: CHUNK if i < chunks - 1 else size - (chunks - 1) * CHUNK])


def fill_modules(pages, plan, draws):
    module, orefs = plan.module, pages.orefs
    _fill_fields(
        pages,
        module,
        MODULE,
        id=np.arange(len(module)) + 1,
        build_date=draws.module[1],
        manual=orefs[module + 2],
        root=orefs[plan.assembly[:, 0]],
    )
    _fill_named(pages, module, MODULE, draws.module[0])
    _fill_fields(
        pages,
        module + 2,
        MANUAL,
        id=np.arange(len(module)) + 1,
        title=orefs[module + 3],
        text=orefs[module + 4],
        length=plan.p.manual_bytes,
        module=orefs[module],
    )
    pages.fill_text(module + 3, b"Manual of the module".ljust(40))
    _fill_text_tree(pages, module + 4, module + 5, plan.manual_chunks, plan.p.manual_bytes, b"manual")


def fill_assemblies(pages, plan, draws):
    orefs, above = pages.orefs, np.where(plan.parent < 0, 0, plan.parent)
    parent = np.where(plan.parent < 0, 0, orefs[plan.assembly[:, above]]).astype(np.uint32)
    module = np.broadcast_to(orefs[plan.module][:, None], parent.shape)
    for kind, chosen in ((COMPLEX, ~plan.is_base), (BASE, plan.is_base)):
        serials = plan.assembly[:, chosen]
        _fill_fields(
            pages,
            serials,
            kind,
            id=(np.arange(serials.size) + 1).reshape(serials.shape),
            build_date=draws.assembly[1][:, chosen],
            parent=parent[:, chosen],
            module=module[:, chosen],
        )
        _fill_named(pages, serials, kind, draws.assembly[0][:, chosen])
    inner = plan.assembly[:, ~plan.is_base]
    _fill_fields(pages, inner, COMPLEX, children=orefs[inner + 2])
    children = np.flatnonzero(plan.parent >= 0)
    children = children[np.argsort(plan.parent[children], kind="stable")].reshape(-1, plan.p.fan_out)
    for i in range(plan.p.fan_out):
        pages.fill(inner + 2, 2 + i, orefs[plan.assembly[:, children[:, i]]])
    base = plan.assembly[:, plan.is_base]
    _fill_fields(pages, base, BASE, private=orefs[base + 2], shared=orefs[base + 3])
    for at, chosen in ((2, draws.private), (3, draws.shared)):
        for i in range(plan.p.composites_per_base):
            pages.fill(base + at, 2 + i, orefs[plan.composite[chosen[:, :, i]]])


def fill_composites(pages, plan, draws):
    orefs, composite = pages.orefs, plan.composite
    _fill_fields(
        pages,
        composite,
        COMPOSITE,
        id=np.arange(len(composite)) + 1,
        build_date=draws.composite[1],
        document=orefs[plan.document],
        root_part=orefs[plan.part[:, 0]],
        parts=orefs[plan.parts_array],
        used_private=orefs[plan.parts_array + 1],
        used_shared=orefs[plan.parts_array + 2],
    )
    _fill_named(pages, composite, COMPOSITE, draws.composite[0])
    for i in range(plan.p.parts):
        pages.fill(plan.parts_array, 2 + i, orefs[plan.part[:, i]])
    base = orefs[plan.assembly[:, plan.is_base]]
    for at, chosen in ((1, draws.private), (2, draws.shared)):
        _fill_ragged(pages, plan.parts_array + at, chosen.ravel(), np.repeat(base.ravel(), chosen.shape[2]))


def _fill_ragged(pages, serials, owner, values):
    """Fill each array with the values whose entry in `owner` is the array's index, in the given order."""
    order = np.argsort(owner, kind="stable")
    counts = np.bincount(owner, minlength=len(serials))
    place = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    pages.fill(serials[owner[order]], 2 + place, values[order])


def fill_parts(pages, plan, draws):
    orefs, part, connection = pages.orefs, plan.part, plan.connection
    _fill_fields(
        pages,
        part,
        PART,
        id=(np.arange(part.size) + 1).reshape(part.shape),
        build_date=draws.part[1],
        x=draws.x,
        y=draws.y,
        document_id=draws.document_id,
        composite=np.broadcast_to(orefs[plan.composite][:, None], part.shape),
        to=orefs[part + 2],
        **{"from": orefs[part + 3]},
    )
    _fill_named(pages, part, PART, draws.part[0])
    target = part[np.arange(len(part))[:, None, None], draws.to]
    _fill_fields(
        pages,
        connection,
        CONNECTION,
        length=draws.connection[1],
        to=orefs[target],
        **{"from": np.broadcast_to(orefs[part][:, :, None], connection.shape)},
    )
    _fill_named(pages, connection, CONNECTION, draws.connection[0])
    for i in range(plan.p.connections):
        pages.fill(part + 2, 2 + i, orefs[connection[:, :, i]])
    owner = (draws.to.astype(np.int64) + (np.arange(len(part)) * plan.p.parts)[:, None, None]).ravel()
    _fill_ragged(pages, part.ravel() + 3, owner, orefs[connection].ravel())


def fill_documents(pages, plan):
    document, orefs = plan.document, pages.orefs
    _fill_fields(
        pages,
        document,
        DOCUMENT,
        id=np.arange(len(document)) + 1,
        title=orefs[document + 1],
        text=orefs[document + 2],
        composite=orefs[plan.composite],
    )
    pages.fill_text(document + 1, b"Document of a composite part".ljust(40))
    _fill_text_tree(pages, document + 2, document + 3, plan.chunks, plan.p.document_bytes, b"documentation")


def _fill_fields(pages, serials, kind, **values):
    for field, value in values.items():
        pages.fill(serials, CLASSES[kind].word(field), value)
