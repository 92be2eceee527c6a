/** What the command line asks for. */
export type Request =
  | { readonly kind: 'help' }
  | { readonly kind: 'mistake'; readonly sentence: string }
  | { readonly kind: 'run'; readonly keep: boolean };

export const usage = `Usage: npm run demo [-- --keep]

Starts the service in a temporary folder, with a git repository of sample assets behind it, runs the jobs of
two workflows against it, and shows what their logs would show. It needs git and some seconds, touches nothing
else on this machine, and removes everything at the end.

  --keep      leaves the service running until Ctrl-C, and prints how to use it
  -h, --help  shows this help

Colours are for terminals only; NO_COLOR and FORCE_COLOR are honoured.
`;

export function readArguments(args: readonly string[]): Request {
  if (args.includes('--help') || args.includes('-h')) return { kind: 'help' };
  const unknown = args.find((arg) => arg !== '--keep');
  if (unknown === undefined) return { kind: 'run', keep: args.includes('--keep') };
  return {
    kind: 'mistake',
    sentence: `The demo does not know ${JSON.stringify(unknown)}. There is --keep, and --help says more.`,
  };
}
