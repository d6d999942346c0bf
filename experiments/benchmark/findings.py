"""What the report says at a glance: sentences that the intervals carry or leave open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from experiments.benchmark.measuring import REFERENCE, Measured
from experiments.lib.findings import listed
from llama_envs.cli.show import markdown
from llama_envs.evaluation.intervals import plus_minus
from llama_envs.evaluation.tournament import Tournament

FEWEST_DEALS = 15  # for a finding; fewer say too little of their own spread


def findings(results: Sequence[Measured]) -> list[str]:
    """For each game a table at a glance, and lines that the intervals carry or leave open."""
    lines = []
    for title in dict.fromkeys(measured.game.title for measured in results):
        of_game = [measured for measured in results if measured.game.title == title]
        lines += [f"### {title}", "", markdown(at_a_glance(of_game))]
        lines += [*(f"- {sentence}" for sentence in _sentences(of_game) if sentence), ""]
    return lines


def at_a_glance(results: Sequence[Measured]) -> pd.DataFrame:
    """One row for each number of players."""
    search = strongest_search(results)
    rows = []
    for measured in results:
        row = {"players": str(measured.setting.players)}
        row["beaten by nobody"] = ", ".join(f"`{name}`" for name in unbeaten(measured.table)) or "–"
        row["equal share"] = f"{1 / measured.setting.players:.3f}"
        for policy in filter(None, ("baseline", search)):
            alone = share_alone(measured, policy)
            row[f"`{policy}` among `{REFERENCE}`s"] = "–" if alone is None else plus_minus(*alone)
        if measured.duel is not None:
            first, second, share, half = duel_share(measured.duel)
            row[f"`{first}` against `{second}`"] = plus_minus(share, half)
        for bound in measured.exploited.to_dict("records"):
            row[f"gain against `{bound['target']}`"] = f"≥ {bound['lower_bound']:.3f}"
        rows.append(row)
    return pd.DataFrame(rows).fillna("–")


def _sentences(results: Sequence[Measured]) -> Iterator[str]:
    yield strongest(results)
    for policy in ("baseline", strongest_search(results)):
        if policy:
            yield against_reference(results, policy)
    yield equal_time(results)
    yield exploited(results)
    for measured in results:
        if cycle := first_cycle(measured.table):
            names = " beats ".join(f"`{name}`" for name in (*cycle, cycle[0]))
            yield f"With {measured.setting.players} players there is a cycle: {names}."
    yield not_rated(results)


def players_of(results: Sequence[Measured]) -> str:
    """As in "2, 3 and 4 players"."""
    return f"{listed([str(measured.setting.players) for measured in results])} players"


def sentence(texts: Sequence[str]) -> str:
    """One of several clauses; empty without any."""
    text = "; ".join(texts)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def beats(table: Tournament) -> dict[tuple[str, str], bool]:
    """Whether the interval of a pair's share lies above one half."""
    frame = table.pairwise
    above = (frame["share"] - frame["share_95"].fillna(1) > 0.5) & (table.plan.deals >= FEWEST_DEALS)
    return dict(zip(zip(frame["policy"], frame["against"], strict=True), above, strict=True))


def unbeaten(table: Tournament) -> list[str]:
    """The policies that no other beats, the best rated first."""
    won = beats(table)
    rated = table.standings.loc[table.standings["rating"].notna(), "policy"]
    return [name for name in rated if not any(won[rival, name] for rival in rated if rival != name)]


def strongest(results: Sequence[Measured]) -> str:
    """Which policy beats every other, with how many players."""
    best: dict[str, list[Measured]] = {}
    open_: list[Measured] = []
    for measured in results:
        won = beats(measured.table)
        names = [name for name in measured.table.standings["policy"] if name not in measured.table.results.errors]
        winners = [name for name in names if all(won[name, rival] for rival in names if rival != name)]
        if winners:
            best.setdefault(winners[0], []).append(measured)
        else:
            open_.append(measured)
    texts = [f"`{name}` beats every other policy with {players_of(where)}" for name, where in best.items()]
    if open_:
        texts.append(f"with {players_of(open_)} the intervals single out no policy that beats all others")
    return sentence(texts)


def strongest_search(results: Sequence[Measured]) -> str:
    """The search policy with the highest rating on average over the tournaments."""
    rows = pd.concat([measured.table.standings for measured in results])
    searches = rows[rows["policy"].str.startswith(("mc:", "ismcts:")) & rows["rating"].notna()]
    return str(searches.groupby("policy")["rating"].mean().idxmax()) if len(searches) else ""


def share_alone(measured: Measured, policy: str) -> tuple[float, float] | None:
    """Win share of ``policy`` alone among the reference, and its interval's half-width."""
    if measured.setting.players == 2:
        frame, columns = measured.table.pairwise, ("policy", "against", "share", "share_95")
    elif measured.alone is not None:
        frame, columns = measured.alone.one_vs_rest, ("policy", "rest", "win_share", "win_share_95")
    else:
        return None
    row = frame[(frame[columns[0]] == policy) & (frame[columns[1]] == REFERENCE)]
    return (float(row[columns[2]].iloc[0]), float(row[columns[3]].iloc[0])) if len(row) else None


def against_reference(results: Sequence[Measured], policy: str) -> str:
    """Where one ``policy`` among P-1 of the reference wins more than an equal share."""
    shares = (
        (measured, share_alone(measured, policy), 1 / measured.setting.players, measured.alone or measured.table)
        for measured in results
    )
    text = sides(shares, "an equal share")
    return f"One `{policy}` among `{REFERENCE}`s wins {text}." if text else ""


def sides(shares: Iterable[tuple[Measured, tuple[float, float] | None, float, Tournament]], what: str) -> str:
    """As in "more than WHAT with 2 players; less than WHAT with 3 players": shares, equal ones and their games."""
    verdicts: dict[str, list[Measured]] = {"more than": [], "less than": [], "neither clearly more nor less than": []}
    for measured, share, equal, games in shares:
        if share is not None:
            verdicts[compared(share, equal, games.plan.deals)].append(measured)
    return "; ".join(f"{word} {what} with {players_of(where)}" for word, where in verdicts.items() if where)


def compared(share: tuple[float, float], equal: float, deals: int) -> str:
    """What an interval says of a share."""
    value, half = share if deals >= FEWEST_DEALS else (share[0], 1.0)
    if value - half > equal:
        return "more than"
    return "less than" if value + half < equal else "neither clearly more nor less than"


def duel_share(table: Tournament) -> tuple[str, str, float, float]:
    """The two policies of a comparison, the share of the first, and its interval's half-width."""
    row = table.pairwise.iloc[0]
    return row["policy"], row["against"], float(row["share"]), float(row["share_95"])


def equal_time(results: Sequence[Measured]) -> str:
    """Which of the two that had the same time won more."""
    duels = [(measured, measured.duel, *duel_share(measured.duel)) for measured in results if measured.duel is not None]
    if not duels:
        return ""
    first, second = duels[0][2:4]
    shares = ((measured, (share, half), 0.5, games) for measured, games, _, _, share, half in duels)
    return f"At equal time `{first}` wins {sides(shares, f'`{second}`')}."


def exploited(results: Sequence[Measured]) -> str:
    """Where a best response was shown to gain."""
    sure: dict[str, list[Measured]] = {}
    unsure: dict[str, list[Measured]] = {}
    for measured in results:
        for row in measured.exploited.to_dict("records"):
            (sure if row["lower_bound"] > 0 else unsure).setdefault(row["target"], []).append(measured)
    texts = [f"`{target}` is exploitable with {players_of(where)}" for target, where in sure.items()]
    texts += [f"no gain was shown against `{target}` with {players_of(where)}" for target, where in unsure.items()]
    return sentence(texts)


def first_cycle(table: Tournament) -> tuple[str, str, str] | None:
    """Three policies that beat each other in a circle, if the intervals show such a thing."""
    won = beats(table)
    names = sorted({name for name, _ in won})
    for a in names:
        for b in names:
            for c in names:
                if len({a, b, c}) == 3 and a == min(a, b, c) and won[a, b] and won[b, c] and won[c, a]:
                    return a, b, c
    return None


def not_rated(results: Sequence[Measured]) -> str:
    """Failures and games cut short, of all parts."""
    parts = [part for measured in results for part in (measured.table, measured.alone, measured.duel) if part]
    cut = sum(int(part.results.truncated.sum()) for part in parts)
    errors = {policy: error for part in parts for policy, error in part.results.errors.items()}
    text = f"{cut:,} games were cut short and are not counted." if cut else ""
    return " ".join(
        [text, *(f"`{policy}` failed ({error}) and is not rated." for policy, error in errors.items())]
    ).strip()
