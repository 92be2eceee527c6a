import { describe, expect, test } from 'vitest';
import type { Answer, SeenRequest } from '../support/other-servers/other-server.ts';
import { json, nothing, page, reset } from '../support/other-servers/responses.ts';
import { openJob } from '../support/runner/job.ts';
import { everyForm } from '../support/runs.ts';
import { type BareHabits, openBareService } from './bare-service.ts';
import { jobAt } from './scene.ts';

const hero = 'Content/Hero.uasset';
const maxRequests = 3;
const maxMs = 6_000;

interface Step {
  readonly with: Readonly<Record<string, string>>;
  /** The outputs that the step has, among others. It succeeds unless `fails` is part of its error. */
  readonly outputs?: Readonly<Record<string, string>>;
  readonly fails?: string;
  /** Part of the only warning; by default, there is none. */
  readonly warns?: string;
}

interface Row {
  readonly service: BareHabits;
  readonly steps: readonly Step[];
  readonly heldByOthers?: readonly string[];
  /** Part of the only warning of the post-step; by default, there is none. */
  readonly postWarns?: string;
  /** Locks that stay on the service: those of others, and those that it does not release. */
  readonly left?: readonly string[];
}

const refusedWith = (status: number): Answer => json(status, { error: `no ${status}` });
const isLocking = ({ method, url }: SeenRequest): boolean => method === 'POST' && url.endsWith('/locks');
const isRenewing = (request: SeenRequest): boolean => isLocking(request) && 'if-match' in request.headers;
const isListing = ({ method, url }: SeenRequest): boolean => method === 'GET' && /\/locks(\?|$)/.test(url);
const isReleasing = ({ method }: SeenRequest): boolean => method === 'DELETE';
const on =
  (isMeant: (request: SeenRequest) => boolean, answer: Answer) =>
  (request: SeenRequest): Answer | undefined =>
    isMeant(request) ? answer : undefined;

/** A gateway that answers the first of these requests in place of the service. */
const firstOnly = (isMeant: (request: SeenRequest) => boolean, answer: Answer) => {
  let left = 1;
  return (request: SeenRequest): Answer | undefined => (isMeant(request) && left-- > 0 ? answer : undefined);
};

function afterFirst(isMeant: (request: SeenRequest) => boolean, answer: Answer) {
  let seen = 0;
  return (request: SeenRequest): Answer | undefined => (isMeant(request) && seen++ > 0 ? answer : undefined);
}

const locking: Step = {
  with: { operation: 'lock', path: hero },
  outputs: { status: 'acquired', acquired: 'true', count: '1' },
};
const unlocking: Step = { with: { operation: 'unlock', path: hero }, outputs: { status: 'released' } };
const checking: Step = { with: { operation: 'check' }, outputs: { status: 'kept', count: '1' } };
const listing: Step = { with: { operation: 'list-locks' }, outputs: { count: '1' } };
const syncing: Step = { with: { operation: 'sync', branch: 'main' }, outputs: { branch: 'main' } };
const hooking: Step = { with: { operation: 'register-hook', 'hook-url': 'https://ci.example.com/hook' } };

const granting = (granted: Answer): Row => ({ service: { granted: () => granted }, steps: [locking] });
const heldWith = (held: Answer, fails: string): Row => ({
  service: { held },
  heldByOthers: [hero],
  left: [hero],
  steps: [{ ...locking, outputs: { status: 'held', acquired: 'false' }, fails }],
});
const refusing = (answer: Answer, fails: string): Row => ({
  service: { instead: on(isLocking, answer) },
  steps: [{ with: locking.with, fails }],
});
/** A gateway answers the first request for a lock. */
const lockingAfter = (answer: Answer): Row => ({
  service: { instead: firstOnly(isLocking, answer) },
  steps: [locking],
});
const withTag = json(201, { id: 'l1' }, { etag: '"l1"' });
const withoutQuotes: BareHabits = {
  granted: () => json(201, {}, { etag: 'v1' }),
  instead: (request) => (isReleasing(request) && request.headers['if-match'] !== 'v1' ? refusedWith(412) : undefined),
  locks: (paths) =>
    json(
      200,
      paths.map((path) => ({ path, etag: 'v1' })),
    ),
};
/** The response to the first release is lost, and nothing matches the condition of the next one. */
const lostRelease = (): BareHabits => ({
  granted: () => withTag,
  released: reset,
  instead: afterFirst(isReleasing, refusedWith(412)),
});
const withId = json(201, { id: 'l1', path: hero });
const listingId =
  (id: string, more: object = {}) =>
  () =>
    json(200, [{ id, path: hero, ...more }]);
/** The lock may have expired before the next step. */
const briefly: Step = { ...locking, with: { ...locking.with, ttl: '1s' } };
const firstTag = JSON.stringify([{ path: hero, etag: '"v1"' }]);
const releasing = (answer: Answer, outputs: Readonly<Record<string, string>>, fails: string): Row => ({
  service: { granted: () => withId, instead: on(isReleasing, answer) },
  steps: [locking, { ...unlocking, outputs, fails }],
  left: [hero],
  postWarns: fails,
});
const gone = (absent: Answer, forRawSlashes = absent): Row => ({
  service: {
    instead(request) {
      if (!isReleasing(request)) return undefined;
      return request.url.includes('%2F') ? absent : forRawSlashes;
    },
    locks: () => json(200, []),
  },
  steps: [locking, { ...unlocking, outputs: { status: 'absent' } }],
  left: [hero],
});
const inPostStep = (answer: Answer, postWarns?: string): Row => ({
  service: { granted: () => withId, instead: on(isReleasing, answer) },
  steps: [locking],
  left: [hero],
  ...(postWarns && { postWarns }),
});
const renewing = (answer: Answer, warns?: string): Row => ({
  service: {
    granted: () => withId,
    instead: on(isRenewing, answer),
    locks: () => json(200, [{ id: 'l1', path: hero }]),
  },
  steps: [{ ...locking, with: { ...locking.with, renew: 'true' }, ...(warns && { warns }) }],
});
const listed = (locks: Answer): Row => ({
  service: { locks: () => locks },
  heldByOthers: [hero],
  left: [hero],
  steps: [listing],
});
const listedEmpty = (locks: Answer): Row => ({
  service: { locks: () => locks },
  steps: [{ ...listing, outputs: { status: 'free', count: '0' } }],
});

const columnsOf = (path: string) => {
  return { path, locked_by: 'ada', since: '2026-11-28T10:00:00Z', expires: '2026-11-28T14:00:00Z' };
};

const table: Readonly<Record<string, Row>> = {
  'lock: 201 {}': granting(json(201, {})),
  'lock: 204': granting(nothing(204)),
  'lock: 200 true': granting(json(200, true)),
  'lock: 201 with a wrapped lock and an ETag': granting(
    json(201, { lock: { lock_id: 7, path: hero } }, { etag: '"7"' }),
  ),
  'the pages of the product: a queued sync, advisory locks, and a list by holder and time': {
    service: {
      synced: json(202, { sync_id: 'sync_7f2c9a', status: 'queued', branch: 'main', estimated_objects: 1284 }),
      locks: (paths) => json(200, paths.map(columnsOf)),
    },
    steps: [
      { ...syncing, outputs: { sync_id: 'sync_7f2c9a', status: 'queued', branch: 'main', estimated_objects: '1284' } },
      { ...locking, with: { ...locking.with, type: 'advisory', ttl: '4h' } },
      listing,
      unlocking,
    ],
  },
  'lock: 403 {"error"}': refusing(refusedWith(403), 'no 403'),
  'lock: 404 {"error"}': refusing(refusedWith(404), 'no 404'),
  'lock: 403 empty': refusing(nothing(403), '403'),
  'held: 409 {"error"}': heldWith(json(409, { error: 'file is locked by grace' }), 'is held'),
  'held: 409 empty': heldWith(nothing(409), 'is held'),
  'held: 423 {"message"}': heldWith(json(423, { message: 'Locked' }), 'is held'),
  'held: 409 with a holder': heldWith(json(409, { error: 'held', holder: 'grace' }), 'is held by grace'),
  'wait: 409, then 201 {}': {
    service: { freeAt: 1 },
    heldByOthers: [hero],
    steps: [{ ...locking, with: { ...locking.with, wait: '20s' } }],
  },
  'wait: 423 empty, then 200 empty': {
    service: { freeAt: 1, held: nothing(423), granted: () => nothing(200) },
    heldByOthers: [hero],
    steps: [{ ...locking, with: { ...locking.with, wait: '20s' } }],
  },
  'unlock: each connection is closed after a response': {
    service: { closesConnections: true },
    steps: [locking, unlocking, locking],
  },
  'unlock: 200 {…}': { service: { released: json(200, { released: true }) }, steps: [locking, unlocking] },
  'unlock: 202 {}': { service: { released: json(202, {}) }, steps: [locking, unlocking] },
  'unlock: only raw slashes, 404 {"error"} for others': { service: { rawSlashes: true }, steps: [locking, unlocking] },
  'unlock: 404 {"error"}, and a page for raw slashes': gone(refusedWith(404), page(404)),
  'unlock: 404 {"error"}, and 405 {"error"} for raw slashes': gone(refusedWith(404), refusedWith(405)),
  'unlock: 404 {"error"}': gone(refusedWith(404)),
  'unlock: 404 empty': gone(nothing(404)),
  'unlock: 410 {"error"}': gone(refusedWith(410)),
  'unlock: 410 empty': gone(nothing(410)),
  'unlock: 412 {"error"}, the lock is another': {
    service: {
      granted: () => withTag,
      instead: on(isReleasing, refusedWith(412)),
    },
    steps: [locking, { ...unlocking, outputs: { status: 'lost' }, fails: 'lost' }],
    left: [hero],
  },
  'unlock: a lost response, then 412 {"error"} for the free path': {
    service: lostRelease(),
    steps: [locking, unlocking],
  },
  'unlock: a lost response, then 412 {"error"} for a lock that nothing identifies': {
    service: { ...lostRelease(), locks: () => json(200, [hero]) },
    steps: [locking, { ...unlocking, outputs: { status: 'held' }, warns: 'may already have released its own' }],
  },
  'unlock: 403 {"error"}': releasing(refusedWith(403), { status: 'held' }, '403'),
  'unlock: 403 with a page, of a gateway': {
    service: { granted: () => withTag, instead: firstOnly(isReleasing, page(403)) },
    steps: [
      locking,
      { with: { ...unlocking.with, retries: '0' }, outputs: { status: 'held' }, fails: 'any gateway in front of' },
    ],
  },
  'unlock: 403 with a page to the list, of a gateway': {
    service: { instead: on(isListing, page(403)) },
    heldByOthers: [hero],
    left: [hero],
    steps: [
      { with: { ...unlocking.with, retries: '0' }, outputs: { status: 'held' }, fails: 'any gateway in front of' },
    ],
  },
  'unlock: 401 {"error"}': releasing(refusedWith(401), { status: 'held' }, 'no 401'),
  'unlock: a path that the job never locked': { service: {}, heldByOthers: [hero], steps: [unlocking] },
  'post-step: 401 {"error"}': inPostStep(refusedWith(401), 'no 401'),
  'post-step: 403 {"error"}': inPostStep(refusedWith(403), 'no 403'),
  'post-step: 404 {"error"}, and the list is empty': {
    ...inPostStep(refusedWith(404)),
    service: { instead: on(isReleasing, refusedWith(404)), locks: () => json(200, []) },
  },
  'post-step: 502 with a page, then 204': {
    service: { granted: () => withId, instead: firstOnly(isReleasing, page(502)), locks: listingId('l1') },
    steps: [locking],
  },
  'post-step: 502 with a page, and the list shows no ids': {
    service: { granted: () => withId, instead: firstOnly(isReleasing, page(502)) },
    steps: [locking],
    left: [hero],
    postWarns: 'may not have been released',
  },
  'post-step: 502 with a page, and the list shows another id': {
    service: { granted: () => withId, instead: firstOnly(isReleasing, page(502)), locks: listingId('l2') },
    steps: [locking],
    left: [hero],
  },
  'unlock: the lock has expired, and the list shows its id': {
    service: { granted: () => withId, locks: listingId('l1') },
    steps: [briefly, unlocking],
  },
  'unlock: the lock has expired, and the list shows another id': {
    service: { granted: () => withId, locks: listingId('l2') },
    steps: [briefly, { ...unlocking, outputs: { status: 'lost' }, fails: 'lost' }],
    left: [hero],
  },
  'post-step: the lock has expired, and its id is that of a later lock': {
    service: { granted: () => withId, locks: listingId('l1', { acquired_at: '2100-01-01T00:00:00Z' }) },
    steps: [briefly],
    left: [hero],
    postWarns: 'left alone',
  },
  'lock: 403 with a page, then 201 {}': lockingAfter(page(403)),
  'lock: 503 {"error"}, then 201 {}': lockingAfter(refusedWith(503)),
  'post-step: 200 {…}': { service: { released: json(200, { ok: true }) }, steps: [locking] },
  'check: a list of paths': { service: { locks: (paths) => json(200, paths) }, steps: [locking, checking] },
  'check: a list with ids': {
    service: { granted: () => withId, locks: () => json(200, { data: [{ id: 'l1', path: hero }] }) },
    steps: [locking, checking],
  },
  'check: the list is empty': {
    service: { locks: () => json(200, { locks: [] }) },
    steps: [locking, { ...checking, outputs: { status: 'lost' }, fails: 'lost' }],
  },
  'check: the list names an owner, and the response to the lock did not': {
    service: { granted: () => nothing(200), locks: () => json(200, { locks: [{ path: hero, owner: 'eve' }] }) },
    steps: [locking, { with: checking.with, fails: 'Could not determine whether this job still holds' }],
  },
  'check: 403 {"error"} to the list': {
    service: { instead: on(isListing, refusedWith(403)) },
    steps: [locking, { with: checking.with, fails: 'no 403' }],
  },
  'renew: 409 {"error"}': renewing(refusedWith(409), 'cannot renew'),
  'renew: 404 {"error"}': renewing(refusedWith(404), 'cannot renew'),
  'renew: 412 {"error"}': renewing(refusedWith(412), 'cannot renew'),
  'renew: 400 {"error"}': renewing(refusedWith(400), 'cannot renew'),
  'renew: 200 {}': renewing(json(200, {})),
  'renew: another ETag at each renewal, and locks are passed with the first one': {
    service: {
      granted: () => json(201, { path: hero }, { etag: '"v1"' }),
      instead(request) {
        if (isRenewing(request)) return json(200, { path: hero }, { etag: '"v2"' });
        return isReleasing(request) && request.headers['if-match'] !== '"v2"' ? refusedWith(412) : undefined;
      },
      locks: () => json(200, [{ path: hero, etag: '"v2"' }]),
    },
    steps: [
      { ...locking, with: { ...locking.with, renew: 'true' } },
      { ...checking, with: { ...checking.with, locks: firstTag } },
      { ...unlocking, with: { operation: 'unlock', locks: firstTag } },
    ],
  },
  'renew: locks without ids': {
    service: {},
    steps: [{ ...locking, with: { ...locking.with, renew: 'true' }, warns: 'cannot renew' }],
  },
  'check, unlock: ETags without quotes, which the service compares as they are': {
    service: withoutQuotes,
    steps: [locking, checking, unlocking],
  },
  'list-locks: an array': listed(json(200, [{ path: hero }])),
  'list-locks: {"items"}': listed(json(200, { items: [{ path: hero }] })),
  'list-locks: null': listedEmpty(json(200, null)),
  'list-locks: {"locks": null}': listedEmpty(json(200, { locks: null })),
  'list-locks: {"items": null} with a total': listedEmpty(json(200, { items: null, total: 0 })),
  'list-locks: 204': listedEmpty(nothing(204)),
  'release: lists in an unknown form': {
    service: { locks: (paths) => json(200, { active: paths }) },
    steps: [locking, { ...locking, with: { ...locking.with, path: 'Content/Map.umap' } }, unlocking],
  },
  'list-locks: {"data": null} with a message': {
    service: { locks: () => json(200, { data: null, message: 'down' }) },
    steps: [{ with: listing.with, fails: 'no list' }],
  },
  'unlock: lists in an unknown form, and a path that the job never locked': {
    service: { locks: (paths) => json(200, { active: paths }) },
    heldByOthers: [hero],
    left: [hero],
    steps: [{ ...unlocking, outputs: {}, fails: 'no list' }],
  },
  'unlock with force: lists in an unknown form': {
    service: { locks: (paths) => json(200, { active: paths }) },
    heldByOthers: [hero],
    steps: [{ ...unlocking, with: { ...unlocking.with, force: 'true' } }],
  },
  'lock: again, lists in an unknown form': {
    service: { locks: (paths) => json(200, { active: paths }) },
    steps: [locking, { with: { ...locking.with, wait: '20s' }, fails: 'holds' }],
  },
  'unlock: 404 {"error"}, and lists in an unknown form': {
    service: { instead: on(isReleasing, refusedWith(404)), locks: (paths) => json(200, { active: paths }) },
    left: [hero],
    steps: [locking, { ...unlocking, outputs: {}, fails: 'no list' }],
    postWarns: 'left alone',
  },
  'list-locks: 400 for unknown parameters': {
    service: { instead: (request) => (isListing(request) && request.url.includes('?') ? refusedWith(400) : undefined) },
    heldByOthers: [hero],
    left: [hero],
    steps: [listing],
  },
  'list-locks: 401 {"error"}': {
    service: { instead: on(isListing, refusedWith(401)) },
    steps: [{ with: listing.with, fails: 'no 401' }],
  },
  'list-locks: 200 without a list': {
    service: { locks: () => json(200, { ok: true }) },
    steps: [{ with: listing.with, fails: 'it contains no list' }],
  },
  'list-workspaces: {"data"} with names': {
    service: { workspaces: json(200, { data: [{ name: 'game' }] }) },
    steps: [{ with: { operation: 'list-workspaces' }, outputs: { count: '1' } }],
  },
  'list-branches: 404 {"error"}': {
    service: { branches: refusedWith(404) },
    steps: [{ with: { operation: 'list-branches' }, fails: 'no 404' }],
  },
  'sync: the fields of the interface': {
    service: {},
    steps: [{ ...syncing, outputs: { status: 'queued', sync_id: 's1', estimated_objects: '3' } }],
  },
  'sync: 200 {}': { service: { synced: json(200, {}) }, steps: [syncing] },
  'sync: 202 empty': { service: { synced: nothing(202) }, steps: [syncing] },
  'sync: 403 {"error"}': { service: { synced: refusedWith(403) }, steps: [{ with: syncing.with, fails: 'no 403' }] },
  'register-hook: 200 {"ok":true}': { service: { hooked: json(200, { ok: true }) }, steps: [hooking] },
  'register-hook: 204': { service: { hooked: nothing(204) }, steps: [hooking] },
  'register-hook: 401 empty': { service: { hooked: nothing(401) }, steps: [{ ...hooking, fails: '401' }] },
};

describe.concurrent('a service that has the interface, and nothing more', () => {
  test.concurrent.each(Object.entries(table))('%s', async (_, { service: habits, steps, heldByOthers, ...row }) => {
    const service = await openBareService(habits, heldByOthers);
    const env = { WORKSPACE_BASE_URL: service.baseUrl, WORKSPACE_TOKEN: 'wsa_of_another', WORKSPACE_ID: 'game' };
    const job = await openJob({ sharesProcesses: !everyForm, env });
    try {
      let before = 0;
      const expectQuick = ({ durationMs, log }: { readonly durationMs: number; readonly log: string }): void => {
        expect(service.requests.slice(before).length, log).toBeLessThanOrEqual(maxRequests);
        expect(durationMs, log).toBeLessThan(maxMs);
        before = service.requests.length;
      };
      for (const { with: inputs, outputs = {}, fails, warns } of steps) {
        const result = await job.run({ with: inputs });
        const errors = fails === undefined ? [] : [{ level: 'error', message: expect.stringContaining(fails) }];
        const warnings = warns === undefined ? [] : [{ level: 'warning', message: expect.stringContaining(warns) }];
        expect(result, result.log).toMatchObject({
          exitCode: fails === undefined ? 0 : 1,
          annotations: [...warnings, ...errors],
          outputs,
        });
        expectQuick(result);
      }
      const posts = await job.post();
      const log = posts.map((post) => post.log).join('\n');
      const warnings = row.postWarns === undefined ? [] : [{ message: expect.stringContaining(row.postWarns) }];
      expect(
        posts.flatMap(({ annotations }) => annotations),
        log,
      ).toMatchObject(warnings);
      expect(
        posts.filter(({ exitCode }) => exitCode !== 0),
        log,
      ).toEqual([]);
      expectQuick({ durationMs: Math.max(...posts.map(({ durationMs }) => durationMs)), log });
      expect([...service.locked]).toEqual(row.left ?? []);
    } finally {
      // Stopped renewals take a moment to end.
      if (steps.some((step) => step.with['renew'])) await expect.poll(job.leftProcesses).toEqual([]);
      await job.end();
      await service.close();
    }
  });
});

test('an expired lock that is still listed is lost, and another step can take it again', async () => {
  let listed: object[] = [];
  const service = await openBareService({
    granted() {
      const lastsMs = listed.length === 0 ? 1_000 : 3_600_000;
      const times = { acquired_at: new Date().toISOString(), expires_at: new Date(Date.now() + lastsMs).toISOString() };
      listed = [{ id: `l${listed.length + 1}`, path: hero, ...times }];
      return json(201, listed[0] ?? {});
    },
    locks: () => json(200, listed),
    freeAt: 0,
  });
  const job = await jobAt(service.baseUrl);
  await job.run(briefly);
  // The service says the time in whole seconds.
  await new Promise((resolve) => setTimeout(resolve, 2_100));
  expect(await job.run({ with: checking.with })).toMatchObject({ exitCode: 1, outputs: { status: 'lost' } });
  expect(await job.run({ with: locking.with })).toMatchObject({ exitCode: 0, outputs: locking.outputs });
  await job.post();
  await service.close();
});

test('the post-step reports that a renewal found another lock while a step released ours', async () => {
  const unlocked = Promise.withResolvers<void>();
  let renewals = 0;
  const service = await openBareService({
    granted: () => withId,
    instead: on(isRenewing, async (response, request) => {
      renewals += 1;
      // The lock step itself sends the first one.
      if (renewals > 1) await unlocked.promise;
      json(200, { id: renewals > 1 ? 'l2' : 'l1', path: hero })(response, request);
    }),
  });
  const job = await jobAt(service.baseUrl);
  // The lock certainly lasts long enough for the unlock after its first third.
  await job.run({ with: { ...locking.with, renew: 'true', ttl: '12s' } });
  await expect.poll(() => renewals, { timeout: 20_000 }).toBe(2);
  await job.run({ with: unlocking.with });
  unlocked.resolve();
  const posts = await job.post();
  const message = expect.stringContaining('now has another lock (id l2)');
  expect(posts.flatMap(({ annotations }) => annotations)).toMatchObject([{ level: 'warning', message }]);
  await service.close();
});
