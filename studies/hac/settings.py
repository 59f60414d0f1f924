"""Define and validate the settings of the HAC study."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from misspenalty.errors import ParameterError
from misspenalty_studies.common.settings import Distinct, Number, SettingError, Settings, at, setting
from misspenalty_studies.common.settings.types import Share, Unique
from misspenalty_studies.hac.objects.oo7 import Parameters
from misspenalty_studies.hac.objects.traversals import STATIC

Size = Annotated[Number, Field(ge=0.016, le=2047)]


class Database(Settings):
    """Parameters of an OO7 database; those that are not given are as in the medium database with 3 connections."""

    one_row: ClassVar[bool] = True
    parts: int | None = setting(None, "Atomic parts per composite part.", ge=1, le=100_000)
    connections: int | None = setting(None, "Connections per atomic part.", ge=1, le=100)
    composites: int | None = setting(None, "Composite parts per module.", ge=1, le=100_000)
    document_bytes: int | None = setting(None, "Size of a document, bytes.", ge=1, le=1_000_000)
    manual_bytes: int | None = setting(None, "Size of a manual, bytes.", ge=1, le=4_000_000)
    fan_out: int | None = setting(None, "Children per assembly.", ge=1, le=20)
    levels: int | None = setting(None, "Levels of assemblies.", ge=1, le=12)
    composites_per_base: int | None = setting(None, "Private composite parts per base assembly.", ge=1, le=255)
    documents: Literal["apart", "between"] | None = setting(
        None, "Place of documents. `apart`: in an area of their own; `between`: each next to its composite part."
    )


class PointsByTraversal(Settings):
    """A client cache for each traversal."""

    one_row: ClassVar[bool] = True
    t6: Size = setting(what="Bad clustering.", alias="T6")
    t1_minus: Size = setting(what="Average clustering.", alias="T1-")
    t1: Size = setting(what="Good clustering.", alias="T1")
    t1_plus: Size = setting(what="Excellent clustering.", alias="T1+")


class SizesByTraversal(Settings):
    """Client caches for each traversal."""

    one_row: ClassVar[bool] = True
    t6: Distinct[Size] = setting(what="Bad clustering.", alias="T6")
    t1_minus: Distinct[Size] = setting(what="Average clustering.", alias="T1-")
    t1: Distinct[Size] = setting(what="Good clustering.", alias="T1")
    t1_plus: Distinct[Size] = setting(what="Excellent clustering.", alias="T1+")


class Mix(Settings):
    """Share of each visit of the dynamic traversal."""

    one_row: ClassVar[bool] = True
    t6: Share | None = setting(None, "Visits like T6's.", alias="T6")
    t1_minus: Share | None = setting(None, "Visits like T1-'s.", alias="T1-")
    t1: Share | None = setting(None, "Visits like T1's.", alias="T1")
    t1_plus: Share | None = setting(None, "Visits like T1+'s.", alias="T1+")

    @model_validator(mode="after")
    def check(self):
        """Check that the shares add up to 1."""
        total = sum(self.plain().values())
        if abs(total - 1) > 1e-9:
            raise SettingError(f"the shares add up to {total:.10g}; expected 1")
        return self


class Dynamic(Settings):
    """The dynamic traversal."""

    operations: int = setting(
        4000, "Operations, each a path to a composite part and a visit to it.", ge=1, le=1_000_000
    )
    shift: Share = setting(0.5, "Share of the operations after which the hot and the cold module swap roles.")
    hot: Share = setting(0.8, "Share of the operations on the hot module.")
    mix: Mix = setting({"T1-": 0.8, "T1": 0.2}, "Share of each kind of visit; the shares add up to 1.")


class Sensitivity(Settings):
    """HAC's recollected parameters."""

    retention: Unique[Annotated[Number, Field(gt=0, le=1)]] | None = setting(
        None,
        "A frame's threshold is the lowest usage that is exceeded by less than this share of its objects; the objects "
        "above it are hot.",
    )
    scan: Unique[Annotated[int, Field(ge=1, le=1000)]] | None = setting(
        None, "Frames that a pointer examines per fetch."
    )
    lifetime: Unique[Annotated[int, Field(ge=1, le=1_000_000)]] | None = setting(
        None, "Fetches after which a candidate is forgotten."
    )
    secondary: Unique[Annotated[int, Field(ge=0, le=16)]] | None = setting(None, "Secondary pointers.")
    activation_words: Unique[Annotated[int, Field(ge=4, le=4096)]] | None = setting(
        None, "Words of an activation record."
    )


class HacVariant(Settings):
    """The calibrated variant."""

    layout: str = setting(
        "documents in an area of their own",
        "The variant's database, one of hac.layouts.",
        "The variant's sweeps are those of the study's conditions.",
    )
    shown_mb: Distinct[Size] = setting(
        [24, 26, 28, 30],
        "Sizes of the server's page cache, MB, for which reproduced claims are counted next to those for the fitted "
        "size.",
    )


class HacSettings(Settings):
    """HAC, SOSP 1997."""

    seeds: Distinct[Annotated[int, Field(ge=0)]] = setting(
        [1, 2, 3, 4, 5],
        "Seeds of OO7's database, of the operations of the dynamic traversal, and of the draws of the server's model.",
        "Results are means over them, those of `sensitivity` over the first two, with the half width of a 95 % "
        "interval.",
    )
    database: Database = setting(
        {"parts": 200, "connections": 3, "composites": 500, "documents": "between"},
        "Parameters of OO7's database; those that are not given are as in medium with 3 connections per part. Keys "
        "are those of misspenalty_studies.hac.objects.oo7.Parameters.",
        "The paper clusters objects by time of creation, and OO7 creates a document with its composite part.",
    )
    iterations: int = setting(
        2,
        "Iterations of a traversal. The first is cold; hot results are means over the others without the last, or "
        "those of the second if there are two.",
        "The benchmark's program leaves out the last iteration, so a third would change no number.",
        ge=2,
        le=100,
    )
    points_mb: PointsByTraversal = setting(
        {"T6": 0.16, "T1-": 5, "T1": 12, "T1+": 20},
        "Client cache of each traversal in Figure 9, MB of 2^20 bytes; one of its sweep_mb. Figures 10 and 11 and the "
        "projections are at these sizes too, and the claims refer to them.",
        "The paper's.",
    )
    sweep_mb: SizesByTraversal = setting(
        {
            "T6": [0.1, 0.12, 0.13, 0.14, 0.15, 0.16, 0.17, 0.18, 0.2, 0.24],
            "T1-": [2, 3, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5],
            "T1": [8, 10, 12, 14, 16, 18, 20, 22],
            "T1+": [12, 16, 20, 24, 32, 40, 44],
        },
        "Client caches of the sweep, by traversal, in which the peak of replacement is sought, MB; sizes include "
        "frames and indirection table.",
        block=True,
    )
    sweep_frames_mb: SizesByTraversal = setting(
        {
            "T6": [0.08, 0.09, 0.1, 0.11, 0.12, 0.13, 0.14, 0.16],
            "T1-": [2, 3, 3.5, 4, 4.5, 5],
            "T1": [6, 8, 10, 12, 13, 14],
            "T1+": [12, 16, 20, 24, 28],
        },
        "Client caches of the same sweep, by traversal, for sizes that include only the frames, MB.",
        block=True,
    )
    least_share: Share = setting(
        0.02, "A size counts for a peak only if hot iterations fetch at least this share of what the cold one fetches."
    )
    gom_shares: Annotated[list[Annotated[Number, Field(ge=0, lt=1)]], Field(min_length=1)] = setting(
        [0.3, 0.6],
        "Splits of the dual buffer that are tried at each size, as shares of its frames that hold objects.",
        "The best on the first seed is kept.",
    )
    others_mb: SizesByTraversal = setting(
        {"T6": [0.12, 0.16, 0.2, 0.24], "T1-": [3, 5, 6, 7.5], "T1": [8, 12, 16, 20], "T1+": [12, 20, 32]},
        "Client caches of FPC and the dual buffer, by traversal, MB.",
        block=True,
    )
    dynamic: Dynamic = setting(
        {"operations": 4000, "shift": 0.5, "hot": 0.8, "mix": {"T6": 0.0, "T1-": 0.8, "T1": 0.2, "T1+": 0.0}},
        "The dynamic traversal on a database of two modules.",
        "Every number is an assumption; the paper's are not known.",
        block=True,
    )
    dynamic_mb: Distinct[Size] = setting([4, 8, 16, 24, 32], "Client caches of the dynamic traversal, MB.")
    hit_time_mb: Size = setting(
        30, "Client cache of the hit times (Table 3), MB; it must have room for all that T1 reads.", "The paper's."
    )
    updates_mb: Size = setting(12, "Client cache of the traversals with updates, MB.", "The paper's.")
    server_cache_mb: Distinct[Size] = setting(
        [24, 26, 30], "Sizes of the server's page cache, MB.", "The testbed's and smaller ones."
    )
    sensitivity: Sensitivity = setting(
        {
            "retention": [0.5, 0.9],
            "scan": [1, 10],
            "lifetime": [5, 50],
            "secondary": [0, 4],
            "activation_words": [8, 32],
        },
        "HAC's recollected parameters, varied one at a time at the points of Figure 9.",
        block=True,
    )
    layouts: dict[str, Database] = setting(
        {"documents in an area of their own": {"documents": "apart"}},
        "Other databases, by name; keys are those of hac.database.",
        block=True,
    )

    calibrated: HacVariant = setting(
        {"layout": "documents in an area of their own", "shown_mb": [24, 26, 28, 30]},
        "The variant on another database, with a server's cache fitted to the printed hit rate of T1 "
        "(data/calibration.yaml); results have the suffix _calibrated.",
        "It is not counted in any total.",
        block=True,
    )

    @model_validator(mode="after")
    def check(self, info):
        """Check that sweeps include the points, that the databases can be built, that the calibrated variant's layout
        is one of `layouts`, and that the calibration declares the fitted parameters.

        Arrays whose lengths are drawn at random are checked when a database is generated.
        """
        sizes = self.database.plain()
        with at("database"):
            for modules in (1, 2):  # the dynamic traversal's database has two modules
                Parameters(**sizes, modules=modules)
        for name, changed in self.layouts.items():
            with at("layouts", name):
                Parameters(**sizes | changed.plain())
        if self.calibrated.layout not in self.layouts:
            raise SettingError(
                f"{self.calibrated.layout!r} is not one of hac.layouts; add it there", "calibrated", "layout"
            )
        points, sweeps = self.points_mb.plain(), self.sweep_mb.plain()
        for name in STATIC:
            if points[name] not in sweeps[name]:
                raise SettingError(
                    f"{points[name]:g} MB is not in hac.sweep_mb.{name}; add it there", "points_mb", name
                )
        fits = (info.context or {}).get("fits")
        fitted = [fit.parameter for fit in fits or () if fit.study == "hac" and fit.basis == "fitted"]
        if fits is not None and sorted(fitted) != ["install_instructions", "page_order", "server_cache_mb"]:
            raise ParameterError(
                "data/calibration.yaml: expected exactly these fitted parameters of the HAC study: "
                "install_instructions, page_order and server_cache_mb"
            )
        return self
