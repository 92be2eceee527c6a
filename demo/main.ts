import { stripVTControlCharacters } from 'node:util';
import { type RunOptions, readArguments, usage } from './arguments.ts';
import { type Cause, createEnding, DemoFailure } from './ending.ts';
import { startRecording } from './recording/recording.ts';
import { runDemo } from './run.ts';
import { createPaint, wantsColour } from './terminal/paint.ts';
import { createScreen } from './terminal/screen.ts';

const interrupted: Readonly<Partial<Record<NodeJS.Signals, number>>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/** npm passes on the Ctrl-C that the terminal has sent to everybody: so soon after the first, it is the same wish. */
const sameWishMs = 1_000;

/** Some terminals say that they have no columns, and with few of them wrapping makes nothing easier to read. */
const narrowest = 40;

/** Says in a sentence what there is to say of the end, and gives the exit code. */
function conclude(cause: Cause | undefined, isKept: boolean): number {
  switch (cause?.kind) {
    case undefined:
    case 'nobody-reads':
      return 0;
    case 'signal':
      process.stdout.write('\n  Stopped. Nothing runs any more, and the temporary folder is gone.\n');
      return isKept ? 0 : (interrupted[cause.name] ?? 1);
    case 'failure':
      process.stderr.write(`\nThe demo did not succeed. ${cause.sentence}\n`);
      return 1;
  }
}

const lookEveryMs = 500;

/**
 * npm has a shell in between, and a shell that is ended with SIGTERM does not pass it on: without this, the demo would
 * go on behind a command that has ended.
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
      // A recording has colours, whatever this terminal has.
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
    // Who has stopped it at its very end wants no recording either.
    ending.signal.throwIfAborted();
    for (const file of (await recording?.save(picture)) ?? []) write(`  Recorded: ${file}\n`);
  } catch (error) {
    if (!ending.signal.aborted) {
      // What the operating system refuses has a message for people; anything else is a mistake of ours, with its stack.
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
