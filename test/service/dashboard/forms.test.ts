import { afterAll, beforeAll, expect, test } from 'vitest';
import { maxFormBytes, maxFormFields, parseForm } from '../../../src/service/dashboard/frame/form.ts';
import { realDatabaseKinds } from '../../support/databases.ts';
import { askRaw, writeRequest } from '../../support/raw-http.ts';
import { type RunningService, startTestService } from '../../support/running-service.ts';
import { type Visitor, visit } from './browser-like.ts';

let service: RunningService;
beforeAll(async () => {
  service = await startTestService(realDatabaseKinds[0] ?? expect.fail('There is always SQLite.'), {
    rateLimit: { perSecond: 0.001, burst: 10 },
  });
});
afterAll(() => service.stop());

const formType = 'Content-Type: application/x-www-form-urlencoded';

async function signedIn(): Promise<Visitor> {
  const visitor = visit(service);
  expect((await visitor.signIn((await service.token()).secret)).status).toBe(303);
  return visitor;
}

/** Sends the head of a form whose body never comes: who reads the body first cannot answer. */
const sendHeadAlone = ({ port }: RunningService, path: string, headers: readonly string[]) =>
  askRaw(
    port,
    writeRequest({ method: 'POST', target: path, headers: [...headers, formType, 'Content-Length: 60000'] }),
    // A redirect has no body either.
    { head: true },
  );

/** Of the address that raw requests name as their Host. */
const own = 'Origin: http://localhost';

test('the largest form that is taken is read as a whole', () => {
  const names = Array.from({ length: maxFormFields }, (_, index) => `f${index % 7}`);
  const form = parseForm(names.map((name) => `${name}=${name}+%C3%A9%0D%0Ax`).join('&'));
  expect(form.all('f3')).toEqual(Array(14).fill('f3 é\nx'));
  expect(() => parseForm([...names, 'g'].join('&'))).toThrow('not have more than 100 fields');
});

test.each([
  ['/sign-in', 'http://evil.example'],
  ['/sign-in/link', 'null'],
])('a form for %s of another site is refused before it is read', async (path, origin) => {
  expect((await sendHeadAlone(service, path, [`Origin: ${origin}`])).status).toBe(403);
});

test('a form of somebody who has tried too often is refused before it is read', async () => {
  const many = await startTestService(realDatabaseKinds[0] ?? expect.fail('There is always SQLite.'));
  try {
    const visitor = visit(many);
    for (let attempt = 0; attempt < 10; attempt += 1) await visitor.signIn('wrong');
    expect((await sendHeadAlone(many, '/sign-in', [own])).status).toBe(429);
  } finally {
    await many.stop();
  }
});

test('a form for what needs a session is refused before it is read: without one, of another site, above the limit', async () => {
  const visitor = await signedIn();
  const cookie = `Cookie: ${visitor.cookie()}`;
  const page = 'Accept: text/html';
  expect((await sendHeadAlone(service, '/sign-out', [own, page])).status).toBe(303);
  expect((await sendHeadAlone(service, '/sign-out', ['Origin: https://evil.example', cookie])).status).toBe(403);
  while ((await visitor.get('/')).status === 200);
  expect((await sendHeadAlone(service, '/sign-out', [own, cookie])).status).toBe(429);
});

test('a form that is larger than forms are is refused with a page that says so', async () => {
  const visitor = await signedIn();
  const answer = await visitor.post('/sign-out', { form_token: 'x'.repeat(maxFormBytes) });
  expect({ status: answer.status, type: answer.headers.get('content-type') }).toEqual({
    status: 413,
    type: 'text/html; charset=utf-8',
  });
  expect(answer.text).toContain('A form must not be larger than 65536 bytes.');
});
