import { writeSync } from 'node:fs';

/** Checked at the start, because an older Node would fail in the middle of a step, with an obscure error. */
const minVersion = 24;

if (Number.parseInt(process.versions.node, 10) < minVersion) {
  writeSync(
    2,
    `Workspace Automation needs Node ${minVersion} or newer, and this is Node ${process.versions.node}. Install Node ${minVersion} and start it again.\n`,
  );
  process.exit(1);
}

/** Node's exit code for a top-level `await` that can never resolve. */
const unsettled = 13;

/**
 * Runs the work of a process, then ends the process. CommonJS starts faster than ES modules, but has no top-level
 * `await`. With one, Node would report work that can never finish; here, it would count as a success.
 */
export function runToEnd(work: () => Promise<void>): void {
  process.once('beforeExit', () => {
    writeSync(
      2,
      'Internal error: nothing is pending, but this step has not finished. This is a bug in the action: report it.\n',
    );
    process.exit(unsettled);
  });
  // Pending requests must not delay the exit, and an orderly shutdown of Node would take longer.
  void work().then(() => process.exit());
}
