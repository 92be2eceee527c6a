import { writeSync } from 'node:fs';

/** Imported before anything else: an older Node would fail in the middle of a step, with an obscure error. */
const minVersion = 24;

if (Number.parseInt(process.versions.node, 10) < minVersion) {
  writeSync(
    2,
    `Workspace Automation needs Node ${minVersion} or newer, and this is Node ${process.versions.node}. Install Node ${minVersion} and start it again.\n`,
  );
  process.exit(1);
}
