import { join } from 'node:path';
import { expect, test } from 'vitest';
import { leaveOut } from '../support/left-out.ts';
import { measured } from '../support/measured.ts';
import { ask } from '../support/running-service.ts';
import { runs } from '../support/runs.ts';
import { printedSeed, type Random, randomOf } from '../support/seed.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { createDisk, type Luck } from './power-cut/disk.ts';
import { followPromises, type Told } from './power-cut/promises.ts';
import { readRecord, recordInto, type Step, whyNoRecorder } from './power-cut/record.ts';
import { startAgain } from './power-cut/start-again.ts';

const starts = runs(1, 3);
const clients = 8;
const pathsEach = 4;
const requestsEach = runs(6, 60);
/** The power is cut after every response, and at this many other moments. */
const otherMoments = runs(20, 2_000);
const lucks: readonly Luck[] = ['none', 'all', 'some'];

/** Acquires and releases locks on its own paths, one request after the other, so that the expected locks are known. */
async function takeAndRelease(
  { baseUrl, token, workspace }: ServiceProcess,
  name: string,
  told: Told[],
  random: Random,
) {
  const locks = `/workspaces/${workspace}/locks`;
  for (let request = 0; request < requestsEach; request += 1) {
    const path = `Content/${name}/asset-${Math.floor(random() * pathsEach)}.bin`;
    if (told.findLast((one) => one.path === path)?.lock) {
      // The token changes with each start.
      const target = `${locks}/${encodeURIComponent(path)}?force=true`;
      const { status, headers } = await ask(baseUrl, 'DELETE', target, { token });
      expect(status).toBe(204);
      told.push({ request: headers.get('x-request-id') ?? '', path, lock: null });
    } else {
      const { status, headers, body } = await ask(baseUrl, 'POST', locks, {
        token,
        headers: { 'idempotency-key': `${name}-${told.length}` },
        json: { path, type: 'exclusive', ttl: '1h' },
      });
      expect(status).toBe(201);
      told.push({ request: headers.get('x-request-id') ?? '', path, lock: { id: body.id, fence: body.fence } });
    }
  }
}

test('the database opens with every acknowledged lock after a power cut at any moment', {
  timeout: runs(120_000, 30 * 60_000),
}, async (context) => {
  const reason = whyNoRecorder();
  if (reason !== undefined) leaveOut(context, ...reason);
  const seed = printedSeed('The power cuts are of a seed');
  const random = randomOf(seed);
  const root = temporaryFolder();
  // Neither of the two folders exists before the first start.
  const folder = join(root, 'new', 'data');

  const histories: Told[][] = Array.from({ length: clients }, () => []);
  const steps: Step[] = [];
  for (let start = 0; start < starts; start += 1) {
    const record = join(root, 'record');
    const service = await startServiceProcess({
      folder,
      through: recordInto(record),
    });
    await Promise.all(
      histories.map((told, client) => takeAndRelease(service, `client-${client}`, told, randomOf(seed + client))),
    );
    await (start % 2 === 0 ? service.kill() : service.stop());
    for await (const step of readRecord(record)) steps.push(step);
  }

  const database = join(folder, 'service.db');
  const disk = createDisk(
    root,
    (name) =>
      folder === name ||
      folder.startsWith(`${name}/`) ||
      // SQLite rebuilds the third of its files, "-shm", from the others.
      [database, `${database}-wal`, `${database}-journal`].includes(name),
  );
  const promises = followPromises(histories);
  const chance = otherMoments / steps.length;
  const wrong: string[] = [];
  let answers = 0;
  let cuts = 0;
  for (const [index, step] of steps.entries()) {
    disk.apply(step);
    const answered = step.does === 'say' && promises.hear(step.text);
    if (answered) answers += 1;
    else if (random() >= chance) continue;
    cuts += 1;
    const luck = lucks[Math.floor(random() * lucks.length)] ?? 'none';
    const found = await startAgain(disk.cutPower(luck, random), folder, promises.owed(answered), join(root, 'found'));
    for (const one of found) wrong.push(`step ${index} of ${steps.length}, ${luck} of what was not durable: ${one}`);
  }
  const lost = 'acknowledged locks that were missing, or databases that did not open';
  measured(lost, wrong.length, { exactly: 0 }, wrong.slice(0, 10));
  measured('power cuts', cuts, { atLeast: runs(24, 2_000) });
  measured('power cuts right after a response', answers, { atLeast: runs(24, 720) });
});
