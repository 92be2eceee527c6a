import { execFileSync } from 'node:child_process';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type ReleaseScene, releaseScene } from './scene.ts';

const archive = (version: string): string => `workspace-automation-${version}.tar.gz`;
const oneFile = 'workspace-service.mjs';
const executable = 'workspace-service-linux-x64';

/** Publishes a valid version. */
async function release(scene: ReleaseScene, version: string, branch?: string, from?: string): Promise<void> {
  scene.prepare({ version }, branch, from);
  scene.tag(`v${version}`);
  const { result, log } = await scene.publish(`v${version}`);
  expect(result, log).toBe('success');
}

test('compares, attests and publishes a first release', async () => {
  const scene = await releaseScene();
  scene.prepare({ version: '1.0.0' });
  scene.tag('v1.0.0');
  const compared = await scene.compare('v1.0.0');
  expect(compared.result, compared.log).toBe('success');
  const published = await scene.publish('v1.0.0');
  expect(published.result, published.log).toBe('success');

  const [[digest = '', how] = []] = Object.entries(scene.images().built);
  const image = `ghcr.io/octo-games/dragon@${digest}`;
  expect(how).toContain('--provenance=mode=max --sbom=true');
  expect(how).toContain(`VERSION=1.0.0 --build-arg REVISION=${scene.git('rev-parse', 'HEAD')}`);
  expect(scene.images().tags).toEqual({ 'ghcr.io_octo-games_dragon:1.0.0': digest });
  expect(scene.gh.releases()).toEqual({
    'v1.0.0': {
      ...{ draft: false, immutable: true, prerelease: false },
      notes: `- What 1.0.0 brings.\n\nThe image of the service: \`${image}\``,
      assets: [archive('1.0.0'), executable, oneFile],
    },
  });
  expect(scene.gh.latest()).toBe('v1.0.0');
  expect(scene.attested().toSorted()).toEqual([
    'dist/index.js',
    'dist/post/index.js',
    image,
    `release-assets/${archive('1.0.0')}`,
    `release-assets/${executable}`,
    `release-assets/${oneFile}`,
  ]);
  expect(String(scene.gh.asset('v1.0.0', oneFile))).toBe(`The command in ${digest}`);
  expect(String(scene.gh.asset('v1.0.0', executable))).toBe(`The executable of ${digest}`);
  const input = gunzipSync(scene.gh.asset('v1.0.0', archive('1.0.0')));
  const files = execFileSync('tar', ['-tf', '-'], { input, encoding: 'utf8' }).split('\n');
  expect(files).toContain('workspace-automation-1.0.0/dist/index.js');
  expect(files.filter((name) => name.includes('.ci'))).toEqual([]);
});

test('the latest release is the highest version, and never a prerelease', async () => {
  const scene = await releaseScene();
  await release(scene, '1.9.0');
  await release(scene, '1.10.0-rc.1');
  expect(scene.gh.releases()['v1.10.0-rc.1']).toMatchObject({ draft: false, prerelease: true, immutable: true });
  expect(scene.gh.latest()).toBe('v1.9.0');

  scene.prepare({ version: '1.10.0' });
  scene.tag('v1.10.0', { annotated: true });
  expect((await scene.publish('v1.10.0')).result).toBe('success');
  expect(scene.gh.latest()).toBe('v1.10.0');

  await release(scene, '1.9.1', 'release/1.9', 'v1.9.0');
  expect(scene.gh.releases()['v1.9.1']).toMatchObject({ draft: false, immutable: true });
  expect(scene.gh.latest()).toBe('v1.10.0');
});

test('with RELEASE_BY_HAND, a person publishes the complete draft, and the repeated run checks it', async () => {
  const scene = await releaseScene();
  scene.prepare({ version: '1.0.0' });
  scene.tag('v1.0.0');
  const byHand = { RELEASE_BY_HAND: 'true' };
  const first = await scene.publish('v1.0.0', byHand);
  expect(first.result, first.log).toBe('success');
  expect(first.annotations).toMatchObject([{ level: 'notice', message: expect.stringContaining('v1.0.0') }]);
  expect(scene.gh.releases()['v1.0.0']).toMatchObject({
    draft: true,
    immutable: false,
    assets: [archive('1.0.0'), executable, oneFile],
  });

  scene.gh.publishByHand('v1.0.0');
  expect((await scene.publish('v1.0.0', byHand)).result).toBe('success');
  scene.gh.replaceAsset('v1.0.0', archive('1.0.0'), gzipSync('something else'));
  const changed = await scene.publish('v1.0.0', byHand);
  expect(changed.result).toBe('failure');
  expect(changed.log).toContain('was already published with a different');
});

test('a partial release is resumed, wherever it stopped', async () => {
  const scene = await releaseScene();
  await release(scene, '0.1.0');
  expect(scene.gh.latest()).toBe('v0.1.0');
  const places = ['release upload', 'release edit', '--json isImmutable'];
  for (const [minor, place] of places.entries()) {
    const version = `1.${minor}.0`;
    scene.prepare({ version });
    scene.tag(`v${version}`);
    scene.gh.failOnce(place);
    expect((await scene.publish(`v${version}`)).result, place).toBe('failure');
    if (place === 'release edit') {
      const draft = { draft: true, immutable: false, assets: [archive(version), executable, oneFile] };
      expect(scene.gh.releases()[`v${version}`], 'all files are there before it is published').toMatchObject(draft);
    }
    const { result, log } = await scene.publish(`v${version}`);
    expect(result, log).toBe('success');
    expect(scene.gh.releases()[`v${version}`]).toMatchObject({
      draft: false,
      immutable: true,
      assets: [archive(version), executable, oneFile],
    });
  }

  const whole = scene.gh.releases();
  const image = scene.images();
  const again = await scene.publish('v1.2.0');
  expect(again.result).toBe('success');
  expect(again.log).toContain('was already published');
  expect(scene.gh.releases()).toEqual(whole);
  expect(scene.images(), 'an image that has a version stays').toEqual(image);
});

describe('the release workflow', () => {
  test('publishes nothing for a tag that does not match package.json, CHANGELOG.md or the branches', async () => {
    const scene = await releaseScene();
    scene.prepare({ version: '1.0.0', packageVersion: '1.0.1', notes: '' });
    scene.tag('v1.0.0');
    const first = await scene.compare('v1.0.0');
    expect(first.result).toBe('failure');
    expect(first.log).toMatch(/The version in package\.json is 1\.0\.1, but the tag is v1\.0\.0/);
    expect(first.log).toMatch(/CHANGELOG\.md has no section "## \[1\.0\.0\]/);
    expect(first.log).not.toMatch(/neither on main/);
    expect(first.step('Rebuild the bundle and compare').conclusion).toBe('skipped');

    scene.prepare({ version: '1.1.0', notes: null }, 'topic', 'main');
    scene.tag('v1.1.0');
    const second = await scene.compare('v1.1.0');
    expect(second.result).toBe('failure');
    expect(second.log).not.toMatch(/package\.json/);
    expect(second.log).toMatch(/CHANGELOG\.md has no section "## \[1\.1\.0\]/);
    expect(second.log).toMatch(/neither on main nor on release\/1\.1/);
  });

  test('publishes nothing if the tag is moved after the run has started', async () => {
    const scene = await releaseScene();
    scene.prepare({ version: '1.0.0' });
    scene.tag('v1.0.0', { annotated: true });
    scene.meanwhile(() => {
      scene.prepare({ version: '1.0.0', notes: '- Something else.' });
      scene.git('push', '--quiet', '--force', 'origin', 'HEAD:refs/tags/v1.0.0');
    });
    const { result, log } = await scene.publish('v1.0.0');
    expect(result).toBe('failure');
    expect(log).toMatch(/was moved or deleted after this run had started/);
    expect(scene.gh.releases()).toEqual({});
    expect(scene.images().tags, 'a later run would take it for its own').toEqual({});
  });
});
