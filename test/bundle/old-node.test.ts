import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dist } from './committed.ts';

test.each(['index.js', 'post/index.js', 'renew/index.js'])(
  '%s rejects a Node that is too old before it runs anything else',
  (entry) => {
    const pretend =
      'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } }); Promise.withResolvers = undefined;';
    const options = [`--import=data:text/javascript,${encodeURIComponent(pretend)}`];
    const { status, stdout, stderr } = spawnSync(process.execPath, [...options, join(dist, entry)], {
      encoding: 'utf8',
      input: '{}',
      env: { PATH: process.env['PATH'], INPUT_OPERATION: 'lock', STATE_step: 'some-step' },
    });
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'Workspace Automation needs Node 24 or newer, and this is Node 20.20.2. Install Node 24 and start it again.\n',
    });
  },
);
