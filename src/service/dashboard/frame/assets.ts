import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import { Refusal } from '../../contract/response.ts';
import type { App } from '../../http/context.ts';
import { assetFiles } from './asset-files.ts';

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const assets: ReadonlyMap<string, Buffer<ArrayBuffer>> = new Map(
  Object.entries(assetFiles).map(([name, text]) => [name, Buffer.from(text)]),
);

/** A hash of all assets, so that browsers can cache them forever, and assets can import each other. */
const version = [...assets]
  .reduce((hash, [name, body]) => hash.update(`${name} ${body.length} `).update(body), createHash('sha256'))
  .digest('hex')
  .slice(0, 16);

export const assetPath = (name: string): string => `/assets/${version}/${name}`;

export function addAssets(app: App): void {
  app.get('/assets/:version/:name', (c) => {
    const name = c.req.param('name');
    const body = assets.get(name);
    // During an upgrade, browsers may request another version. Do not cache the response.
    const cacheControl = c.req.param('version') === version ? 'public, max-age=31536000, immutable' : 'no-store';
    if (body === undefined) throw new Refusal('not-found', 'There is no such file.');
    return new Response(body, {
      headers: {
        'content-type': types[extname(name)] ?? '',
        'cache-control': cacheControl,
        'cross-origin-resource-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
      },
    });
  });
}
