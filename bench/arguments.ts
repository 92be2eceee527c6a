import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** What the command line asks for. */
export type Request =
  | { readonly kind: 'help' }
  | { readonly kind: 'mistake'; readonly sentence: string }
  | { readonly kind: 'table'; readonly folder: string }
  | {
      readonly kind: 'run';
      /** None stands for all. */
      readonly names: readonly string[];
      readonly quick: boolean;
      readonly json: boolean;
      readonly folder: string;
    };

export interface Known {
  readonly name: string;
  readonly what: string;
}

export function usageOf(known: readonly Known[]): string {
  const width = Math.max(...known.map(({ name }) => name.length));
  return `Usage: npm run bench [-- NAME... --quick --json --out FOLDER]
       npm run bench -- --table

Runs the named benchmarks, or all of them, and prints a table with a limit beside every figure that has one.
What is measured is written to results.json, and with charts to report.html.

${known.map(({ name, what }) => `  ${name.padEnd(width)}  ${what}`).join('\n')}

  --quick       few and small rounds, to see that everything works: the figures mean little
  --json        prints the results as JSON, and the table not at all
  --out FOLDER  where the two files are; without it, in bench/
  --table       runs nothing, and writes the results of the last run into README.md
  -h, --help    shows this help

It ends with 0, with 1 when a limit is missed or a benchmark fails, and with 2 when it was called wrongly.
`;
}

const options = {
  quick: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  table: { type: 'boolean', default: false },
  out: { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

const mistake = (sentence: string): Request => ({ kind: 'mistake', sentence: `${sentence} --help says more.` });

export function readArguments(args: readonly string[], known: readonly Known[]): Request {
  if (args.includes('--help') || args.includes('-h')) return { kind: 'help' };
  try {
    const { values, positionals: names } = parseArgs({ args: [...args], options, allowPositionals: true });
    const unknown = names.find((name) => !known.some((each) => each.name === name));
    if (unknown !== undefined) {
      const all = known.map(({ name }) => name).join(', ');
      return mistake(`There is no benchmark ${JSON.stringify(unknown)}, but there is ${all}.`);
    }
    const { quick, json, table, out } = values;
    const folder = out === undefined ? import.meta.dirname : resolve(out);
    if (!table) return { kind: 'run', names, quick, json, folder };
    if (names.length === 0 && !quick && !json) return { kind: 'table', folder };
    return mistake('--table runs nothing: no benchmark, --quick or --json goes with it.');
  } catch (error) {
    // Its further sentences are about names that begin with a dash, and none does.
    const [sentence = ''] = (error instanceof Error ? error.message : String(error)).split('. ');
    return mistake(`${sentence.replace(/\.?$/, '.')}`);
  }
}
