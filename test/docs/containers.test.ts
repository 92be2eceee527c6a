import { execFileSync } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { variableOf } from '../../src/command/flags.ts';
import { allCommands } from '../../src/main.ts';
import { leaveOut } from '../support/left-out.ts';
import { products, programOf } from '../support/reverse-proxy.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { runSnippet, selfHosting, shipped, snippetWith } from './pages.ts';

const root = new URL('../../', import.meta.url);
const read = (name: string): Promise<string> => readFile(new URL(name, root), 'utf8');

const dockerfile = await read('deploy/Dockerfile');
const { services } = parse(await read('deploy/compose.yaml'), { merge: true });
const [service, statefulSet] = parseAllDocuments(await shipped('kubernetes.yaml')).map((each) => each.toJS());
const pod = statefulSet.spec.template.spec;
const [container] = pod.containers;

const instances = Object.keys(services).filter((name) => services[name].image === 'workspace-service');
const folder = '/var/lib/workspace-service';

test('a build context contains what the Dockerfile copies, and nothing else', async () => {
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names = '']) => names.split(' '));
  const [all, ...kept] = (await read('deploy/Dockerfile.dockerignore'))
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  expect(all).toBe('*');
  expect(kept.toSorted()).toEqual([...new Set(copied)].map((name) => `!${name}`).toSorted());
});

test('Compose and Kubernetes match the image: its user, folder and port, and no other writable folder', () => {
  expect(dockerfile).toContain('\nUSER 10001:10001\n');
  expect(dockerfile).toContain(`\nVOLUME ${folder}\n`);
  expect(dockerfile).toContain('"--port", "8080"]');
  expect(pod.securityContext).toMatchObject({
    runAsNonRoot: true,
    runAsUser: 10_001,
    runAsGroup: 10_001,
    fsGroup: 10_001,
  });
  expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false });
  expect(container.ports).toEqual([{ name: 'http', containerPort: 8080 }]);
  expect(container.volumeMounts).toContainEqual({ name: 'data', mountPath: folder });
  expect(service.spec.selector).toEqual(statefulSet.spec.template.metadata.labels);
  expect([container.livenessProbe, container.readinessProbe].map(({ httpGet }) => httpGet.path)).toEqual([
    '/healthz',
    '/readyz',
  ]);
  for (const name of instances) {
    expect(services[name], name).toMatchObject({ read_only: true, cap_drop: ['ALL'], tmpfs: ['/tmp'] });
    expect(services[name].volumes[0], name).toMatch(new RegExp(`^\\w+:${folder}$`));
  }
});

test('Compose and Kubernetes set only variables that the service has, and no secrets', async () => {
  const known = new Set((await allCommands()).flatMap(({ flags }) => Object.keys(flags).map(variableOf)));
  const set = [...instances.flatMap((name) => Object.keys(services[name].environment))];
  set.push(...container.env.map(({ name }: { name: string }) => name));
  expect(set).not.toEqual([]);
  for (const name of set) expect(known, name).toContain(name);
});

test('Compose runs one instance on SQLite by default, and several with one database and one proxy', () => {
  const [first, ...others] = instances;
  const inProfile = (name: string): boolean => services[name].profiles?.includes('postgresql') === true;
  expect(Object.keys(services).filter((name) => !inProfile(name))).toEqual([first]);
  expect(services[first ?? '']).not.toHaveProperty('env_file');
  expect(others).toHaveLength(2);
  expect(new Set(others.map((name) => services[name].volumes[0])).size).toBe(2);
  for (const name of others) {
    expect(services[name].env_file, name).toEqual(services.postgresql.env_file);
    expect(services[name].environment.WORKSPACE_SERVICE_TRUSTED_PROXY).toBe(services.caddy.networks.proxy.ipv4_address);
  }
});

test('the commands before Compose write a private password, and the variables that its services read', async () => {
  const lines = snippetWith(selfHosting, 'docker compose --profile postgresql up').split('\n');
  const [first, last] = ['(umask', '>.env'].map((words) => lines.findIndex((line) => line.includes(words)));
  const cwd = temporaryFolder();
  await runSnippet(lines.slice(first, (last ?? 0) + 1).join('\n'), { cwd });
  const [, password = '', url = ''] =
    /^POSTGRES_PASSWORD=(\w+)\nDATABASE_URL=(.+)\n$/.exec(await readFile(join(cwd, 'postgresql.env'), 'utf8')) ?? [];
  expect((await stat(join(cwd, 'postgresql.env'))).mode & 0o77).toBe(0);
  const { username, hostname, password: sent } = new URL(url);
  expect(services[hostname].environment.POSTGRES_USER).toBe(username);
  expect([sent, password.length]).toEqual([password, 48]);
  const names = [...(await readFile(join(cwd, '.env'), 'utf8')).matchAll(/^(\w+)=/gm)].map(([, name]) => name);
  const text = await read('deploy/compose.yaml');
  expect(names).toEqual([...new Set([...text.matchAll(/\$\{(\w+):-/g)].map(([, name]) => name))].toReversed());
});

test('Caddy proxies to every instance of Compose, and checks whether they are ready', (context) => {
  const caddy = products.find(({ file }) => file === 'Caddyfile');
  const program = caddy && programOf(caddy);
  if (program === undefined) leaveOut(context, 'There is no Caddy on this machine.');
  const file = fileURLToPath(new URL('deploy/Caddyfile', root));
  const adapt = (env: NodeJS.ProcessEnv): string =>
    execFileSync(program, ['adapt', '--adapter', 'caddyfile', '--config', file], {
      env: { PATH: process.env['PATH'], ...env },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  const dials = (adapted: string) => [...adapted.matchAll(/"dial":"([^"]+)"/g)].map(([, address]) => address);
  expect(dials(adapt({}))).toEqual(['127.0.0.1:8080']);
  expect(adapt({})).not.toContain('health_checks');
  const adapted = adapt({ ...services.caddy.environment, WORKSPACE_SITE: 'localhost' });
  expect(dials(adapted)).toEqual(instances.slice(1).map((name) => `${name}:8080`));
  expect(adapted).toContain('"uri":"/readyz"');
});
