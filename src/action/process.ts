import { writeSync } from 'node:fs';

/** Checked at the start: an older Node would fail in the middle of a step, with an obscure error. */
const minVersion = 24;

if (Number.parseInt(process.versions.node, 10) < minVersion) {
  writeSync(
    2,
    `Workspace Automation needs Node ${minVersion} or newer, and this is Node ${process.versions.node}. Install Node ${minVersion} and start it again.\n`,
  );
  process.exit(1);
}

/** Node's exit code for an `await` at the top level that would never end. */
const unsettled = 13;

/**
 * Runs the work of a process, and ends the process. CommonJS, which starts faster than ES modules, has no `await` at the
 * top level: with one, Node would not take work that waits for nothing for a success either.
 */
export function runToEnd(work: () => Promise<void>): void {
  process.once('beforeExit', () => {
    writeSync(
      2,
      'Internal error: this step waits for nothing, and did not end. This is a bug in the action: report it.\n',
    );
    process.exit(unsettled);
  });
  // Pending requests must not delay the exit, and taking Node down piece by piece would take longer.
  void work().then(() => process.exit());
}
