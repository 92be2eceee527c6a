import { stripVTControlCharacters } from 'node:util';
import { type RunOptions, readArguments, usage } from './arguments.ts';
import { type Cause, createEnding, DemoFailure } from './ending.ts';
import { startRecording } from './recording/recording.ts';
import { runDemo } from './run.ts';
import { createPaint, wantsColour } from './terminal/paint.ts';
import { createScreen } from './terminal/screen.ts';

const interrupted: Readonly<Partial<Record<NodeJS.Signals, number>>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/** npm forwards a Ctrl-C that the terminal has sent to all processes. A second one within this time is a duplicate. */
const sameWishMs = 1_000;

/** Minimum width for wrapping. Some terminals report 0 columns, and wrapping does not help on narrow ones. */
const narrowest = 40;

/** Prints how the demo ended, and returns the exit code. */
function conclude(cause: Cause | undefined, isKept: boolean): number {
  switch (cause?.kind) {
    case undefined:
    case 'nobody-reads':
      return 0;
    case 'signal':
      process.stdout.write('\n  Stopped. All processes have ended, and the temporary folder was removed.\n');
      return isKept ? 0 : (interrupted[cause.name] ?? 1);
    case 'failure':
      process.stderr.write(`\nThe demo failed. ${cause.sentence}\n`);
      return 1;
  }
}

const lookEveryMs = 500;

/**
 * npm runs the demo in a shell, and a shell that is ended with SIGTERM does not forward it: without this, the demo
 * would continue after its command has ended.
 */
function whenOrphaned(act: () => void): void {
  if (process.env['npm_lifecycle_event'] === undefined) return;
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) act();
  }, lookEveryMs).unref();
}

async function demonstrate({ keep, quick, record }: RunOptions): Promise<number> {
  const { stdout } = process;
  const ending = createEnding();
  let wishedAt: number | undefined;
  for (const name of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (wishedAt !== undefined && performance.now() - wishedAt > sameWishMs) process.exit(interrupted[name]);
      wishedAt ??= performance.now();
      ending.end({ kind: 'signal', name });
    });
  }
  whenOrphaned(() => ending.end({ kind: 'signal', name: 'SIGTERM' }));
  stdout.on('error', () => ending.end({ kind: 'nobody-reads' }));
  const coloured = wantsColour(stdout, process.env);
  let isKept = false;
  try {
    const recording = record && (await startRecording(record.folder));
    const write = (text: string): void => {
      if (ending.signal.aborted) return;
      recording?.add(text);
      stdout.write(coloured ? text : stripVTControlCharacters(text));
    };
    const widthOfTerminal = stdout.isTTY && stdout.columns >= narrowest ? stdout.columns : Number.POSITIVE_INFINITY;
    const screen = createScreen({
      write,
      // A recording always has colors, even if this terminal has none.
      paint: createPaint(coloured || recording !== undefined),
      width: recording?.width ?? widthOfTerminal,
    });
    const picture = await runDemo({
      keep,
      quick,
      waitsForEnter: process.stdin.isTTY && stdout.isTTY && recording === undefined,
      screen,
      write,
      ending,
      onKept: () => {
        isKept = true;
      },
    });
    // If the user stops the demo at its very end, no recording is saved.
    ending.signal.throwIfAborted();
    for (const file of (await recording?.save(picture)) ?? []) write(`  Recorded: ${file}\n`);
  } catch (error) {
    if (!ending.signal.aborted) {
      // Errors of the operating system have readable messages. Anything else is a bug, and needs its stack.
      if (!(error instanceof DemoFailure || (error instanceof Error && 'syscall' in error))) throw error;
      ending.end({ kind: 'failure', sentence: error.message });
    }
  }
  return conclude(ending.cause(), isKept);
}

const request = readArguments(process.argv.slice(2));
switch (request.kind) {
  case 'help':
    process.stdout.write(usage);
    break;
  case 'mistake':
    process.stderr.write(`${request.sentence}\n`);
    process.exitCode = 2;
    break;
  case 'run':
    process.exitCode = await demonstrate(request);
}
