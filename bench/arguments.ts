/** What the command line asks for. */
export type Request =
  | { readonly kind: 'help' }
  | { readonly kind: 'mistake'; readonly sentence: string }
  | { readonly kind: 'table' }
  | { readonly kind: 'run'; readonly names: readonly string[]; readonly quick: boolean; readonly json: boolean };

export interface Known {
  readonly name: string;
  readonly what: string;
}

export function usageOf(known: readonly Known[]): string {
  const width = Math.max(...known.map(({ name }) => name.length));
  return `Usage: npm run bench [-- NAME... --quick --json]
       npm run bench -- --table

Runs the named benchmarks, or all of them, and prints a table with a limit beside every figure that has one.
What is measured is written to bench/results.json, and with charts to bench/report.html.

${known.map(({ name, what }) => `  ${name.padEnd(width)}  ${what}`).join('\n')}

  --quick     few and small rounds, to see that everything works: the figures mean little
  --json      prints the results as JSON, and the table not at all
  --table     runs nothing, and writes the last results into README.md
  -h, --help  shows this help

It ends with 0, with 1 when a limit is missed or a benchmark fails, and with 2 when it was called wrongly.
`;
}

const flags = ['--quick', '--json', '--table'];

export function readArguments(args: readonly string[], known: readonly Known[]): Request {
  if (args.includes('--help') || args.includes('-h')) return { kind: 'help' };
  const names = args.filter((arg) => !arg.startsWith('-'));
  const isKnown = (arg: string): boolean => flags.includes(arg) || known.some(({ name }) => name === arg);
  const unknown = args.find((arg) => !isKnown(arg));
  if (unknown !== undefined) {
    const all = [...known.map(({ name }) => name), ...flags].join(', ');
    return {
      kind: 'mistake',
      sentence: `There is no ${JSON.stringify(unknown)}, but there is ${all}. --help says more.`,
    };
  }
  if (!args.includes('--table')) {
    return { kind: 'run', names, quick: args.includes('--quick'), json: args.includes('--json') };
  }
  if (args.length === 1) return { kind: 'table' };
  return { kind: 'mistake', sentence: '--table runs nothing, and goes with nothing else.' };
}
