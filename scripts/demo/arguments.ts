/** The request of the command line. */
export type Request =
  | { readonly kind: 'help' }
  | { readonly kind: 'mistake'; readonly sentence: string }
  | ({ readonly kind: 'run' } & RunOptions);

export interface RunOptions {
  readonly keep: boolean;
  readonly quick: boolean;
  /** Undefined without a recording. If `folder` is undefined, a new temporary folder is created. */
  readonly record: { readonly folder: string | undefined } | undefined;
}

export const usage = `Usage: npm run demo [-- OPTION...]

Starts the service in a temporary folder, with a git repository of sample
assets, and runs the jobs of two workflows that need the same file. One is
killed, and one loses its lock by force. It requires git, takes less than a
minute, changes nothing else on this machine, and removes everything at the
end. On a terminal, the dashboard stays available until you press Enter.

  --quick            skip the pauses for viewers
  --record [FOLDER]  save the demo as demo.cast, for asciinema, and its final
                     chart as demo.svg; the default FOLDER is a new temporary
                     folder, which is kept
  --keep             keep the service running until Ctrl-C, and print how to
                     use it
  -h, --help         show this help

Only terminals get colors. NO_COLOR and FORCE_COLOR are supported.
`;

export function readArguments(args: readonly string[]): Request {
  if (args.includes('--help') || args.includes('-h')) return { kind: 'help' };
  const recordAt = args.indexOf('--record');
  const next = recordAt < 0 ? undefined : args[recordAt + 1];
  const folder = next?.startsWith('-') ? undefined : next;
  const others = folder === undefined ? args : args.toSpliced(recordAt + 1, 1);
  const unknown = others.find((arg) => !['--keep', '--quick', '--record'].includes(arg));
  if (unknown !== undefined) {
    const known = 'Use --quick, --record or --keep, or --help for usage.';
    return { kind: 'mistake', sentence: `Unknown argument: ${JSON.stringify(unknown)}. ${known}` };
  }
  const keep = others.includes('--keep');
  if (keep && recordAt >= 0) {
    return { kind: 'mistake', sentence: 'A recording ends with the demo. Remove --keep or --record.' };
  }
  return { kind: 'run', keep, quick: others.includes('--quick'), record: recordAt < 0 ? undefined : { folder } };
}
