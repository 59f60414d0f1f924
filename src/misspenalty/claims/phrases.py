"""What the worded formulas of the ledger mean, in the strict language of `formula`.

Most formulas of the ledger are arithmetic already; the rest are written for people ("min over settings"). Each of
those wordings stands here once, beside the expression that decides it, so that the reading can be checked by eye.
A wording that is not listed and is not arithmetic is an error.
"""

_RATIO = "100*(hac_fig9.replacement + hac_fig9.conversion)/hac_fig9.fetch"
_MISS_REDUCTION = "(mq_table4.mq - mq_table4.lru)/(100 - mq_table4.lru)"
_PAUSE_SHARE = "100*elapsed_reduction_s/(elapsed_s + elapsed_reduction_s)"
_MIDDLE = "(bucket_low_us + bucket_high_us)/2"

# result table -> wording -> expression, or a dict with `expr` and/or `report` (label -> expression for the note)
FORMULAS = {
    "mq_table4": {
        "abs(simulated - implemented)/implemented*100, every cache_mb and policy": {
            "expr": "abs(hit_ratio_pct - timed_hit_ratio_pct)/timed_hit_ratio_pct*100",
            "report": {"in points": "max(abs(hit_ratio_pct - timed_hit_ratio_pct))"},
        },
    },
    "mq_fig7": {
        "100*(mq/lru - 1) <= 100*(hit_mq - hit_lru)/(100 - hit_lru) of mq_table4": {
            "expr": f"100*(mq/lru - 1) <= 100*{_MISS_REDUCTION}",
            "report": {
                "limit as a rate gain": f"100*(1/(1 - {_MISS_REDUCTION}) - 1)",
                "holds with it": f"100*(mq/lru - 1) <= 100*(1/(1 - {_MISS_REDUCTION}) - 1)",
            },
        },
        "100*(mq/lru - 1), every cache_mb": "100*(mq/lru - 1)",
    },
    "sarc_table2": {
        "count(sarc <= min(lru_top, lru_bottom)), every config and scaled_iops": (
            "count(sarc <= min(lru_top, lru_bottom))"
        ),
        "100*load/max": "100*scaled_iops/max(scaled_iops)",
    },
    "sarc_fig6": {
        "0.4*read_ms + 0.6*write_ms of sarc_table2": (
            "response_ms == 0.4*sarc_table2.read_ms + 0.6*sarc_table2.write_ms"
        ),
        "highest load reached": "max(scaled_iops)",
        "max(cache_sensitive)/max(cache_insensitive)": (
            "max(scaled_iops@cache_sensitive)/max(scaled_iops@cache_insensitive)"
        ),
    },
    "hac_fig9": {
        "total = fetch + replacement + conversion, every traversal": "total == fetch + replacement + conversion",
        "argmax over cache_mb of us": {"peak": "cache_mb"},
        "100*conversion/fetch for T6, T1-, T1": {
            "expr": "100*conversion/fetch",
            "where": {"traversal": ["T6", "T1-", "T1"]},
        },
        "replacement <= fetch, every traversal: visible replacement = max(0, replacement - idle) = 0": (
            "replacement <= fetch"
        ),
    },
    "hac_fig10": {
        "sum of components": "sum(components)",
        "100*stack_scanning/sum of components": "100*stack_scanning/sum(components)",
        "stack_scanning/sum of components": "stack_scanning/sum(components)",
    },
    "hac_fig11": {
        "100*(disk + network) / (fetch + replacement + conversion of hac_fig9), every traversal": (
            "100*(disk + network)/(hac_fig9.fetch + hac_fig9.replacement + hac_fig9.conversion)"
        ),
        "(network + disk) > (client + server); report the share": {
            "expr": "network + disk > client + server",
            "report": {"network and disk, % of the fetch": "100*(network + disk)/sum(components)"},
        },
        "also report disk/fetch": {"report": {"disk, share of the fetch": "disk/sum(components)"}},
        "sum of components = fetch us of hac_fig9, every traversal": "sum(components) == hac_fig9.fetch",
        "100*disk/sum of components": "100*disk/sum(components)",
    },
    "hac_projections": {
        "> conversion us of hac_fig9": "value > hac_fig9.conversion",
        "< stack_scanning us of hac_fig10": "value < hac_fig10.stack_scanning",
        "> fetch us of hac_fig9": "value > hac_fig9.fetch",
        "< same ratio from hac_fig9": f"value < {_RATIO}",
        "> same ratio from hac_fig9": f"value > {_RATIO}",
        # more than half of the cases; a case counts when it is below for every traversal it has
        "count of cases below hac_fig9": {
            "expr": f"fraction(all(value < {_RATIO})) > 0.5",
            "without": {"case": "fig9_point"},
        },
        "every value < 100": "value",
        "< 75 for T1-, < 77 for T1": 'all(value@"T1-" < 75) and all(value@"T1" < 77)',
    },
    "epcm_fig7": {
        "max over settings": "max(column)",
        "min over settings": "min(column)",
        "min over epcm settings": "min(column)",
        "min epcm / hot": "min(epcm)/hot",
        "max over settings of 100*elapsed_reduction_s/(elapsed_s + elapsed_reduction_s)": f"max({_PAUSE_SHARE})",
        "(min(epcm) < hot) == buffer_copy": "(min(epcm) < hot) == at(buffer_copy, model='hot')",
        "max(hot, last_successor, pcm, epcm) <= elapsed_s@cold - compute_s@cold": (
            "max(max(hot), max(last_successor), max(pcm), max(epcm)) <= elapsed_s@cold - compute_s@cold"
        ),
        "io_reduction_pct >> 100*elapsed_reduction_s/(elapsed_s + elapsed_reduction_s)": {
            "expr": f"max(io_reduction_pct) > max({_PAUSE_SHARE})",
            "report": {"times as large": f"max(io_reduction_pct)/max({_PAUSE_SHARE})"},
        },
    },
    "epcm_fig8": {
        "sum(epcm - hot over 17-32, 33-64) = (hot - epcm) in 129-256": (
            "at(epcm, bucket_low_us=17, bucket_high_us=32) - at(hot, bucket_low_us=17, bucket_high_us=32)"
            " + at(epcm, bucket_low_us=33, bucket_high_us=64) - at(hot, bucket_low_us=33, bucket_high_us=64)"
            " == at(hot, bucket_low_us=129, bucket_high_us=256) - at(epcm, bucket_low_us=129, bucket_high_us=256)"
        ),
        # mean latency (middle of the bucket) of the calls that left a bucket less that of those that arrived in one
        "difference of the mean latencies of the calls that changed bucket": (
            f"sum(at({_MIDDLE}, run='hot')*max(hot - epcm, 0))/sum(max(hot - epcm, 0))"
            f" - sum(at({_MIDDLE}, run='hot')*max(epcm - hot, 0))/sum(max(epcm - hot, 0))"
        ),
        "sum over buckets, hot = epcm": "sum(hot) == sum(epcm)",
    },
    "vlog_table2": {
        "= sum(ms, update_in_place)/sum(ms, virtual_log) of vlog_fig9": (
            "speedup == sum(vlog_fig9.components@update_in_place)/sum(vlog_fig9.components@virtual_log)"
        ),
    },
    "vlog_fig9": {
        "total(update_in_place)/total(virtual_log) < locate(update_in_place)/locate(virtual_log)": (
            "sum(components@update_in_place)/sum(components@virtual_log) < locate@update_in_place/locate@virtual_log"
        ),
        "total = scsi_overhead + transfer + locate + other, every platform and system": (
            "total == scsi_overhead + transfer + locate + other"
        ),
        "locate/total (also (locate + transfer)/total)": {
            "expr": "locate/sum(components)",
            "report": {"with transfer": "(locate + transfer)/sum(components)"},
        },
        "max(component)/total": "max(components)/sum(components)",
        "total": "sum(components)",
        # each step of the platform, old over new
        "total(old)/total(new)": (
            "steps(sum(components@sparc10_hp)/sum(components@sparc10_seagate),"
            " sum(components@sparc10_seagate)/sum(components@ultra170_seagate))"
        ),
    },
}

# tests of an ordering; "<member> lowest", "<member> highest" and "lowest group" need no entry
TESTS = {
    "highest at the peak: lru_top in cache_sensitive, lru_bottom in cache_insensitive": (
        "at(lru_top, config='cache_sensitive', scaled_iops=25000)"
        " > max(at(lru_bottom, config='cache_sensitive', scaled_iops=25000),"
        " at(sarc, config='cache_sensitive', scaled_iops=25000))"
        " and at(lru_bottom, config='cache_insensitive', scaled_iops=11364)"
        " > max(at(lru_top, config='cache_insensitive', scaled_iops=11364),"
        " at(sarc, config='cache_insensitive', scaled_iops=11364))"
    ),
    "best epcm setting > best of the others": "max(epcm) > max(max(last_successor), max(pcm))",
}

# `along` a result instead of a key -> (expression for the horizontal axis, keys within which the points are compared)
ALONG = {
    "hit_ratio_pct of mq_table4": ("mq_table4.hit_ratio_pct", ()),
    "write_ms of sarc_table2, policies at one load": ("sarc_table2.write_ms", ("config", "scaled_iops")),
}

# worded limits of a bound
LIMITS = {
    "foreground replacement": "hac_fig9.replacement",
    "ratio of hac_fig9": _RATIO,
    "fetch": "fetch",
}
