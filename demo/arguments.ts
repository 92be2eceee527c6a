/** What the command line asks for. */
export type Request =
  | { readonly kind: 'help' }
  | { readonly kind: 'mistake'; readonly sentence: string }
  | ({ readonly kind: 'run' } & RunOptions);

export interface RunOptions {
  readonly keep: boolean;
  readonly quick: boolean;
  /** Undefined where nothing is to be recorded; without a folder, a new one for temporary files is made. */
  readonly record: { readonly folder: string | undefined } | undefined;
}

export const usage = `Usage: npm run demo [-- OPTION...]

Starts the service in a temporary folder, with a git repository of sample assets
behind it, and runs the jobs of two workflows that want the same file. One is
killed, and one loses its lock by force. It needs git and less than a minute,
touches nothing else on this machine, and removes everything at the end. On a
terminal, the dashboard stays until you press Enter.

  --quick            leaves out the pauses for those who watch
  --record [FOLDER]  writes the demo as demo.cast, for asciinema, and its last
                     picture as demo.svg; without FOLDER, into a new folder for
                     temporary files, which stays
  --keep             leaves the service running until Ctrl-C, and prints how to
                     use it
  -h, --help         shows this help

Colours are for terminals only; NO_COLOR and FORCE_COLOR are honoured.
`;

export function readArguments(args: readonly string[]): Request {
  if (args.includes('--help') || args.includes('-h')) return { kind: 'help' };
  const recordAt = args.indexOf('--record');
  const next = recordAt < 0 ? undefined : args[recordAt + 1];
  const folder = next?.startsWith('-') ? undefined : next;
  const others = folder === undefined ? args : args.toSpliced(recordAt + 1, 1);
  const unknown = others.find((arg) => !['--keep', '--quick', '--record'].includes(arg));
  if (unknown !== undefined) {
    const known = 'There are --quick, --record and --keep, and --help says more.';
    return { kind: 'mistake', sentence: `The demo does not know ${JSON.stringify(unknown)}. ${known}` };
  }
  const keep = others.includes('--keep');
  if (keep && recordAt >= 0) {
    return { kind: 'mistake', sentence: 'A recording ends with the demo: leave out --keep or --record.' };
  }
  return { kind: 'run', keep, quick: others.includes('--quick'), record: recordAt < 0 ? undefined : { folder } };
}
