import pino from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { requestRaw } from '../../support/raw-http.ts';
import { serveApp } from './described-app.ts';
import { expectDescribed } from './described-operations.ts';
import { expectProblem } from './expect-problem.ts';
import { sharedService } from './shared-service.ts';

describe('operating the service', () => {
  const service = sharedService();
  const locks = (rest = '') => `/v1/workspaces/${service.home}/locks${rest}`;
  const lock = (path: string, token = service.secret) =>
    service.ask('POST', locks(), { token, json: { path, type: 'exclusive', ttl: '1h' } });

  test('every response has its own request id, and never one that the client sent', async () => {
    const answers = [
      await service.ask('GET', '/healthz', { headers: { 'x-request-id': 'req_mine' } }),
      await service.ask('GET', '/metrics', { token: service.secret }),
      await lock('ids'),
      await lock('ids'),
      await service.ask('DELETE', locks('/ids'), { token: service.secret }),
      await requestRaw(service.port, { target: '/ü' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 201, 409, 204, 400]);
    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    for (const id of ids) expect(id).toMatch(/^req_[0-9a-f-]{36}$/);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('health and readiness need no token, and readiness fails once the service is stopping', async () => {
    for (const path of ['/healthz', '/readyz']) {
      const { status, body } = await service.ask('GET', path);
      expect([status, body]).toEqual([200, { status: 'ok' }]);
    }
    const stopping = await serveApp({ isStopping: () => true });
    onTestFinished(stopping.stop);
    const notReady = await stopping.ask('GET', '/readyz');
    expectProblem(notReady, 'unavailable');
    expect(notReady.headers.get('retry-after')).toBe('2');
    expectDescribed('GET', '/readyz', notReady);
    expect((await stopping.ask('GET', '/healthz')).status).toBe(200);
  });

  describe('the metrics', () => {
    const metrics = () => service.ask('GET', '/metrics', { token: service.secret });

    test('need a token, are in the Prometheus format, and have the main series', async () => {
      expectProblem(await service.ask('GET', '/metrics'), 'unauthorized');
      const { status, headers, text } = await metrics();
      expect(status).toBe(200);
      expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
      const names = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`);
      expect(names).toEqual(
        expect.arrayContaining([
          'workspace_http_request_duration_seconds histogram',
          'workspace_syncs_total counter',
          'workspace_webhook_attempts_total counter',
          'process_cpu_seconds_total counter',
          'nodejs_eventloop_lag_seconds gauge',
        ]),
      );
    });

    test('count requests by the pattern of their route, so that no client can add a series', async () => {
      const token = service.secret;
      for (const path of ['path-1', 'path-2']) {
        for (const target of [locks(`/${path}`), locks(`/folder/${path}`)])
          await service.ask('DELETE', target, { token });
        await service.ask('GET', `/${path}`);
        await service.ask('GET', `/v1/workspaces/${path}/branches`, { token });
        await service.ask('PUT', `/v1/workspaces/${path}/sync`);
      }
      for (const method of ['PROPFIND', 'TRACE', 'LOCK'])
        await requestRaw(service.port, { method, target: '/healthz' });
      const { text } = await metrics();
      const counted = text
        .split('\n')
        .filter((line) => line.startsWith('workspace_http_request_duration_seconds_count'));
      expect(counted).toEqual(
        expect.arrayContaining([
          expect.stringMatching(/\{method="DELETE",route="\/v1\/workspaces\/:id\/locks\/:path",status="404"\} \d$/),
          expect.stringMatching(/\{method="GET",route="\/v1\/workspaces\/:id\/branches",status="404"\} 2$/),
          expect.stringMatching(/\{method="PUT",route="\/v1\/workspaces\/:id\/sync",status="405"\} 2$/),
          expect.stringMatching(/\{method="GET",route="\/\*",status="404"\} \d$/),
          expect.stringMatching(/\{method="other",route="\/healthz",status="405"\} 3$/),
        ]),
      );
      expect(counted.join('\n')).not.toMatch(/path-|PROPFIND/);
      expect(counted.join('\n')).not.toContain(service.home);
    });
  });

  describe('the log', () => {
    const lines = () =>
      service
        .log()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));

    test('has one line for each request, with the request id of its response', async () => {
      const { id: token, secret } = await service.token();
      const common = { level: 30, time: expect.any(Number), duration_ms: expect.any(Number) };
      for (const [{ headers }, expected] of [
        [await lock('log/a b', secret), { method: 'POST', path: locks(), status: 201, token }],
        [
          await service.ask('DELETE', locks('/log%2Fnothing'), { token: secret }),
          { method: 'DELETE', path: locks('/log%2Fnothing'), status: 404, token },
        ],
        [await service.ask('GET', '/log'), { method: 'GET', path: '/log', status: 404 }],
      ] as const) {
        const request_id = headers.get('x-request-id');
        const own = lines().filter((line) => line.msg === 'request' && line.request_id === request_id);
        expect(own).toMatchObject([{ ...common, origin_address: '127.0.0.1', ...expected }]);
        expect('token' in own[0]).toBe('token' in expected);
      }
    });

    test('contains no token, no credentials, no query and no body', async () => {
      const secret = 'keep-this-to-yourself';
      const headers = { 'content-type': 'application/json', cookie: secret, 'x-secret': secret };
      const token = service.secret;
      await service.ask('GET', locks(`?prefix=${secret}&${secret}`), { token });
      await service.ask('POST', locks(`?${secret}`), { token, headers, raw: `{"path":"${secret}` });
      await service.ask('POST', locks(), { token, headers, raw: `{"path":"..","ttl":"${secret}"}` });
      await service.ask('GET', locks(), { token: secret });
      await service.ask('GET', locks(), { headers: { authorization: `Basic ${secret}` } });
      await requestRaw(service.port, { target: `http://user:${secret}@localhost/healthz?${secret}#${secret}` });
      await requestRaw(service.port, { target: '/healthz', headers: [`X-${secret}`] });
      expect(lines().length).toBeGreaterThan(5);
      expect(service.log()).not.toContain(secret);
      expect(service.log()).not.toContain(token);
      expect(service.log()).not.toMatch(/wsa_|authorization|bearer/i);
    });

    test('contains unexpected errors, which the response does not reveal', async () => {
      const written: string[] = [];
      const log = pino({}, { write: (line: string) => written.push(line) });
      const isStopping = (): never => {
        throw new TypeError('Nobody foresaw this.');
      };
      const broken = await serveApp({ log, isStopping });
      onTestFinished(broken.stop);
      const { detail, request_id } = expectProblem(await broken.ask('GET', '/readyz'), 'internal-error');
      const [mistake, request] = written.map((line) => JSON.parse(line));
      expect(mistake).toMatchObject({ level: 50, request_id, err: { type: 'TypeError', stack: expect.any(String) } });
      expect(request).toMatchObject({ level: 30, request_id, status: 500 });
      expect(detail).not.toContain('foresaw');
    });
  });
});
