#!/usr/bin/env node
// Plain JavaScript of long ago: this file must still load on a Node that is too old, to say so.
import process from 'node:process';

const needed = 24;
const major = Number(process.versions.node.split('.')[0]);
if (major < needed) {
  process.stderr.write(
    `workspace-service needs Node ${needed} or newer, and this is Node ${process.versions.node}. Install Node ${needed} and start it again.\n`,
  );
  process.exitCode = 1;
} else {
  // Read when the first thread is needed: outbound/limit-lookups.ts uses some of them.
  if (process.argv[2] === 'serve') {
    process.env.UV_THREADPOOL_SIZE = String(Math.max(64, Number(process.env.UV_THREADPOOL_SIZE) || 0));
  }
  // Not with await, which is younger at the top of a file than the import itself.
  import('../build/service/cli/main.js')
    .then(({ main }) => main(process.argv.slice(2), process.env))
    .then((exitCode) => {
      process.exitCode = exitCode;
    });
}
