import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { locksOf, type SharedService, sharedService } from '../service/http/shared-service.ts';
import { freePort, listenHere } from '../support/listen.ts';
import { fasterTime } from '../support/preload.ts';
import { createGitServer, type GitServer, type GitServerOptions, hookScript } from './git-server.ts';

const service = sharedService();
const onWindows = sharedService(undefined, { windowsPaths: true });
const hero = 'Content/Hero.uasset';
const map = 'Content/Maps/A.umap';
const jobRun = 'https://github.com/octo/game/actions/runs/7';

let workspace: string;
let server: GitServer;

beforeEach(async () => {
  workspace = await service.workspace();
  server = await openServer();
});

/** The hook has a token that only reads locks. Its owner is ada. */
async function openServer({ environment = {} }: Partial<GitServerOptions> = {}, from = service): Promise<GitServer> {
  const { secret } = await from.token({ name: 'hook', owner: 'ada', scopes: ['locks:read'] });
  const opened = await createGitServer({
    environment: {
      WORKSPACE_BASE_URL: `${from.baseUrl}/v1`,
      WORKSPACE_TOKEN: secret,
      WORKSPACE_ID: workspace,
      ...environment,
    },
  });
  opened.start({ [hero]: 'hero', [map]: 'map', 'README.md': 'readme' });
  return opened;
}

const tokenOf = async (owner: string, from: SharedService = service): Promise<string> =>
  (await from.token({ name: `${owner}-${crypto.randomUUID()}`, owner, scopes: ['locks:write'] })).secret;

interface LockOptions {
  /** The branch that it is taken for. */
  readonly branch?: string;
  readonly note?: string;
  readonly from?: SharedService;
}

async function lock(owner: string, path: string, { branch, note, from = service }: LockOptions = {}) {
  const headers = { referer: jobRun, ...(branch !== undefined && { 'lock-branch': branch }) };
  const { take } = locksOf(from, workspace, await tokenOf(owner, from));
  const { status, body } = await take(path, headers, note === undefined ? {} : { note });
  expect(status).toBe(201);
  return body;
}

const as = (person: string) => ({ REMOTE_USER: person });
const accepted = { code: 0, seen: expect.not.stringContaining('The push') };
/** What a person sees of a refused push has these texts, in this order. */
const refused = (...texts: readonly string[]) => ({
  code: 1,
  seen: expect.stringMatching(
    new RegExp([...texts, 'pre-receive hook declined'].map((text) => RegExp.escape(text)).join('[^]*')),
  ),
});

describe('lock check --receive', () => {
  test('accepts the push of the holder, and refuses all others with holder, run, end and note', async () => {
    const { expires_at } = await lock('ada', hero, { note: 'New armour' });
    server.change({ [hero]: 'better' });
    const end = `until ${expires_at.slice(0, 10)} ${expires_at.slice(11, 16)} UTC, locked in octo/game #7, since `;
    const theirs = await server.push(as('bob'), 'main');
    expect(theirs).toEqual(
      refused(
        'The push of bob is refused: it changes 1 file that others have locked.\n',
        `${hero} is held by ada ${end}`,
        ', with the note "New armour".\nPush without these changes, or ask the holders',
      ),
    );
    expect(theirs.seen).not.toContain('wsa_');
    expect(await server.pushOverHttp('bob', 'main')).toEqual(refused(`${hero} is held by ada ${end}`));
    expect(server.repository.head('main')).not.toBe(server.git('rev-parse', 'main'));
    const { seen } = await server.pushOverHttp('ada', 'main');
    expect(seen).toMatch(/^To http:.*\n {3}\S+ {2}main -> main\n$/);
  });

  test('takes the person from the variable of each forge, and nobody for the owner of its own token', async () => {
    await lock('ada', hero);
    server.change({ [hero]: 'better' });
    expect(await server.push({}, 'main')).toEqual(refused('this server cannot identify the pusher', 'held by ada'));
    expect(await server.push({ ...as('ada'), GL_USERNAME: 'bob' }, 'main')).toEqual(refused('The push of bob'));
    expect(await server.push({ ...as('ada'), GITEA_PUSHER_NAME: 'bob' }, 'main')).toEqual(refused('The push of bob'));
    expect(await server.push({ ...as('ada'), GITHUB_USER_LOGIN: 'bob' }, 'main')).toEqual(refused('The push of bob'));
    // Gitea and Forgejo name the owner of the repository for a deploy key.
    const deployed = (id: string) => server.push({ GITEA_PUSHER_NAME: 'ada', GITEA_DEPLOY_KEY_ID: id }, 'main');
    expect(await deployed('7')).toEqual(refused('this server cannot identify the pusher', 'held by ada'));
    expect(await deployed('0')).toEqual(accepted);
    server.change({ [hero]: 'better still' });
    expect(await server.push({ ...as('ada'), GL_USERNAME: '' }, 'main')).toEqual(accepted);
  });

  test('checks what a new branch adds to the repository, including its first commit and changes in merges', async () => {
    await lock('ada', hero);
    server.git('branch', 'same');
    server.git('checkout', '--quiet', '-b', 'feature');
    server.change({ 'src/a.c': 'a' });
    expect(await server.push(as('bob'), 'same', 'feature')).toEqual(accepted);
    server.git('checkout', '--quiet', '-b', 'changed');
    server.change({ [hero]: 'better' });
    server.change({ 'src/a.c': 'b' });
    expect(await server.push(as('bob'), 'changed')).toEqual(refused(hero));
    server.git('checkout', '--quiet', '--orphan', 'first');
    server.git('commit', '--quiet', '--message=first');
    expect(await server.push(as('bob'), 'first')).toEqual(refused(hero));
    // A merge takes the files of its parents, and one of them is changed on the way.
    server.git('checkout', '--quiet', '-b', 'merged', 'main');
    server.change({ 'src/b.c': 'b' });
    server.git('merge', '--quiet', '--message=merge', 'feature');
    expect(await server.push(as('bob'), 'merged')).toEqual(accepted);
    server.git('checkout', '--quiet', '-b', 'evil', 'main');
    server.change({ 'src/c.c': 'c' });
    server.git('merge', '--quiet', '--no-commit', '--no-ff', 'feature');
    writeFileSync(join(server.clone, hero), 'hidden in a merge');
    server.git('commit', '--quiet', '--all', '--message=merge');
    expect(server.git('rev-parse', 'evil^2')).toBe(server.git('rev-parse', 'feature'));
    expect(await server.push(as('bob'), 'evil')).toEqual(refused(hero));
    // A branch at an older commit adds nothing.
    server.git('checkout', '--quiet', 'main');
    server.change({ [hero]: 'better' });
    expect(await server.push(as('ada'), 'main')).toEqual(accepted);
    expect(await server.push(as('bob'), 'main~1:refs/heads/older')).toEqual(accepted);
  });

  test('checks a new branch even if the repository has its commits from a tag', async () => {
    await lock('ada', hero);
    server.change({ [hero]: 'better' });
    expect(await server.push(as('bob'), 'main:refs/tags/v1')).toEqual(accepted);
    expect(await server.push(as('bob'), 'main:feature')).toEqual(refused(hero));
  });

  test.each([
    ['log.showRoot', 'false'],
    ['log.showSignature', 'true'],
  ])('checks the first commit of a new branch whatever %s says', async (setting, value) => {
    server.repository.git('config', setting, value);
    await lock('ada', hero);
    server.git('checkout', '--quiet', '--orphan', 'first');
    server.change({ [hero]: 'better' });
    const [headers, text] = server.git('cat-file', 'commit', 'first').split('\n\n');
    const signed = `${headers}\ngpgsig -----BEGIN PGP SIGNATURE-----\n -----END PGP SIGNATURE-----\n\n${text}\n`;
    writeFileSync(join(server.folder, 'signed'), signed);
    const commit = server.git('hash-object', '-t', 'commit', '-w', join(server.folder, 'signed'));
    expect(await server.push(as('bob'), `${commit}:refs/heads/first`)).toEqual(refused(hero));
  });

  test('checks what a forced push takes back', async () => {
    server.git('branch', 'before');
    server.change({ [hero]: 'better' });
    expect(await server.push(as('ada'), 'main')).toEqual(accepted);
    await lock('ada', hero);
    expect(await server.push(as('bob'), '--force', 'before:main')).toEqual(refused(hero));
    expect(await server.push(as('ada'), '--force', 'before:main')).toEqual(accepted);
  });

  test('refuses to take back what only the pushed branch has, even if the branch of the lock has the old version', async () => {
    expect(await server.push(as('ada'), 'main:release/1')).toEqual(accepted);
    await lock('ada', hero, { branch: 'release/1' });
    server.change({ [hero]: 'better' });
    expect(await server.push(as('ada'), 'main')).toEqual(accepted);
    expect(await server.push(as('bob'), '--force', 'main~1:main')).toEqual(refused(hero));
    server.change({ [hero]: 'hero' });
    expect(await server.push(as('bob'), 'main')).toEqual(refused(hero));
  });

  test('refuses a new branch whose merge takes the old version, and accepts one that left the branch earlier', async () => {
    await lock('ada', hero);
    server.git('checkout', '--quiet', '-b', 'earlier');
    server.change({ 'src/a.c': 'a' });
    server.git('checkout', '--quiet', 'main');
    server.change({ [hero]: 'better' });
    server.git('checkout', '--quiet', 'earlier');
    server.git('merge', '--quiet', '--message=merge', 'main');
    server.git('checkout', '--quiet', 'main');
    server.change({ [hero]: 'best' });
    expect(await server.push(as('ada'), 'main')).toEqual(accepted);
    expect(await server.push(as('bob'), 'earlier')).toEqual(accepted);
    const reverted = ['commit-tree', 'main~2^{tree}', '-p', 'main', '-p', 'main~2', '-m', 'merge'];
    expect(await server.push(as('bob'), `${server.git(...reverted)}:refs/heads/reverted`)).toEqual(refused(hero));
  });

  test.each(['refs/heads/alias', 'refs/tags/alias'])(
    'checks the branch that the symbolic ref %s leads to',
    async (ref) => {
      workspace = await service.workspace(undefined, { push_locks: 'branch' });
      const each = await openServer();
      await lock('ada', hero, { branch: 'main' });
      await lock('ada', map, { branch: 'next' });
      each.repository.git('symbolic-ref', ref, 'refs/heads/main');
      each.repository.git('symbolic-ref', `${ref}-of-next`, 'refs/heads/next');
      each.change({ [hero]: 'better' });
      expect(await each.push(as('bob'), '--force', `main:${ref}`)).toEqual(refused(hero));
      each.git('reset', '--quiet', '--hard', 'HEAD~1');
      each.change({ [map]: 'better' });
      // Git creates the branch.
      expect(await each.push(as('bob'), `main:${ref}-of-next`)).toEqual(refused(map));
    },
  );

  test('accepts a merge that takes over what the branch of the lock has, and refuses one into that branch', async () => {
    server.git('checkout', '--quiet', '-b', 'feature');
    server.change({ [map]: 'of the feature', 'src/a.c': 'a' });
    expect(await server.push(as('bob'), 'feature')).toEqual(accepted);
    await lock('ada', hero);
    server.git('checkout', '--quiet', 'main');
    server.change({ [hero]: 'better', 'old.uasset': 'old' });
    server.change({ 'old.uasset': null });
    expect(await server.push(as('ada'), 'main')).toEqual(accepted);
    server.git('checkout', '--quiet', 'feature');
    server.git('merge', '--quiet', '--message=merge', 'main');
    server.git('branch', 'good');
    server.change({ [hero]: 'better still' });
    expect(await server.push(as('bob'), 'feature')).toEqual(refused(hero));
    server.git('reset', '--quiet', '--hard', 'good');
    expect(await server.push(as('bob'), 'feature')).toEqual(accepted);
    await lock('ada', map);
    server.git('checkout', '--quiet', 'main');
    server.git('merge', '--quiet', '--message=merge', 'feature');
    expect(await server.push(as('bob'), 'main')).toEqual(refused(`1 file`, `${map} is held by ada`));
  });

  test('accepts what the default branch has, also while a tag has its name', async () => {
    server.git('tag', 'main');
    server.git('checkout', '--quiet', '-b', 'feature');
    expect(await server.push(as('bob'), 'refs/tags/main', 'feature')).toEqual(accepted);
    server.change({ [hero]: 'better' });
    expect(await server.push(as('ada'), 'HEAD:refs/heads/main')).toEqual(accepted);
    await lock('ada', hero);
    expect(await server.push(as('bob'), 'HEAD:refs/heads/feature')).toEqual(accepted);
  });

  test('checks deleted files, and both names of a renamed one', async () => {
    await lock('ada', hero);
    await lock('ada', 'Content/New.umap');
    server.git('checkout', '--quiet', '-b', 'deleted');
    server.change({ [hero]: null });
    expect(await server.push(as('bob'), 'deleted:main')).toEqual(refused(`${hero} is held`));
    server.git('checkout', '--quiet', '-b', 'from', 'main');
    server.git('mv', hero, 'Content/Elsewhere.uasset');
    server.git('commit', '--quiet', '--message=move');
    expect(await server.push(as('bob'), 'from:main')).toEqual(refused(`${hero} is held`));
    expect(await server.push(as('bob'), 'from:moved')).toEqual(refused(`${hero} is held`));
    server.git('checkout', '--quiet', '-b', 'to', 'main');
    server.git('mv', map, 'Content/New.umap');
    server.git('commit', '--quiet', '--message=move');
    expect(await server.push(as('bob'), 'to:main')).toEqual(refused('Content/New.umap is held'));
    expect(await server.push(as('ada'), 'to:main')).toEqual(accepted);
  });

  test('leaves tags, deleted branches and pushes without a change alone, with no request', async () => {
    const away = await openServer({ environment: { WORKSPACE_BASE_URL: `http://127.0.0.1:${await freePort()}/v1` } });
    away.git('branch', 'same');
    expect(await away.push(as('bob'), 'same')).toEqual(accepted);
    expect(await away.push(as('bob'), ':same')).toEqual(accepted);
    away.change({ [hero]: 'better' });
    away.git('tag', 'v1');
    expect(await away.push(as('bob'), 'v1', 'HEAD:refs/notes/x')).toEqual(accepted);
  });

  test('does not let a replaced object hide a change', async () => {
    await lock('ada', hero);
    server.change({ [hero]: 'better' });
    server.git('checkout', '--quiet', '-b', 'harmless', 'main~1');
    server.change({ 'README.md': 'harmless' });
    const [from, to] = [server.git('rev-parse', 'main'), server.git('rev-parse', 'harmless')];
    expect(await server.push(as('bob'), `${to}:refs/replace/${from}`)).toEqual(accepted);
    expect(await server.push(as('bob'), 'main')).toEqual(refused(hero));
  });

  test('counts only locks of the pushed branch, and those without a branch, if the workspace says so', async () => {
    for (const pushLocks of ['all', 'branch']) {
      workspace = await service.workspace(undefined, { push_locks: pushLocks });
      const each = await openServer();
      each.git('branch', 'release/1');
      expect(await each.push(as('ada'), 'release/1')).toEqual(accepted);
      await lock('ada', hero, { branch: 'release/1' });
      await lock('ada', map);
      each.change({ [hero]: 'better' });
      const onMain = await each.push(as('bob'), 'main');
      expect(onMain).toEqual(pushLocks === 'all' ? refused(hero) : accepted);
      expect(await each.push(as('bob'), 'main:release/1')).toEqual(refused(hero));
      each.change({ [map]: 'better' });
      expect(await each.push(as('bob'), 'main')).toEqual(refused(map));
    }
  });

  test('accepts what is already on the branch that the lock was taken for', async () => {
    await lock('ada', hero, { branch: 'release/1' });
    server.change({ [hero]: 'fixed' });
    // The branch does not exist yet.
    expect(await server.push(as('bob'), 'main')).toEqual(refused(hero));
    expect(await server.push(as('ada'), 'main:release/1')).toEqual(accepted);
    expect(await server.push(as('bob'), 'main')).toEqual(accepted);
  });

  test('counts a lock only on the branches of a push that change its file', async () => {
    await server.push(as('ada'), 'main:release/1');
    await lock('ada', hero, { branch: 'release/1' });
    server.git('checkout', '--quiet', '-b', 'feature');
    expect(await server.push(as('bob'), 'feature')).toEqual(accepted);
    // This branch still has the old version of the locked file.
    server.change({ 'src/a.c': 'a' });
    server.git('checkout', '--quiet', 'main');
    server.change({ [hero]: 'fixed' });
    expect(await server.push(as('ada'), 'main:release/1')).toEqual(accepted);
    expect(await server.push(as('bob'), 'main', 'feature')).toEqual(accepted);
  });

  test('compares names as locks do, and leaves out those that cannot be locked', async () => {
    const composed = 'Content/H\u00e9ro.uasset';
    await lock('ada', composed);
    server.change({ [composed.normalize('NFD')]: 'better' });
    expect(await server.push(as('bob'), 'main')).toEqual(refused(`is held by ada`));
    server.git('reset', '--quiet', '--hard', 'HEAD~1');
    server.change({ 'back\\slash': 'a', 'line\nbreak': 'b', 'esc\u001b[31m': 'c' });
    expect(await server.push(as('bob'), 'main')).toEqual(accepted);
  });

  test('ignores case where the service does', async () => {
    workspace = await onWindows.workspace();
    const each = await openServer({}, onWindows);
    await lock('ada', hero.toLowerCase(), { from: onWindows });
    each.change({ [hero]: 'better', 'a:b?': 'not a name on Windows' });
    expect(await each.push(as('bob'), 'main:feature')).toEqual(refused(hero.toLowerCase()));
    expect(await each.push(as('ada'), 'main')).toEqual(accepted);
    expect(await each.push(as('bob'), 'main:feature')).toEqual(accepted);
  });

  test('begins its lines so that GitLab shows them on its pages', async () => {
    await lock('ada', hero);
    server.change({ [hero]: 'better' });
    for (const person of [{ GL_USERNAME: 'bob' }, { GL_ID: 'key-7' }]) {
      const { seen } = await server.push(person, 'main');
      expect(seen.match(/^GL-HOOK-ERR: (The push|Content\/Hero.uasset is held|Push without)/gm)).toHaveLength(3);
    }
  });

  /** The variable of a service that answers a check with these locks, and further ones not at all. */
  async function serviceWith(locks: readonly object[]): Promise<NodeJS.ProcessEnv> {
    let requests = 0;
    const fake = createServer((request, response) => {
      requests += 1;
      const isFirst = requests === 1;
      request.resume().on('end', () => {
        if (!isFirst) response.destroy();
        else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ locks }));
      });
    });
    const { port, close } = await listenHere(fake);
    onTestFinished(close);
    return { WORKSPACE_BASE_URL: `http://127.0.0.1:${port}/v1` };
  }

  test('asks once for all branches of a push', async () => {
    const each = await openServer({ environment: await serviceWith([]) });
    each.change({ [hero]: 'better' });
    expect(await each.push(as('bob'), 'main', 'main:feature')).toEqual(accepted);
  });

  test('escapes what others have written', async () => {
    const path = 'Content/a\u200db.umap';
    const lock = { id: '1', path, owner: 'a\u001b[31mda', note: '\u202etxt\u009b', origin: 'https://x/\u2028' };
    const each = await openServer({ environment: await serviceWith([lock]) });
    each.change({ [path]: 'new' });
    const { code, seen } = await each.push(as('bob'), 'main');
    expect({ code, unsafe: seen.match(/[\p{Cc}\p{Cf}\p{Zl}]/gu)?.filter((one) => one !== '\n') }).toEqual({
      code: 1,
      unsafe: [],
    });
    expect(seen).toContain('Content/a\\u{200d}b.umap is held by');
  });

  test('refuses a push while the service cannot be asked', async () => {
    const waitsMs: number[] = [];
    const silent = await listenHere(
      createServer(({ socket }) => {
        const askedAt = performance.now();
        socket.once('close', () => waitsMs.push(performance.now() - askedAt));
      }),
    );
    onTestFinished(silent.close);
    const closed = await freePort();
    const cases: readonly (readonly [NodeJS.ProcessEnv, string])[] = [
      [{ WORKSPACE_BASE_URL: `http://127.0.0.1:${closed}/v1` }, `${closed}/v1. The connection to the server failed`],
      [{ WORKSPACE_BASE_URL: `http://127.0.0.1:${silent.port}/v1` }, 'The service did not answer in time.'],
      [{ WORKSPACE_TOKEN: 'wsa_unknown' }, 'The token may have expired or been revoked'],
      [{ WORKSPACE_ID: 'removed' }, 'There is no workspace'],
    ];
    for (const [environment, reason] of cases) {
      const each = await openServer({ environment });
      each.change({ [hero]: 'better' });
      const result = await each.push(as('bob'), 'main');
      expect(result).toEqual(
        refused('The locks on its files could not be checked at http://127.0.0.1:', reason, 'Push again later.'),
      );
      expect(result.seen).not.toContain('wsa_');
    }
    // GitHub Enterprise Server ends the hook after 5 seconds.
    expect(waitsMs).toEqual([expect.toSatisfy((ms: number) => ms < 5_000)]);
  });

  test('accepts no push without a token', async () => {
    const without = await openServer({ environment: { WORKSPACE_TOKEN: '' } });
    without.change({ 'README.md': 'new' });
    const { code, seen } = await without.push(as('ada'), 'main');
    expect({ code, seen }).toEqual({ code: 1, seen: expect.stringContaining('WORKSPACE_TOKEN is not set') });
  });

  test('refuses input that is not that of a pre-receive hook', async () => {
    server.setHook(hookScript.replace('exec', 'echo main |'));
    server.change({ 'README.md': 'new' });
    expect(await server.push(as('ada'), 'main')).toMatchObject({
      code: 1,
      seen: expect.stringContaining('Run --receive as a pre-receive hook.'),
    });
  });

  test('checks 50,000 files', async () => {
    // The requests of a push may take four seconds in total. On a busy machine, these take longer.
    server = await openServer({ environment: { NODE_OPTIONS: fasterTime(1 / 10) } });
    const names = Array.from({ length: 50_000 }, (_, index) => `Content/${index % 300}/${index}.umap`);
    await lock('ada', 'Content/299/49799.umap');
    const lines = names.map((name) => `M 100644 inline ${name}\ndata 1\nx\n`);
    const head = `commit refs/heads/many\ncommitter T <t@example.com> 1735689600 +0000\ndata 0\nfrom refs/heads/main\n`;
    execFileSync('git', ['fast-import', '--quiet'], { cwd: server.clone, input: head + lines.join('') });
    expect(await server.push(as('bob'), 'many')).toEqual(refused('1 file', 'Content/299/49799.umap is held by ada'));
    expect(await server.push(as('ada'), 'many')).toEqual(accepted);
    expect(await server.push(as('bob'), '--force', 'many:main')).toEqual(refused('1 file', 'Content/299/49799.umap'));
  });
});
