import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, type TestContext, test, vi } from 'vitest';
import { parse } from 'yaml';
import { openSqlite } from '../../src/service/storage/sqlite.ts';
import { commandEnvironment, runMain, startMain } from '../command/run-main.ts';
import { leaveOut } from '../support/left-out.ts';
import { ask } from '../support/running-service.ts';
import { storeSyncedBranches, storeWorkspace } from '../support/stored-rows.ts';
import { folderOfTests } from '../support/temporary-folder.ts';
import { deploy, shipped } from './pages.ts';

const folder = folderOfTests();
const alertsFile = fileURLToPath(new URL('alerts.yaml', deploy));
const { groups }: { groups: { rules: { alert: string; expr: string }[] }[] } = parse(await shipped('alerts.yaml'));
const alerts = groups.flatMap(({ rules }) => rules);

interface DashboardPanel {
  readonly title: string;
  readonly type: string;
  readonly options: object;
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}
const dashboardText = await shipped('grafana-dashboard.json');
const { panels }: { panels: readonly DashboardPanel[] } = JSON.parse(dashboardText);
/** The queries with values instead of Grafana's variables. */
const queries = panels.flatMap(({ targets }) =>
  targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', '.*')),
);

/** The metrics of a service with one synced workspace. */
let text: string;
let service: ReturnType<typeof startMain>;
beforeAll(async () => {
  const data = join(folder, 'data');
  const storage = await openSqlite({ folder: data });
  await storeWorkspace(storage, { id: 'game' });
  const branch = { workspace_id: 'game', name: 'main', head: 'a'.repeat(40) };
  await storeSyncedBranches(storage, { ...branch, synced_at: Date.now() });
  await storage.close();
  const environment = commandEnvironment(data);
  const create = ['token', 'create', '--name=prometheus', '--scopes=locks:read', '--json'];
  const { secret: token } = JSON.parse((await runMain(create, environment)).stdout);
  service = startMain(['serve', '--json', '--port=0'], environment);
  const { base_url } = JSON.parse(await service.printed('listening'));
  const metrics = async () => (text = (await ask(new URL(base_url).origin, 'GET', '/metrics', { token })).text);
  // The second response counts the first request.
  await metrics();
  await vi.waitUntil(async () => (await metrics()).includes('workspace_locks{'), { timeout: 30_000 });
  return () => service.stop();
});

const types = () => [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type]) => ({ name, type }));
const linesOf = (name: string) => text.split('\n').filter((line) => new RegExp(`^${name}[{ ]`).test(line));

/** Fails with the output of promtool if it complains. */
function promtool(context: TestContext, args: readonly string[], input?: string): void {
  const { error, status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  if (error !== undefined) leaveOut(context, 'There is no promtool on this machine: it is in the package prometheus.');
  expect({ status, complaints: status === 0 ? stderr.trim() : `${stdout}${stderr}` }).toEqual({
    status: 0,
    complaints: '',
  });
}

test('promtool accepts the metrics, the alerts and the queries of the dashboard', async (context) => {
  promtool(context, ['check', 'metrics'], text);
  const recorded = { rules: queries.map((expr, index) => ({ record: `panel:${index}`, expr })), name: 'dashboard' };
  const file = join(folder, 'dashboard.json');
  await writeFile(file, JSON.stringify({ groups: [recorded] }));
  for (const rules of [alertsFile, file]) promtool(context, ['check', 'rules', '--lint-fatal', rules]);
});

const count = 'workspace_http_request_duration_seconds_count';
/** For each alert, series that fire it within two hours, and series that do not, one sample a minute. */
const cases: Readonly<Record<string, readonly (readonly [series: string, bad: string, good: string])[]>> = {
  WorkspaceServiceDown: [['up{job="workspace-service"}', '0x130', '1x130']],
  WorkspaceServiceErrors: [[`${count}{status="503"}`, '0+1x130', '9x130']],
  WorkspaceServiceBusy: [['nodejs_eventloop_lag_p99_seconds{job="workspace-service"}', '0.6x130', '0.4x130']],
  WorkspaceServiceThrottles: [[`${count}{status="429"}`, '0+1x130', '9x130']],
  WorkspaceDiskNearlyFull: [
    ['workspace_disk_free_bytes', '9x130', '11x130'],
    ['workspace_disk_size_bytes', '100x130', '100x130'],
  ],
  WorkspaceSyncsFail: [['workspace_syncs_total{status="failed"}', '0x110 1x20', '1x130']],
  WorkspaceSyncsOld: [
    ['workspace_last_successful_sync_timestamp_seconds{workspace="game"}', '-604800x130', '-590000x130'],
  ],
  WorkspaceWebhooksLost: [['workspace_webhook_attempts_total{outcome="gone"}', '0x110 1x20', '1x130']],
  WorkspaceWebhooksDrop: [['workspace_webhook_events_dropped', '0x110 1x20', '1x130']],
  WorkspaceLocksExpire: [['workspace_locks_expired_total', '0x110 1x20', '1x130']],
  WorkspaceLockWaiters: [['workspace_lock_waiters{workspace="game"}', '1x130', '1x100 0x30']],
  WorkspaceTokensExpire: [['workspace_tokens_expiring', '1x130', '0x130']],
};

test('each alert fires for bad values, and not for good ones', async (context) => {
  expect(Object.keys(cases).toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted());
  const firing = 'count by (alertname) (ALERTS{alertstate="firing"})';
  const tests = Object.entries(cases).flatMap(([alert, input]) =>
    (['bad', 'good'] as const).map((kind) => ({
      interval: '1m',
      name: `${alert}, ${kind}`,
      input_series: input.map(([series, bad, good]) => ({ series, values: kind === 'bad' ? bad : good })),
      promql_expr_test: [
        {
          expr: firing,
          eval_time: '2h',
          exp_samples: kind === 'bad' ? [{ labels: `{alertname="${alert}"}`, value: 1 }] : [],
        },
      ],
    })),
  );
  const file = join(folder, 'tests.json');
  await writeFile(file, JSON.stringify({ rule_files: [alertsFile], evaluation_interval: '1m', tests }));
  promtool(context, ['test', 'rules', file]);
});

/** Metrics in a query, each with its selector. */
const metricsIn = (query: string) =>
  [...query.matchAll(/\b((?:workspace|nodejs|process)_\w+)\b(?:\{([^}]*)\})?/g)].map(([, name = '', labels = '']) => ({
    name,
    labels,
  }));

test('every metric that an alert or the dashboard uses exists, with its labels and their values', () => {
  const known = types().flatMap(({ name, type }) =>
    type === 'histogram' ? ['_count', '_sum', '_bucket'].map((end) => `${name}${end}`) : name,
  );
  const all = [...alerts.map(({ expr }) => expr), ...queries];
  expect(all.flatMap(metricsIn).length).toBeGreaterThan(all.length);
  for (const query of all) {
    const grouped = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(/, ?/));
    for (const { name, labels } of metricsIn(query)) {
      expect(known, query).toContain(name);
      const lines = linesOf(name).join('\n');
      for (const label of grouped) expect(lines, query).toContain(`${label}="`);
      for (const [, label = '', operator, value = ''] of labels.matchAll(/(\w+)(=~?)"([^"]*)"/g)) {
        // Prometheus adds this label.
        if (label === 'job') continue;
        expect(lines, query).toContain(`${label}="`);
        if (label === 'status' && name.startsWith('workspace_http')) continue;
        for (const one of operator === '=~' ? value.split('|') : [value]) {
          expect(lines, query).toContain(`${label}="${one}"`);
        }
      }
    }
  }
});
