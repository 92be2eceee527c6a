import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { ourActionFile } from '../../support/runner/action-file.ts';

const library = join(dirname(ourActionFile), '.ci/release/versions.bash');

/** Runs a script for each line of words in one process, and returns the lines for which it succeeded. */
function passing(script: string, lines: readonly string[]): readonly string[] {
  const loop = `source "$1"; while read -r one other; do if ${script}; then echo "$one\${other:+ $other}"; fi; done`;
  const input = `${lines.join('\n')}\n`;
  const shown = execFileSync('bash', ['-euo', 'pipefail', '-c', loop, 'bash', library], { input, encoding: 'utf8' });
  return shown.split('\n').filter((line) => line !== '');
}

test('a release tag is a SemVer version with a leading v', () => {
  const good = ['v0.1.0', 'v1.2.3', 'v10.20.30', 'v1.0.0-rc.1', 'v1.0.0-0.3.7', 'v1.0.0-x-y-z.--', 'v1.0.0-01a'];
  const bad = ['1.2.3', 'v1', 'v1.2', 'v1.2.3.4', 'v01.2.3', 'v1.02.3', 'v1.2.3-', 'v1.2.3-01', 'v1.2.3-a..b'];
  const worse = ['v1.2.3+build', 'v1.2.3-$(id)', 'v1.2.3-a/b', 'v1.2.x', 'V1.2.3', 'vv1.2.3', '-v1.2.3'];
  expect(passing('is_version_tag "$one"', [...good, ...bad, ...worse])).toEqual(good);
});

test('a version is newer if its first different number is higher', () => {
  const order = ['v0.9.9', 'v1.0.0', 'v1.0.9', 'v1.0.10', 'v1.9.0', 'v1.10.0', 'v2.0.0', 'v10.0.0'];
  const pairs = order.flatMap((one) => order.map((other) => `${one} ${other}`));
  const newer = order.flatMap((one, index) => order.slice(0, index).map((other) => `${one} ${other}`));
  expect(passing('is_newer "$one" "$other"', pairs)).toEqual(newer);
});
