/** Colours are told apart by most people who see few of them; what matters is also said in words. */
export const style = `
:root {
  color-scheme: light dark;
  --paper: #fff; --ink: #1c2024; --faint: #60646c; --rule: #e0e3e8; --track: #eef0f3;
  --kept: #2b7a4b; --missed: #c62a2f;
  --line-0: #0b62c4; --line-1: #c2410c; --line-2: #2b7a4b; --line-3: #8e4ec6; --line-4: #946800; --line-5: #0d7c8a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15181c; --ink: #eceef0; --faint: #9ba1a9; --rule: #2f353c; --track: #23282e;
    --kept: #4cc38a; --missed: #ff6b6f;
    --line-0: #6cb1ff; --line-1: #ff9a5c; --line-2: #4cc38a; --line-3: #c79af0; --line-4: #e5b94a; --line-5: #55c7d6;
  }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1rem 4rem; max-width: 60rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .5rem; }
h2 { font-size: 1.2rem; margin: 3rem 0 .25rem; }
p { margin: .25rem 0; }
.faint, figcaption, summary { color: var(--faint); }
.verdict { font-weight: 600; }
.kept { color: var(--kept); fill: var(--kept); }
.MISSED { color: var(--missed); fill: var(--missed); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: top; }
th { color: var(--faint); font-weight: 500; }
td.number, th.number { text-align: right; white-space: nowrap; }
td small { display: block; color: var(--faint); }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--faint); font-size: 12px; }
svg.bar { width: 220px; margin-top: .35rem; }
figure { margin: 1.5rem 0; }
figcaption { font-weight: 500; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: .25rem 0; padding: 0; list-style: none;
  font-size: .875rem; }
.swatch { display: inline-block; width: .75rem; height: .75rem; margin-right: .4rem; border-radius: 50%;
  background: currentColor; }
.rule { stroke: var(--rule); }
.track { fill: var(--track); }
.limit { stroke: var(--ink); stroke-width: 2; }
.arrow { fill: var(--ink); }
.curve { fill: none; stroke: currentColor; stroke-width: 2; }
.dot { fill: currentColor; stroke: var(--paper); stroke-width: 1; }
.mark { fill: var(--line-0); fill-opacity: .55; }
${[0, 1, 2, 3, 4, 5].map((index) => `.line-${index} { color: var(--line-${index}); }`).join('\n')}
`;
