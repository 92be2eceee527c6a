import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { Refusal } from '../../contract/problem.ts';
import type { App } from '../../http/context.ts';

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

interface Asset {
  readonly type: string;
  readonly body: Buffer<ArrayBuffer>;
}

const folder = new URL('../assets/', import.meta.url);

const assets: ReadonlyMap<string, Asset> = new Map(
  readdirSync(folder)
    .sort()
    .flatMap((name) => {
      const type = types[extname(name)];
      return type === undefined ? [] : [[name, { type, body: readFileSync(new URL(name, folder)) }] as const];
    }),
);

/** Changes when any asset changes, so that browsers may cache assets forever, and assets may import each other. */
const version = [...assets]
  .reduce((hash, [name, { body }]) => hash.update(`${name} ${body.length} `).update(body), createHash('sha256'))
  .digest('hex')
  .slice(0, 16);

export const assetPath = (name: string): string => `/assets/${version}/${name}`;

export function addAssets(app: App): void {
  app.get('/assets/:version/:name', (c) => {
    const asset = assets.get(c.req.param('name'));
    // During an upgrade, browsers may request another version. Do not cache the response.
    const cacheControl = c.req.param('version') === version ? 'public, max-age=31536000, immutable' : 'no-store';
    if (asset === undefined) throw new Refusal('not-found', 'There is no such file.');
    return new Response(asset.body, {
      headers: {
        'content-type': asset.type,
        'cache-control': cacheControl,
        'cross-origin-resource-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
      },
    });
  });
}
