import { type Figure, verdictOn } from './benchmark.ts';
import { withUnit } from './numbers.ts';
import { figuresOf, type Results } from './results.ts';
import { busyText, limitText, machineText } from './table.ts';

/** The results as the table of README.md: what has a limit, and what else says it in a line. */

const isShown = ({ limit, inReadme }: Figure): boolean => limit !== undefined || inReadme === true;

const cell = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll(/[|<\\]/g, '\\$&');
const line = (...cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;

const rowOf = (figure: Figure): string =>
  line(
    figure.name,
    withUnit(figure.value, figure.unit),
    figure.limit === undefined ? '' : limitText(figure.limit, figure.unit),
    verdictOn(figure) ?? '',
  );

/** Why a table of these results would mislead; undefined when it would not. */
export function objection(results: Results, all: readonly { readonly name: string }[]): string | undefined {
  const missing = all.filter(({ name }) => !results.benchmarks.some((result) => result.name === name));
  const failed = results.benchmarks.filter(({ kind }) => kind === 'failed');
  const unmeasured = [...missing, ...failed].map(({ name }) => name).join(', ');
  if (unmeasured !== '') return `The last run has no figures of: ${unmeasured}. Run all of them: npm run bench.`;
  if (results.quick) return 'The last run was a quick one, and its figures mean little. Run npm run bench.';
  return undefined;
}

function tableText(results: Results): string {
  const sections = results.benchmarks.flatMap((result) => {
    const rows = figuresOf(result).filter(isShown).map(rowOf);
    return rows.length === 0 ? [] : [line(`**${result.what}**`, '', '', ''), ...rows];
  });
  const leftOut = results.benchmarks
    .flatMap((result) => (result.kind === 'measured' ? (result.leftOut ?? []) : []))
    .map(({ name, reason }) => `Left out: ${cell(name)}. ${cell(reason)}\n`);
  const measured = [`Measured on ${results.date.slice(0, 10)}.`, machineText(results), busyText(results) ?? ''];
  return [
    `${cell(measured.join(' ')).trim()}\n`,
    line('', 'Measured', 'Limit', ''),
    '|---|--:|---|---|',
    ...sections,
    ...(leftOut.length === 0 ? [] : ['', ...leftOut]),
  ].join('\n');
}

/** The text with the table anew between its two comments. */
export function withResults(markdown: string, results: Results): string {
  const place = /(<!-- bench: [^\n]* -->\n).*?(<!-- \/bench -->)/s;
  if (!place.test(markdown)) throw new Error('There is no place for the table in README.md: <!-- bench: … -->.');
  const text = tableText(results).trimEnd();
  return markdown.replace(place, (_, begin: string, end: string) => `${begin}\n${text}\n\n${end}`);
}
