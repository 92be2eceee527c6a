import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  apache as apacheProgram,
  caddy as caddyProgram,
  loadModules,
  nginx as nginxProgram,
  type Place,
  type Product,
} from '../../support/reverse-proxy.ts';

/** A reverse proxy with the configuration that its own documentation recommends for HTTP services, on plain HTTP. */
export interface Gateway {
  readonly name: string;
  /** Responds 502, 503 or 504 if the service is down. */
  readonly plain: Product;
  /** Responds 404 instead. */
  readonly hiding: Product;
}

const folder = import.meta.dirname;

/** The addresses in the configurations. */
const addresses = ({ port, servicePort }: Place) => ({
  '127.0.0.1:8000': `127.0.0.1:${port}`,
  '127.0.0.1:8080': `127.0.0.1:${servicePort}`,
});

type Program = Pick<Product, 'name' | 'programs' | 'files' | 'args' | 'environment'>;

const configured = (program: Program, file: string, replaced: Product['replaced'] = addresses): Product => ({
  ...program,
  folder,
  file,
  replaced,
});

const apacheWithBalancer: Program = {
  ...apacheProgram,
  files: (configuration, place) =>
    apacheProgram.files(
      loadModules('proxy_balancer', 'lbmethod_byrequests', 'slotmem_shm', 'alias') + configuration,
      place,
    ),
};

const haproxyProgram: Program = {
  name: 'HAProxy',
  programs: ['haproxy'],
  files: (configuration) => ({
    'haproxy.cfg': configuration,
    'missing.http': readFileSync(join(folder, 'haproxy-missing.http'), 'utf8').replaceAll('\n', '\r\n'),
  }),
  args: (place) => ['-db', '-f', join(place.folder, 'haproxy.cfg')],
};

const varnishProgram: Program = {
  name: 'Varnish',
  programs: ['varnishd'],
  files: (configuration) => ({ 'default.vcl': configuration }),
  args: ({ folder: place, port }) => [
    ...['-F', '-j', 'none', '-T', 'none', '-n', join(place, 'varnish')],
    ...['-a', `127.0.0.1:${port}`, '-f', join(place, 'default.vcl'), '-s', 'malloc,16m', '-p', 'thread_pool_min=10'],
  ],
};

export const nginx: Gateway = {
  name: 'nginx',
  plain: configured(nginxProgram, 'nginx.conf'),
  hiding: configured(nginxProgram, 'nginx-404.conf'),
};

export const haproxy: Gateway = {
  name: 'HAProxy',
  plain: configured(haproxyProgram, 'haproxy.cfg'),
  hiding: configured(haproxyProgram, 'haproxy-404.cfg', (place) => ({
    ...addresses(place),
    '/etc/haproxy/errors/missing.http': join(place.folder, 'missing.http'),
  })),
};

export const apache: Gateway = {
  name: 'Apache',
  plain: configured(apacheProgram, 'apache.conf'),
  hiding: configured(apacheWithBalancer, 'apache-404.conf'),
};

/** With its default for encoded slashes in a path: it responds with its own 404. */
export const apacheWithoutEncodedSlashes: Product = configured(apacheProgram, 'apache-encoded-slashes.conf');

export const caddy: Gateway = {
  name: 'Caddy',
  plain: configured(caddyProgram, 'Caddyfile'),
  hiding: configured(caddyProgram, 'Caddyfile-404'),
};

const varnishPort = ({ servicePort }: Place) => ({ '"8080"': `"${servicePort}"` });

export const varnish: Gateway = {
  name: 'Varnish',
  plain: configured(varnishProgram, 'varnish.vcl', varnishPort),
  hiding: configured(varnishProgram, 'varnish-404.vcl', varnishPort),
};
