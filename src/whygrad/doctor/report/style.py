"""The style sheet of the HTML report.

Everything is inside ``.whygrad-report``, so that a report in a notebook changes nothing around it.
Text has a contrast of at least 4.5 to 1 on its ground, curves of 3 to 1, in light and in dark.
"""

from __future__ import annotations

__all__ = ["STYLE"]

_LIGHT = """
  --ground: #ffffff; --panel: #f6f7f9; --ink: #1c2128; --soft: #57606a; --rule: #d5dae1;
  --bad: #b3261e; --bad-ground: #fdf1f0; --good: #0a6b3d; --good-ground: #edf9f1;
  --warn: #8a5300; --added: #0a6b3d; --removed: #b3261e; --link: #2f4fbf; --band: #0a6b3d;
  --tone-0: #6d3fc0; --tone-1: #2f5fd0; --tone-2: #0b7f9c; --tone-3: #0f8050; --tone-4: #7a7100;
  --tone-5: #bb5a00; --tone-6: #c0234f; --tone-grey: #6b7480;
"""
_DARK = """
  --ground: #101418; --panel: #181d23; --ink: #e4e8ed; --soft: #a4aeb9; --rule: #333b44;
  --bad: #ff9a90; --bad-ground: #2a1817; --good: #73dba0; --good-ground: #13231a;
  --warn: #f0b95a; --added: #73dba0; --removed: #ff9a90; --link: #9db4ff; --band: #73dba0;
  --tone-0: #b99cff; --tone-1: #82a8ff; --tone-2: #55c5dd; --tone-3: #63d39a; --tone-4: #d4c84a;
  --tone-5: #ffab5e; --tone-6: #ff86a6; --tone-grey: #98a2ad;
"""

_RULES = (
    """
@ { color-scheme: light dark; background: var(--ground); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  padding: 28px 20px 56px; box-sizing: border-box; overflow-wrap: break-word; }
@ *, @ *::before { box-sizing: border-box; }
@ > * { max-width: 1060px; margin-left: auto; margin-right: auto; }
@ a { color: var(--link); }
@ .skip { position: absolute; left: -9999px; }
@ .skip:focus { position: static; }
@ :focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px; }

@ header { display: flex; flex-wrap: wrap; gap: 4px 14px; align-items: baseline;
  margin-bottom: 18px; }
@ header .name { font-weight: 650; letter-spacing: -.01em; }
@ header .subject { color: var(--soft); font-size: 14px; }
@ nav ul { display: flex; flex-wrap: wrap; gap: 4px 18px; list-style: none; margin: 20px 0 0;
  padding: 0; font-size: 14px; }
@ h1, @ h2, @ h3, @ h4 { line-height: 1.25; letter-spacing: -.01em; margin: 0; }
@ h1 { font-size: 27px; font-weight: 680; }
@ h2 { font-size: 19px; font-weight: 650; margin-bottom: 12px; }
@ h3 { font-size: 17px; font-weight: 650; }
@ h4 { font-size: 12px; font-weight: 650; letter-spacing: .06em; text-transform: uppercase;
  color: var(--soft); margin-bottom: 6px; }
@ p, @ ul, @ ol { margin: 0 0 12px; }
@ ul, @ ol { padding-left: 22px; }
@ li { margin: 3px 0; }
@ li::marker { color: var(--soft); }
@ .faint { color: var(--soft); font-size: 14px; }
@ code, @ pre, @ .rule { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
@ code { font-size: .9em; background: var(--panel); padding: 1px 4px; border-radius: 4px; }

@ section { margin-top: 34px; }
@ section.verdict { margin-top: 0; border: 1px solid var(--rule); border-left: 5px solid var(--bad);
  border-radius: 10px; padding: 22px 24px 12px; }
@ section.verdict.healthy { border-left-color: var(--good); padding-bottom: 14px; }
@ .facts { display: flex; flex-wrap: wrap; gap: 4px 16px; align-items: center; color: var(--soft);
  font-size: 14px; margin: 8px 0 14px; padding: 0; list-style: none; }
@ .facts li { margin: 0; }
@ .rule { font-size: 13px; font-weight: 600; color: var(--bad); background: var(--bad-ground);
  border: 1px solid color-mix(in srgb, var(--bad) 30%, transparent); border-radius: 20px;
  padding: 1px 10px; }
@ .sure { display: inline-flex; align-items: center; gap: 8px; }
@ .sure i { display: inline-block; width: 64px; height: 6px; border-radius: 3px;
  background: var(--rule); overflow: hidden; }
@ .sure b { display: block; height: 100%; background: var(--soft); }
@ .healthy h1 { color: var(--good); }
@ section.verdict.unclear { border-left-color: var(--warn); }
@ .finding + .finding { border-top: 1px solid var(--rule); margin-top: 18px; padding-top: 18px; }
@ .advice { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 330px), 1fr));
  gap: 4px 28px; margin-top: 14px; }
@ .advice > div { min-width: 0; }
@ .advice pre code { width: auto; white-space: pre-wrap; }

@ pre { background: var(--panel); border: 1px solid var(--rule); border-radius: 8px;
  margin: 0 0 14px; padding: 8px 0; overflow-x: auto; font-size: 13px; line-height: 1.6; }
@ pre code { background: none; padding: 0; font-size: inherit; display: block; width: max-content;
  min-width: 100%; }
@ pre .row { display: block; padding: 0 14px; }
@ pre .at { display: inline-block; min-width: 3ch; margin-right: 14px; color: var(--soft);
  text-align: right; user-select: none; }
@ pre .marked { background: var(--bad-ground); box-shadow: inset 3px 0 var(--bad);
  font-weight: 600; }
@ pre .marked .at { color: var(--bad); }
@ pre .added { color: var(--added); background: var(--good-ground); }
@ pre .removed { color: var(--removed); background: var(--bad-ground); }
@ .caption { color: var(--soft); font-size: 13.5px; margin-bottom: 4px; }

@ .scroll { overflow-x: auto; margin-bottom: 6px; border: 1px solid var(--rule);
  border-radius: 8px; }
@ .scroll + .scroll { margin-top: 16px; }
@ table { border-collapse: collapse; font-size: 13.5px; width: 100%;
  font-variant-numeric: tabular-nums; }
@ th, @ td { text-align: right; padding: 5px 12px; white-space: nowrap; background: none; }
@ th.words, @ td.words { text-align: left; }
@ thead th { white-space: normal; vertical-align: bottom; color: var(--soft); font-weight: 600;
  background: var(--panel); }
@ tbody tr { border-top: 1px solid var(--rule); background: none; }
@ tbody th { font-weight: 500; }
@ tr.marked td, @ tr.marked th { color: var(--bad); background: var(--bad-ground);
  font-weight: 600; }

@ ol.events { list-style: none; padding: 0; margin: 0; counter-reset: event; }
@ ol.events li { counter-increment: event; position: relative; margin: 0; padding: 5px 0 5px 42px; }
@ ol.events li::before { content: counter(event); position: absolute; left: 0; top: 6px;
  width: 26px; height: 20px; border-radius: 10px; background: var(--panel);
  border: 1px solid var(--rule); font-size: 12px; line-height: 18px; text-align: center;
  color: var(--soft); }
@ ol.events li + li::after { content: ""; position: absolute; left: 13px; top: -5px; height: 11px;
  border-left: 1px solid var(--rule); }
@ ol.events li.marked { color: var(--bad); font-weight: 600; }
@ ol.events li.marked::before { background: var(--bad); border-color: var(--bad);
  color: var(--ground); }

@ .figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr));
  gap: 26px 32px; }
@ figure { margin: 0; min-width: 0; }
@ figcaption { font-size: 13.5px; color: var(--soft); }
@ figcaption .legend { display: flex; flex-wrap: wrap; gap: 2px 14px; list-style: none; padding: 0;
  margin: 2px 0 6px; color: var(--ink); }
@ .legend li { display: inline-flex; align-items: center; gap: 6px; margin: 0; }
@ .legend svg { width: 18px; height: 10px; }
@ figure > svg { display: block; width: 100%; height: auto; overflow: visible; }
@ svg text { font: 11px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
  fill: var(--soft); }
@ svg text.alarm { fill: var(--bad); font-weight: 600; }
@ svg .flag-text { fill: var(--ground); font-weight: 650; }
@ svg .grid { stroke: var(--rule); stroke-width: 1; opacity: .55; }
@ svg .axis { stroke: var(--rule); stroke-width: 1; }
@ svg .curve { fill: none; stroke-width: 1.7; stroke-linejoin: round; stroke: var(--tone); }
@ svg .dot { fill: var(--tone); }
@ svg .hill { fill: var(--tone); fill-opacity: .3; stroke: none; }
@ svg .band { fill: var(--band); opacity: .13; }
@ svg .invalid { fill: var(--bad); opacity: .13; }
@ svg .clip { stroke: var(--warn); stroke-width: 1.5; }
@ svg .event { stroke-width: 1; stroke-dasharray: 3 3; }
@ svg .event.first, @ svg .event.cause { stroke: var(--bad); }
@ svg .event.other { stroke: var(--soft); }
@ svg .flag.first, @ svg .flag.cause { fill: var(--bad); }
@ svg .flag.other { fill: var(--soft); }
@ svg .validation { --tone: var(--ink); stroke-dasharray: 5 3; }
@ svg .early { --tone: var(--tone-grey); } @ svg .late { --tone: var(--tone-1); }
@ svg .bad { --tone: var(--tone-6); }
"""
    + "".join(f"@ svg .tone-{at} {{ --tone: var(--tone-{at}); }}\n" for at in range(7))
    + """
@ .ruled-out ul { columns: 2 380px; column-gap: 36px; font-size: 14.5px; }
@ .ruled-out li { break-inside: avoid; }
@ details { margin: 10px 0; }
@ summary { cursor: pointer; font-weight: 600; font-size: 14.5px; }
@ details > :not(summary) { margin-top: 8px; }
@ footer { margin-top: 44px; color: var(--soft); font-size: 13px; }
@media (max-width: 560px) {
  @ { padding: 16px 14px 40px; font-size: 15px; }
  @ h1 { font-size: 22px; }
  @ section.verdict { padding: 16px 16px 6px; }
}
@media print { @ { padding: 0; } @ nav { display: none; } @ section { break-inside: avoid-page; } }
"""
)

STYLE = (
    f".whygrad-report {{{_LIGHT}}}\n"
    f"@media (prefers-color-scheme: dark) {{ .whygrad-report {{{_DARK}}} }}\n"
) + _RULES.replace("@ ", ".whygrad-report ")
