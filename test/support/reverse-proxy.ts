import { existsSync, readFileSync } from 'node:fs';
import { chown, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { freePort } from './listen.ts';
import { startProcess } from './started-process.ts';

const shipped = fileURLToPath(new URL('../../deploy/', import.meta.url));

/** The place of a proxy: everything that its configuration may refer to. */
interface Place {
  readonly folder: string;
  readonly certificate: string;
  readonly key: string;
  readonly log: string;
  /** The port of the proxy. */
  readonly port: number;
  /** The port of the service behind it. */
  readonly servicePort: number;
}

export interface Product {
  readonly name: string;
  /** The shipped configuration file. */
  readonly file: string;
  readonly program: string;
  /** Replacements for the parts of the configuration that depend on the place. Each part must occur. */
  readonly replaced: (place: Place) => Readonly<Record<string, string>>;
  /** Required files by name: the main configuration around that of the site. */
  readonly files: (configuration: string, place: Place) => Readonly<Record<string, string>>;
  readonly args: (place: Place) => readonly string[];
  readonly environment?: (place: Place) => NodeJS.ProcessEnv;
}

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));

export const nginx: Product = {
  name: 'nginx',
  file: 'nginx.conf',
  program: 'nginx',
  replaced: ({ port, servicePort, certificate, key, log }) => ({
    'server 127.0.0.1:8080 ': `server 127.0.0.1:${servicePort} `,
    'listen 443 ': `listen 127.0.0.1:${port} `,
    '    listen [::]:443 ssl http2;\n': hasIpv6 ? `    listen [::1]:${port} ssl http2;\n` : '',
    'server_name workspaces.example.com;': 'server_name localhost;',
    '/etc/ssl/workspaces.example.com.crt': certificate,
    '/etc/ssl/private/workspaces.example.com.key': key,
    '/var/log/nginx/workspace-service.log': log,
  }),
  files: (configuration, { folder }) => ({
    'site.conf': configuration,
    'main.conf': [
      'daemon off;',
      `pid ${join(folder, 'pid')};`,
      'events {}',
      'http {',
      'gzip on;\ngzip_proxied any;\ngzip_types *;\ngzip_min_length 1;',
      ...['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${join(folder, kind)};`),
      `include ${join(folder, 'site.conf')};`,
      '}\n',
    ].join('\n'),
  }),
  args: ({ folder }) => ['-p', folder, '-e', join(folder, 'error.log'), '-c', join(folder, 'main.conf')],
};

/** Enables the line for a second instance, which is a comment in the file. */
export const nginxWithSecond = (port: number): Product => ({
  ...nginx,
  replaced: (place) => ({ ...nginx.replaced(place), '# server 10.20.0.2:8080 ': `server 127.0.0.1:${port} ` }),
});

export const caddy: Product = {
  name: 'Caddy',
  file: 'Caddyfile',
  program: 'caddy',
  replaced: ({ port, servicePort, certificate, key, log }) => ({
    'auto_https disable_redirects': 'admin off\n\tauto_https disable_redirects',
    '\n{$WORKSPACE_SITE:workspaces.example.com} {': `\nhttps://localhost:${port} {\n\tbind 127.0.0.1\n\ttls ${certificate} ${key}`,
    ':127.0.0.1:8080}': `:127.0.0.1:${servicePort}}`,
    '/var/log/caddy/workspace-service.log': log,
  }),
  files: (configuration) => ({ Caddyfile: configuration }),
  args: ({ folder }) => ['run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')],
  environment: ({ folder }) => ({ HOME: folder }),
};

const compose = parse(readFileSync(new URL('../../deploy/compose.yaml', import.meta.url), 'utf8'), { merge: true });

/** Sets the variables of compose.yaml for two instances. */
export const caddyWithSecond = (port: number): Product => ({
  ...caddy,
  environment: (place) => ({
    ...caddy.environment?.(place),
    WORKSPACE_INSTANCES: `127.0.0.1:${place.servicePort} 127.0.0.1:${port}`,
    WORKSPACE_HEALTH: compose.services.caddy.environment.WORKSPACE_HEALTH,
  }),
});

export const products: readonly Product[] = [nginx, caddy];

/** The program of a product, if installed: servers are often outside of a user's PATH. */
export function programOf({ program }: Product): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, program)).find((file) => existsSync(file));
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

function put(configuration: string, replaced: Readonly<Record<string, string>>): string {
  return Object.entries(replaced).reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`The configuration has no ${JSON.stringify(from)}.`);
    return text.replaceAll(from, to);
  }, configuration);
}

const nobody = 65_534;

/** Started by root, a proxy runs as nobody, as servers do. */
const unprivileged = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};

const timeoutMs = 20_000;

export type ReverseProxy = Awaited<ReturnType<typeof startReverseProxy>>;

/** Starts the real program with its configuration, in which only addresses and paths are replaced. */
export async function startReverseProxy(
  product: Product,
  { servicePort, cert, key }: { readonly servicePort: number; readonly cert: string; readonly key: string },
) {
  const program = programOf(product);
  if (program === undefined) throw new Error(`There is no ${product.name} on this machine.`);
  const folder = await mkdtemp(join(tmpdir(), 'workspace-proxy-'));
  const place: Place = {
    folder,
    certificate: join(folder, 'certificate.pem'),
    key: join(folder, 'key.pem'),
    log: join(folder, 'access.log'),
    port: await freePort(),
    servicePort,
  };
  const configuration = put(await readFile(join(shipped, product.file), 'utf8'), product.replaced(place));
  const files = { 'certificate.pem': cert, 'key.pem': key, ...product.files(configuration, place) };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { mode: 0o600 });
  if (unprivileged.uid !== undefined) {
    for (const name of ['', ...(await readdir(folder))]) await chown(join(folder, name), nobody, nobody);
  }

  const proxy = startProcess([program, ...product.args(place)], {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...product.environment?.(place) },
    ...unprivileged,
    // Killed, nginx would leave its workers, which keep the port.
    endSignal: 'SIGTERM',
  });

  async function stop(): Promise<void> {
    proxy.signal('SIGTERM');
    if (!proxy.hasEnded()) await proxy.ended();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }

  const errors = () => readFile(join(folder, 'error.log'), 'utf8').catch(() => '');

  // No proxy reports when it is listening.
  for (const until = performance.now() + timeoutMs; !(await accepts(place.port)); ) {
    if (proxy.hasEnded() || performance.now() > until) {
      const logged = await errors();
      await stop();
      throw new Error(`${product.name} does not start: ${proxy.stdout.text()}${proxy.stderr.text()}${logged}`);
    }
    await sleep(20);
  }
  return {
    origin: `https://localhost:${place.port}`,
    port: place.port,
    /** The content of its access log. */
    log: () => readFile(place.log, 'utf8'),
    /** The content of its error log, if it has one. */
    errors,
    stop,
  };
}
